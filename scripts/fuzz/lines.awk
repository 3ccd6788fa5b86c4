# SPDX-License-Identifier: GPL-2.0
# Prints how many lines of the device's files and the table's were reached.
#
# First file: "NAME ADDRESS" of sections, as loaded, and addresses that were reached. Then objdump
# -d -r -l of each section, after "section NAME". Each block of code begins with a call that tells
# that it was reached; all lines up to the next are its. What comes before the first one in a
# function belongs to that.

function hex(text,    i, value)
{
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return value
}

# The sections are close to each other: their last 12 digits differ.
function low(text)
{
	sub(/^0x/, "", text)
	return hex(substr(text, length(text) - 11))
}

# Some awks write large integers as indices in six digits.
function key(number)
{
	return sprintf("%.0f", number)
}

function flush_block(    i)
{
	for (i = 0; i < held; i++) {
		if (!(hold[i] in lines))
			lines[hold[i]] = 0
		if (hit)
			lines[hold[i]] = 1
	}
	held = 0
}

FNR == NR {
	if (NF == 2)
		base[$1] = low($2)
	else
		reached[key(low($1))] = 1
	next
}

/^section / {
	flush_block()
	at_base = base[$2]
	known = $2 in base
	next
}

# "0000000000000010 <co_file_read>:": a function
/^[0-9a-f]+ <.*>:$/ {
	flush_block()
	hit = 0
	first = 1
	line = ""
	next
}

# "/some/where/module/device/event.c:123 (discriminator 2)"
/^\/.*:[0-9]+( \(discriminator [0-9]+\))?$/ {
	line = ""
	if (match($1, /\/module\/(device\/[a-z_]+|handles\/(table|hash|bucket))\.[ch]:[0-9]+$/))
		line = substr($1, RSTART + 8)
	next
}

/__sanitizer_cov_trace_pc/ && /R_X86_64/ {
	called = 1
	next
}

# "  1c:  call ...": an instruction
/^ *[0-9a-f]+:\t/ && !/R_X86_64/ {
	address = $1
	sub(":", "", address)
	if (called) {
		# The block begins, and its call is the instruction before this.
		if (first)
			first = 0
		else
			flush_block()
		hit = known && key(at_base + hex(address)) in reached
		called = 0
	}
	if (line != "")
		hold[held++] = line
}

END {
	flush_block()
	for (line in lines) {
		split(line, part, ":")
		all[part[1]]++
		hits[part[1]] += lines[line]
		if (!lines[line])
			print line > missed
		total++
		total_hits += lines[line]
	}
	for (file in all)
		printf "%-18s %4d of %4d lines, %5.1f %%\n", file, hits[file], all[file],
			100 * hits[file] / all[file] | "sort"
	close("sort")
	printf "%-18s %4d of %4d lines, %5.1f %%\n", "all", total_hits, total,
		100 * total_hits / total
}
