# SPDX-License-Identifier: GPL-2.0
# layers.awk - checks that no file knows of a layer that it may not use; see layers.sh
#
#   awk -f layers.awk layers.csv FILE... pass=2 FILE...
#
# The first pass collects what each layer declares, the second looks for it in the other layers.

function fail(text) {
	print text
	failed = 1
}

# The layer of a file: its folder; of a header for others what the table gives it.
function find_layer(file,	i, found, n) {
	if (file in named)
		return named[file]
	found = index(file, "/") ? substr(file, 1, index(file, "/") - 1) : "."
	if (found != "include") {
		if (!(found in known))
			fail("module/" file ": the table has no layer of this name")
		return found
	}
	found = ""
	for (i = 1; i <= patterns; i++)
		if (file ~ pattern[i]) {
			found = layer_of_pattern[i]
			n++
			matched[i] = 1
		}
	if (n != 1)
		fail("module/" file " is in " n + 0 " layers of the table")
	return found
}

function declare(name) {
	if (file in borrows && tolower(name) !~ /^callout_/) {
		borrows[file] = "used"
		return
	}
	if (name != "" && index(declared[name] " ", " " layer " ") == 0)
		declared[name] = declared[name] " " layer
}

# Whether one of these layers may be used, in this file.
function usable(layers,	n, i, one) {
	n = split(layers, one, " ")
	for (i = 1; i <= n; i++)
		if (one[i] == layer)
			return 1
	for (i = 1; i <= n; i++)
		if ((layer, one[i]) in may_use) {
			needed[layer, one[i]] = 1
			return 1
		}
	return 0
}

# check NAME LAYERS: the file has this name, which these layers declare.
function check(name, layers) {
	if (usable(layers) || (file, name) in reported)
		return
	reported[file, name] = 1
	if ((file, name) in exceptions)
		return
	fail("module/" file ":" FNR ": " layer " may not use" layers ": " name)
}

# The layers of the files that a name such as "core.h" or "linux/callout.h" stands for.
function layers_of(name,	f, layers) {
	for (f in layer_of)
		if (f == name || substr(f, length(f) - length(name)) == "/" name)
			layers = layers " " layer_of[f]
	return layers
}

# The table. Layers stand from top to bottom; a row without one is an exception of the one above.
FILENAME ~ /\.csv$/ {
	n = split($0, field, ",")
	if (FNR == 1)
		next
	if (field[1] == "") {
		if (field[3] == "*")
			borrows[field[2]] = "unused"
		else
			exceptions[field[2], field[3]] = 1
		if (n < 4 || field[4] == "")
			fail(FILENAME ":" FNR ": the exception has no reason")
		next
	}
	n = split(field[2], part, " ")
	for (i = 1; i <= n; i++)
		if (part[i] ~ /\*/) {
			gsub(/\./, "\\.", part[i])
			gsub(/\*/, "[^/]*", part[i])
			pattern[++patterns] = "^" part[i] "$"
			layer_of_pattern[patterns] = field[1]
		} else {
			if (part[i] in named)
				fail("module/" part[i] " is in the table twice")
			named[part[i]] = field[1]
		}
	known[field[1]] = 1
	n = split(field[3], part, " ")
	for (i = 1; i <= n; i++) {
		may_use[field[1], part[i]] = 1
		used[part[i]] = field[1]
	}
	next
}

FNR == 1 {
	file = substr(FILENAME, index(FILENAME, "module/") + 7)
	if (pass != 2)
		holds[layer_of[file] = find_layer(file)] = 1
	layer = layer_of[file]
	comment = enumerating = 0
}

# What a file declares. The kernel's style is relied on: declarations begin at the first column.
pass != 2 {
	line = $0
	if (comment && !sub(/^.*\*\//, "", line))
		next
	comment = 0
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
	comment = sub(/\/\*.*/, "", line)
	if (match(line, /^#[ \t]*define[ \t]+[a-zA-Z_0-9]+/)) {
		if (file ~ /\.h$/) {
			name = substr(line, 1, RLENGTH)
			sub(/.*[ \t]/, "", name)
			declare(name)
		}
		next
	}
	if (line ~ /^(TRACE_EVENT|DECLARE_EVENT_CLASS|DEFINE_EVENT)\(/) {
		n = split(line, part, /[(), ]+/)
		for (i = 2; i <= n; i++) {
			declare(part[i])
			declare("trace_" part[i])
		}
		next
	}
	if (match(line, /^(struct|union|enum) [a-z_0-9]+ \{/)) {
		split(line, part, " ")
		if (file ~ /\.h$/)
			declare(part[2])
	}
	if (line ~ /^enum .*\{/)
		enumerating = file ~ /\.h$/
	else if (enumerating && match(line, /^\t[A-Z_0-9]+/))
		declare(substr(line, 2, RLENGTH - 1))
	if (line ~ /^}/)
		enumerating = 0
	# Functions, also of a .c file, of which comments speak.
	if (line ~ /^[a-z_]/ && match(line, /[a-z][a-z_0-9]*\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		if (name ~ /_/ && name !~ /^module_/ && substr(line, RSTART - 1, 1) !~ /[_A-Z]/)
			declare(name)
	} else if (file ~ /\.h$/ && line ~ /^extern .*;/) {
		sub(/(\[.*)?;.*/, "", line)
		sub(/.*[ *]/, "", line)
		declare(line)
	}
	next
}

# In quotes: a file of the same folder, or from module/ on. Between < and >: a header of
# module/include/, or of the kernel.
/^#[ \t]*include/ {
	match($0, /["<].*[">]/)
	name = substr($0, RSTART + 1, RLENGTH - 2)
	path = "include/" name
	if ($0 ~ /"/) {
		path = file
		sub(/[^\/]*$/, "", path)
		path = path name
		while (sub(/[^\/.]+\/\.\.\//, "", path))
			;
		if (!(path in layer_of))
			path = name
		if (!(path in layer_of))
			fail("module/" file ":" FNR ": no file of module/ is " name)
	}
	if (path in layer_of)
		check(path, " " layer_of[path])
	next
}

{
	line = $0
	while (match(line, /[a-z_0-9\/]+\.[ch]/)) {
		name = substr(line, RSTART, RLENGTH)
		if (substr(line, RSTART + RLENGTH, 1) !~ /[a-zA-Z_0-9(]/) {
			layers = layers_of(name)
			if (layers != "")
				check(name, layers)
		}
		line = substr(line, RSTART + RLENGTH)
	}
	# A name that is a word counts as "struct NAME" and "NAME()" only.
	line = $0
	gsub(/[^a-zA-Z_0-9(]+/, " ", line)
	gsub(/\(/, "( ", line)
	n = split(line, part, " ")
	for (i = 1; i <= n; i++) {
		name = part[i]
		called = sub(/\($/, "", name)
		if (name in declared && (called || name ~ /[^a-z]/ || part[i - 1] == "struct"))
			check(name, declared[name])
	}
}

END {
	for (name in used)
		if (!(name in known))
			fail("layer " used[name] " may use " name ", which does not exist")
	for (name in may_use)
		if (!(name in needed)) {
			split(name, part, SUBSEP)
			fail("layer " part[1] " needs nothing of " part[2])
		}
	for (name in known)
		if (!(name in holds))
			fail("layer " name " has no file")
	for (name in named)
		if (!(name in layer_of))
			fail("module/" name " is in the table and does not exist")
	for (i = 1; i <= patterns; i++)
		if (!(i in matched))
			fail("no file matches " pattern[i])
	for (name in borrows)
		if (borrows[name] == "unused")
			fail("module/" name " declares no name but the facility's")
	for (name in exceptions)
		if (!(name in reported)) {
			split(name, part, SUBSEP)
			fail("module/" part[1] " needs no exception for " part[2])
		}
	exit failed
}
