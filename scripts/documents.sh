#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks the documents against the sources: names that are in one and not in the other, pages that groff warns about, a
# program that does not compile.
#
# Prints what is wrong, a line each; fails if there was any.

set -euo pipefail

cd "$(dirname "$0")/.."
man=Documentation/man
abi=Documentation/ABI/testing
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

wrong() { echo "$*"; bad=1; }

# same WHAT WHERE FILE FILE: two lists of words, in any order
same() {
	local word

	for word in $(LC_ALL=C comm -23 <(sort -u "$3") <(sort -u "$4")); do
		wrong "$2 does not have the $1 $word"
	done
	for word in $(LC_ALL=C comm -13 <(sort -u "$3") <(sort -u "$4")); do
		wrong "$2 has the $1 $word, which does not exist"
	done
}

# all WHAT FILE WORD...: the file has all these words
all() {
	local what=$1 file=$2 word

	shift 2
	[ $# -ne 0 ] || wrong "no $what was found to look for in $file"
	for word; do
		grep -qw -e "$word" "$file" || wrong "$file does not have the $what $word"
	done
}

# words PATTERN FILE...: what the group in the pattern matches
words() {
	local pattern=$1

	shift
	sed -nE "s~.*$pattern.*~\\1~p" "$@"
}

# Parameters of the module.
words '^module_param[a-z_]*\(([a-z_]+),' module/main.c > "$work/parameters"
words '^What:.*/parameters/([a-z_]+)' $abi/sysfs-module-callout > "$work/documented"
same parameter $abi/sysfs-module-callout "$work/parameters" "$work/documented"
sed -n '/^\.SH MODULE PARAMETERS/,/^\.SH NOTES/p' $man/callout.4 | words '^\.BI ([a-z_]+)= ' > "$work/documented"
same parameter $man/callout.4 "$work/parameters" "$work/documented"

# Their choices.
mapfile -t names < <(words '^	\.name		= "([a-z_]+)"' module/schemes/*.c)
for file in $man/callout.4 $abi/sysfs-module-callout Documentation/schemes.rst; do
	all scheme "$file" "${names[@]}"
done
mapfile -t names < <(words '^	\.name		= "([a-z_]+)"' module/tick.c module/chip.c)
for file in $man/callout.4 $abi/sysfs-module-callout Documentation/device.rst; do
	all "tick source" "$file" "${names[@]}"
done

# Columns in debugfs.
mapfile -t names < <(words 'seq_puts\(m, "(([a-z_]+ )+[a-z_]+)\\n"\);' module/debugfs.c module/files.c | tr ' ' '\n')
all column $abi/debugfs-callout "${names[@]}"

# The interface for programs.
header=module/include/uapi/linux/callout.h
mapfile -t names < <(words '^#define (CALLOUT_IOC_[A-Z]+)\s+_IO' $header)
for file in $man/callout.4 $abi/dev-callout Documentation/device.rst; do
	all request "$file" "${names[@]}"
done
mapfile -t names < <(words '^ \* (E[A-Z0-9]+)	' $header)
for file in $man/callout.4 Documentation/device.rst; do
	all error "$file" "${names[@]}"
done
mapfile -t names < <(sed -nE 's/^	(__[us](32|64)|char) ([a-z_]+)[;[].*/\3/p' $header)
all member $man/callout.4 "${names[@]}"
version=$(words '^#define CALLOUT_ABI_VERSION	([0-9]+)' $header)
grep -q "abi_version.* $version: " Documentation/device.rst || wrong "Documentation/device.rst has another ABI version"

# The library, and the commands of calloutctl.
words '^	(callout_[a-z_]+);' tools/lib/libcallout.map > "$work/functions"
words '^static inline [^(]* \*?(callout_[a-z_]+)\(' tools/lib/libcallout.h >> "$work/functions"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' $man/libcallout.3 |
	words '^\.BI "[^(]*[ *](callout_[a-z_]+)\(' > "$work/documented"
same function $man/libcallout.3 "$work/functions" "$work/documented"
words '^	\{ "([a-z0-9]+)",' tools/calloutctl.c > "$work/commands"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' $man/calloutctl.1 |
	words '^\.B calloutctl ([a-z0-9]+)' > "$work/documented"
same command $man/calloutctl.1 "$work/commands" "$work/documented"

# Pages, and what stands in them.
for page in "$man"/*; do
	groff -mandoc -t -ww -Tutf8 -z "$page" 2> "$work/said"
	[ ! -s "$work/said" ] || { cat "$work/said"; bad=1; }
done
render() {
	# What only the kernel's Sphinx knows is left out. Other files are found from the page's directory.
	cd Documentation
	grep -v '^\.\. kernel-doc::' "$1" | rst2html --report=2 - "$work/page.html"
}
for page in Documentation/*.rst; do
	if ! (render "${page##*/}") > "$work/said" 2>&1 || [ -s "$work/said" ]; then
		wrong "$page does not render:"
		cat "$work/said"
	fi
done
dates=$(sed -nE 's/^\.(TH|Dd) .*\<(20[0-9]{2})\>.*/\2/p' "$man"/* | sort -u)
[ "$(wc -w <<< "$dates")" -eq 1 ] || wrong "the manual pages are of several years:" "${dates//$'\n'/ }"
sed -n '/^An example/,/^Operations/s/^	//p' Documentation/device.rst > "$work/example.c"
cc -Wall -Wextra -Werror -Imodule/include/uapi -o "$work/example" "$work/example.c" ||
	wrong "the example of Documentation/device.rst does not compile"

# Links from one document to another.
# shellcheck disable=SC2016 # it is RST that has the backquotes
while IFS=: read -r file link; do
	[ -e "${file%/*}/$link" ] || wrong "$file has a link to $link, which does not exist"
done < <(grep -oE '<[a-zA-Z0-9_/.-]+\.(rst|[1-9])>`_|<ABI/[a-z/-]+>`_' Documentation/*.rst | sed -E 's/<(.*)>`_/\1/')

exit $bad
