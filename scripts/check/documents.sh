#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks the documents against the sources: names that one has and the other lacks, pages that do not render without a
# warning, a program that does not compile, files and tests that do not exist.
#
# Prints a line for each fault, and fails if there was one.

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../environment.sh"
cd "$(dirname "$0")/../.."
man=Documentation/man
abi=Documentation/ABI/testing
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
# What RST has around names.
q=\`\`

wrong() { echo "$*"; bad=1; }

# only FILE FILE: words that the first list has, and not the second
only() { comm -23 <(sort -u "$1") <(sort -u "$2"); }

# same WHAT WHERE FILE FILE: two lists of words, in any order
same() {
	local word

	for word in $(only "$3" "$4"); do
		wrong "$2 does not have the $1 $word"
	done
	exist "$1" "$2" "$4" "$3"
}

# exist WHAT WHERE FILE FILE: each word of the first list is in the second
exist() {
	local word

	for word in $(only "$3" "$4"); do
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

# words PATTERN FILE...: the matches of the group in the pattern
words() {
	local pattern=$1

	shift
	sed -nE "s~.*$pattern.*~\\1~p" "$@"
}

# Parameters of the module.
words '^module_param[a-z_]*\(([a-z_]+),' module/main.c module/lab/lab.c > "$work/parameters"
words '^What:.*/parameters/([a-z_]+)' $abi/sysfs-module-callout > "$work/documented"
same parameter $abi/sysfs-module-callout "$work/parameters" "$work/documented"
sed -n '/^\.SH MODULE PARAMETERS/,/^\.SH NOTES/p' $man/callout.4 | words '^\.BI ([a-z_]+)= ' > "$work/documented"
same parameter $man/callout.4 "$work/parameters" "$work/documented"

# Their choices.
mapfile -t names < <(words '^	\.name		= "([a-z_]+)"' module/{wheel,lab}/*.c)
for file in $man/callout.4 $abi/sysfs-module-callout Documentation/schemes.rst; do
	all scheme "$file" "${names[@]}"
done
mapfile -t names < <(words '^	+\.name		= "([a-z_]+)"' module/{base/jiffies,base/hrtimer,lab/chip}.c)
for file in $man/callout.4 $abi/sysfs-module-callout Documentation/api.rst; do
	all "tick source" "$file" "${names[@]}"
done

# Files, columns and counters in debugfs.
columns='seq_puts\(m, "(([a-z_]+ )+[a-z_]+)\\n"\);'
mapfile -t names < <(words "$columns" module/debugfs.c module/device/fops.c | tr ' ' '\n')
all column $abi/debugfs-callout "${names[@]}"
words 'debugfs_create_file\("([a-z]+)"' module/debugfs.c > "$work/files"
words '^What:.*/debug/callout/([a-z]+)' $abi/debugfs-callout > "$work/documented"
same "debugfs file" $abi/debugfs-callout "$work/files" "$work/documented"
mapfile -t names < "$work/files"
for file in $man/callout.4 Documentation/tracing.rst; do
	all "debugfs file" "$file" "${names[@]/#/debug/callout/}"
done
mapfile -t names < <(words "$columns" module/debugfs.c | sed -n 's/^cpu pending //p' | tr ' ' '\n')
all counter Documentation/tracing.rst "${names[@]/#/$q}"

# The interface for programs.
header=module/include/uapi/linux/callout.h
mapfile -t names < <(words '^#define (CALLOUT_IOC_[A-Z_]+)\s+(_IO|\\)' $header)
for file in $man/callout.4 $abi/dev-callout Documentation/device.rst; do
	all request "$file" "${names[@]}"
done
mapfile -t names < <(words '^ \* (E[A-Z0-9]+)	' $header)
for file in $man/callout.4 Documentation/device.rst; do
	all error "$file" "${names[@]}"
done
words '^#define (CALLOUT_(OPF|EVENTF|BATCHF|ENTRYF|LISTF|FEATURE)_[A-Z_]+)' $header > "$work/names"
words '^#define (CALLOUT_[A-Z]+)\s+[0-9]+	/\*' $header >> "$work/names"
words '^	(CALLOUT_[A-Z_]+)\s*= [0-9]+,' $header >> "$work/names"
mapfile -t names < "$work/names"
for file in $man/callout.4 Documentation/device.rst; do
	all constant "$file" "${names[@]}"
done
grep -oE 'CALLOUT_[A-Z0-9_]+' $header > "$work/names"
for file in $man/{callout.4,callout_uring.3} $abi/dev-callout Documentation/{device,security}.rst; do
	{ grep -oE 'CALLOUT_(BATCH|BATCHF|ENTRY|ENTRYF|EVENT|EVENTF|FEATURE|IOC|LISTF|OP|OPF|SIZE|STATE)_[A-Z0-9_]*[A-Z0-9]' "$file" || :; } > "$work/named"
	exist constant "$file" "$work/named" "$work/names"
done
member='^	{1,2}(__[us]32|__aligned_u64) ([a-z_]+)[;[].*'
mapfile -t names < <(sed -nE "s/$member/\\2/p" $header)
all member $man/callout.4 "${names[@]}"
sed -nE "/^struct callout_info /,/^}/s/$member/\\2/p" $header > "$work/members"
sed -n '/^INFO$/,/^The counters/p' Documentation/device.rst | words "^$q([a-z_]+)$q " > "$work/documented"
same member Documentation/device.rst "$work/members" "$work/documented"

# The library, and the commands of calloutctl.
words '^	(callout_[a-z_]+);' tools/lib/libcallout.map > "$work/functions"
words '^static inline [^(]* \*?(callout_[a-z_]+)\(' tools/lib/libcallout.h tools/loops/*.h >> "$work/functions"
awk '
	/^(static inline )?[a-z_][a-z0-9_ ]* \*?callout_[a-z_]+\(/ { sub(/^static inline /, ""); on = 1 }
	on { said = said $0 }
	on && /\)/ { gsub(/[ \t;]/, "", said); print said; said = ""; on = 0 }' \
	tools/lib/libcallout.h tools/loops/*.h > "$work/prototypes"
sed -nE 's/.*(callout_[a-z_]+)\(.*/\1/p' "$work/prototypes" > "$work/declared"
same function "tools/lib/libcallout.h or tools/loops" "$work/functions" "$work/declared"
awk '
	/^\.SH/ { on = /SYNOPSIS/ }
	on && sub(/^\.BI /, "") { said = said $0 }
	said ~ /\)/ { gsub(/[ ";]/, "", said); print said; said = "" }' $man/*.3 > "$work/documented"
same prototype "$man/*.3" "$work/prototypes" "$work/documented"

# The kernel API: what is exported has a page, and each page that one refers to exists. The functions
# behind the names of the BSDs and of linux/timer.h are in pages about these.
scripts/package/man.sh "$work/pages" "$(qemu/kernel.sh -s)"
KERNEL_DOC=$(qemu/kernel.sh -s)/scripts/kernel-doc
export KERNEL_DOC
other=$work/kernel-doc
printf '#!/bin/sh\necho "no module" >&2\nexit 2\n' > "$other"
chmod +x "$other"
if scripts/package/man9.sh "$work/none" "$other" > "$work/said" 2>&1 || ! grep -qx "no module" "$work/said"; then
	wrong "scripts/package/man9.sh does not say why kernel-doc failed"
fi
echo > "$other"
! scripts/package/man9.sh "$work/none" "$other" 2> "$work/said" || wrong "scripts/package/man9.sh does not miss any page"
# As Linux 7.2's: of several files it has the first one's pages only, types have titles, and pages refer to them.
cat > "$other" <<-'E2'
	#!/bin/bash
	options=()
	while [[ $1 = -* ]]; do options+=("$1"); shift; done
	"$KERNEL_DOC" "${options[@]}" "$1" |
		sed 's/^\.TH "Kernel API" 9 "\([^"]*\)".*/.TH "\1" 9/; s/^\.TH/.SH "SEE ALSO"\nstruct callout\n&/'
E2
scripts/package/man9.sh "$work/older" "$KERNEL_DOC"
scripts/package/man9.sh "$work/newer" "$other"
diff -rq "$work/older" "$work/newer" > "$work/said" || { wrong "a newer kernel-doc makes other pages:"; cat "$work/said"; }
find "$work/pages/man9" -name '*.9' -printf '%f\n' | sed 's/\.9$//' > "$work/pages9"
sed -nE 's/^EXPORT_SYMBOL(_GPL)?\(([a-z_]+)\);.*/\2/p' module/*.c module/*/*.c |
	grep -vE '^callout_((netbsd|openbsd|dragonfly|timer)_|(init_class|tick_ns|work_(run|set_func|cancel|refuse|is_own|active))$)' > "$work/exports"
for word in $(only "$work/exports" "$work/pages9"); do
	wrong "no manual page of section 9 is about $word"
done
# kernel-doc finds a section only at the begin of a line.
while read -r line; do
	wrong "a section does not begin its line: $line"
done < <(grep -rnE --include='*.[ch]' '^ \* .*[^ ] (Context|Return):( |$)' module selftests)
for page in netbsd/callout_netbsd dragonfly/callout_dragonfly openbsd/timeout_set; do
	words '^#define ((callout|timeout)_[a-z_]+)' module/include/bsd/${page%/*}/sys/*.h \
		> "$work/names"
	words '[ *]((callout|timeout)_[a-z_]+)\(' "$man/${page#*/}.9" > "$work/documented"
	same name "$man/${page#*/}.9" "$work/names" "$work/documented"
done
cat "$work"/pages/man[1-9]/* | grep -oE '[A-Za-z_]+"? \(9\)' | sed 's/"\{0,1\} (9)//' > "$work/referred"
exist reference "a manual page" "$work/referred" "$work/pages9"
lexgrog "$work"/pages/man[1-9]/* > "$work/said" 2>&1 || { grep ' parse failed' "$work/said"; bad=1; }
(cd "$work/pages" && groff -mandoc -t -ww -Tutf8 -z man9/*) 2> "$work/said"
[ ! -s "$work/said" ] || { cat "$work/said"; bad=1; }
words '^	\{ "([a-z0-9]+)",' tools/calloutctl.c > "$work/commands"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' $man/calloutctl.1 |
	words '^\.B calloutctl ([a-z0-9]+)' > "$work/documented"
same command $man/calloutctl.1 "$work/commands" "$work/documented"
# static.sh has the options of the completion.
awk '
	/^"  [a-z]/ { command = $2; sub(/\\n.*/, "", command) }
	# The page has the short name of an option that has two.
	/^"            -/ { sub(/-[a-z], --[a-z]+/, substr($2, 1, 2)) }
	/^"            -/ { while (match($0, / --?[a-z]+/)) {
		print command substr($0, RSTART + 1, RLENGTH - 1)
		$0 = substr($0, RSTART + RLENGTH)
	} }' tools/calloutctl.c > "$work/options"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/{s/\\-/-/g; p}' $man/calloutctl.1 | awk '
	/^\.B calloutctl/ { command = $3 }
	{ while (match($0, / --?[a-z]+/)) {
		print command substr($0, RSTART + 1, RLENGTH - 1)
		$0 = substr($0, RSTART + RLENGTH)
	} }' > "$work/documented"
same option $man/calloutctl.1 "$work/options" "$work/documented"
words '^	\{ CLOCK_[A-Z_]+,	"([a-z-]+)" \},' tools/parse.c > "$work/clocks"
sed -n '/--clock CLOCK  /,/--period PERIOD/{/-p/d; s/.*CLOCK//; s/\\n//p}' tools/calloutctl.c |
	grep -oE '[a-z]+(-alarm)?' | grep -vx or > "$work/documented"
same clock tools/calloutctl.c "$work/clocks" "$work/documented"
sed -n '/^\.BR .-c ", " .*clock/,/:$/{/-c/d; p}' $man/calloutctl.1 |
	words '^\.BR? ([a-z-]+)' > "$work/documented"
same clock $man/calloutctl.1 "$work/clocks" "$work/documented"
sed -n '/--clock)/{n; s/.*words="\(.*\)"/\1/p}' tools/calloutctl.bash |
	tr ' ' '\n' > "$work/documented"
same clock tools/calloutctl.bash "$work/clocks" "$work/documented"

# Targets of make, and tests.
{ echo help; words '^([a-z][a-z0-9 ._-]*):.*## ' Makefile | tr ' ' '\n'; } > "$work/targets"
for file in README.md CONTRIBUTING.md HACKING.md Documentation/*.rst; do
	{ grep -oE '(^    |`)make [a-z][a-z0-9._-]*' "$file" || :; } | sed 's/.* //' > "$work/named"
	exist target "$file" "$work/named" "$work/targets"
done
words '\.name\s+= "(callout_[a-z]+)(_[a-z]+)?",' kunit/*/*.c > "$work/suites"
sed -n '/^KUnit$/,/^Schemes$/p' Documentation/tests.rst | words "^$q(callout_[a-z]+)(_\*)?$q" > "$work/documented"
same suite Documentation/tests.rst "$work/suites" "$work/documented"
sed -nE 's/.*KUNIT_CASE(_PARAM|_SLOW)?\(([a-z0-9_]+)[,)].*/\2/p' kunit/*/*.c > "$work/cases"
suites=$(sed 's/^callout_//' "$work/suites" | sort -u | paste -sd '|')
sed -n '/^Mistakes of others$/,/^Tests of the device$/p' Documentation/tests.rst |
	grep -oE "$q($suites)_[a-z_]+" | tr -d "$q" > "$work/documented"
exist case Documentation/tests.rst "$work/documented" "$work/cases"
make -s -C selftests names | grep '^device_' | grep -v '_compat32$' > "$work/tests"
sed -n '/^Tests of the device$/,/^Lateness$/p' Documentation/tests.rst |
	words "^$q(device_[a-z_]+)$q " > "$work/documented"
same test Documentation/tests.rst "$work/tests" "$work/documented"

# Differences between callouts and Linux's timers: each has a name, some case asks for it, and it is in the table.
words '^	TIMER_DIFFERENCE_([a-z_]+)' kunit/timers/api.h > "$work/differences"
grep -ohE 'TIMER_DIFFERS\([a-z_]+\)' kunit/timers/cases/*.c | words '\(([a-z]+[a-z_]*)\)' > "$work/asked"
echo name > "$work/macro"
only "$work/asked" "$work/macro" > "$work/asked.cases"
same difference "kunit/timers/*.h" "$work/differences" "$work/asked.cases"
sed -n '/^What differs$/,/^Where the two agree$/p' Documentation/timers.rst | words "^$q([a-z_]+)$q " > "$work/documented"
same difference Documentation/timers.rst "$work/differences" "$work/documented"

# The site lists the manual pages by section.
printf '%s\n' "$man"/* | sed 's/.*\.//' > "$work/sections"
words '^    "([1-9])": \(' scripts/package/pages.py > "$work/documented"
same section scripts/package/pages.py "$work/sections" "$work/documented"

# Pages: they render, and their dates are possible.
for page in "$man"/*; do
	groff -mandoc -t -ww -Tutf8 -z "$page" 2> "$work/said"
	[ ! -s "$work/said" ] || { cat "$work/said"; bad=1; }
done
render() {
	# What only Sphinx knows is left out. Other files are found from the page's directory.
	cd Documentation
	sed -E '/^\.\. kernel-doc::/,/^$/d' "$1" | rst2html --report=2 - "$work/page.html"
}
for page in Documentation/*.rst; do
	if ! (render "${page##*/}") > "$work/said" 2>&1 || [ -s "$work/said" ]; then
		wrong "$page does not render:"
		cat "$work/said"
	fi
done
# Three screens and more.
for page in Documentation/*.rst; do
	if [ "$(wc -l < "$page")" -gt 150 ] && ! grep -q '^\.\. contents::' "$page"; then
		wrong "$page is long and has no table of contents"
	fi
done
for page in "$man"/*; do
	day=$(words '^\.TH [A-Z_]+ [0-9] (20[0-9]{2}-[0-9]{2}-[0-9]{2}) ' "$page")
	if ! seconds=$(date -d "${day:-none}" +%s 2> /dev/null) || [ "$seconds" -gt "$(date +%s)" ]; then
		wrong "$page has the date \"$day\""
	fi
done
years=$(words '^\.TH .* (20[0-9]{2})-' "$man"/* | sort -u)
[ "$(wc -w <<< "$years")" -eq 1 ] || wrong "the manual pages are of several years:" "${years//$'\n'/ }"
sed -n '/^An example/,/^Operations/s/^	//p' Documentation/device.rst > "$work/example.c"
cc -Wall -Wextra -Werror -Imodule/include/uapi -o "$work/example" "$work/example.c" ||
	wrong "the example of Documentation/device.rst does not compile"
sed -n '/^#include <err.h>/,/^```/p' README.md | grep -v '^```' > "$work/example.c"
cc -Wall -Wextra -Werror -fsyntax-only -Itools/lib -Imodule/include/uapi "$work/example.c" ||
	wrong "the program of README.md does not compile"
# quotes FILE OTHER SOURCE...: each line that the file quotes, except OTHER, is in the sources
quotes() {
	local file=$1 other=$2 line

	shift 2
	sed 's/^[[:blank:]]*//' "$@" | LC_ALL=C sort -u > "$work/source"
	# shellcheck disable=SC2016 # it is RST that has the backquotes
	sed -nE '/^``/,/^[^\t`]/d; s/^	[[:blank:]]*(.+)/\1/p' "$file" |
		grep -vxF -e "$other" > "$work/quoted"
	[ -s "$work/quoted" ] || wrong "$file quotes nothing"
	while read -r line; do
		grep -qxF -e "$line" "$work/source" || wrong "$file quotes a line that no source has: $line"
	done < "$work/quoted"
}
quotes Documentation/tutorial-event-loop.rst 'timer->slack = 1000000000;' tools/examples/*.c
quotes Documentation/tutorial-bsd.rst 'callout_tcp: passed, 0 wrong, 0 connections left' \
	selftests/modules/tcp/tcp_timer.c

# Links from one document to another, and files that they name. FreeBSD has sys/, and mine.c is for the reader to write.
# shellcheck disable=SC2016 # it is RST that has the backquotes
while IFS=: read -r file link; do
	[ -e "${file%/*}/$link" ] || wrong "$file has a link to $link, which does not exist"
done < <(grep -oE '<[a-zA-Z0-9_/.-]+\.(rst|md|[1-9])>`_|<(ABI/[a-z/-]+|man|\.\./NEWS)>`_' Documentation/*.rst | sed -E 's/<(.*)>`_/\1/'
	grep -HoE '\]\([a-zA-Z0-9_/.-]+\)' README.md CONTRIBUTING.md HACKING.md | sed -E 's~:\]\((.*)\)~:\1~; s~^~./~')
find . \( -path ./.git -o -path ./build \) -prune -o -type f -printf '%P\n' > "$work/tree"
# shellcheck disable=SC2016
while IFS=: read -r file name; do
	case $name in sys/*|*/mine.c) continue ;; esac
	pattern=${name//./\\.}
	grep -qE "(^|/)${pattern//\*/[^/]*}\$" "$work/tree" || wrong "$file names the file $name, which does not exist"
done < <(grep -oE '`[a-zA-Z0-9_/.*-]+\.(c|h|sh|rst|patch|config|awk|gp)`' Documentation/*.rst README.md CONTRIBUTING.md HACKING.md |
	tr -d '`' | sort -u)

# The drawings agree with their texts, and each picture has a text for readers who do not see it.
scripts/package/drawings.py -n || bad=1
awk '
	picture && !/^   :alt: / { print FILENAME ": no alt text: " picture; bad = 1 }
	{ picture = /^\.\. (image|figure)::/ ? $0 : "" }
	END { exit bad }' Documentation/*.rst || bad=1

# What the documents promise has a test, and the test a mutant.
scripts/check/promises.py || bad=1

# The version.
[ "$(head -n 1 NEWS)" = "callout $(cat VERSION)" ] || wrong "NEWS does not begin with the version of VERSION"

exit $bad
