#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The checks that run no code: checkpatch, kernel-doc, shellcheck, house rules. Warnings of
# compilers and sparse are found by check.sh, which builds the modules.
#
#   scripts/check/static.sh [all]   "all" takes minutes more: install.sh, and more headers of Linux
#
# One TAP line each, after its findings if it failed. The last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
case $* in ""|all) whole=$* ;; *) die "usage: static.sh [all]" ;; esac
cd "$top"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
linux=$(qemu/kernel.sh -s)

# False positives of checkpatch: a size that is a power of two is not a bit (BIT_MACRO); kcompat.h
# tests the version and stubs functions that old kernels lack; macros that count their arguments do
# not use them all; BSD's types have BSD's names; lab.c exports what the schemes define;
# COUNTED() defines functions; the mocks of the fuzzers look like the kernel, and libFuzzer has
# its own names and types; the device's fuzzer has lists of names that are macros; mutant.h comes
# before all headers; an initialiser names its constants twice; the list of points is a macro;
# callout_timer.h has _Generic, which checkpatch does not know, and macros that are declarations;
# and it knows the layout of trace events only by the kernel's own paths.
ignored() {
	local ignore=BIT_MACRO

	case $1 in
	module/lab/lab.c) ignore=$ignore,EXPORT_SYMBOL ;;
	module/base/base.h) ignore=$ignore,MACRO_ARG_REUSE ;;
	module/probe/point.[ch]) ignore=$ignore,COMPLEX_MACRO,MACRO_ARG_REUSE ;;
	module/kcompat.h) ignore=$ignore,LINUX_VERSION_CODE,CONSTANT_COMPARISON,MACRO_ARG_UNUSED ;;
	module/include/trace/*) ignore=$ignore,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE ;;
	module/include/linux/callout_timer.h)
		ignore=$ignore,CAMELCASE,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED
		ignore=$ignore,MACRO_ARG_PRECEDENCE,MULTISTATEMENT_MACRO_USE_DO_WHILE
		ignore=$ignore,NEW_TYPEDEFS,SPACING,TRAILING_SEMICOLON ;;
	module/include/linux/callout_bsd.h|module/include/bsd/*)
		ignore=$ignore,MACRO_ARG_UNUSED,NEW_TYPEDEFS ;;
	module/include/linux/callout_openbsd.h) ignore=$ignore,MACRO_ARG_REUSE ;;
	selftests/bench/loop_bench.c)
		ignore=$ignore,MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_ARG_REUSE ;;
	selftests/mutants/mutant.h)
		ignore=$ignore,CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,MACRO_ARG_REUSE
		ignore=$ignore,MEMORY_BARRIER ;;
	selftests/harness/include/*|tools/wheel-page/include/*)
		ignore=$ignore,MACRO_ARG_UNUSED,NEW_TYPEDEFS ;;
	selftests/fuzz/user/mock_kernel.h)
		ignore=$ignore,MACRO_ARG_UNUSED,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,NEW_TYPEDEFS
		ignore=$ignore,PREFER_DEFINED_ATTRIBUTE_MACRO,MEMORY_BARRIER,DATA_RACE ;;
	selftests/fuzz/user/input.h) ignore=$ignore,MACRO_ARG_REUSE,PREFER_KERNEL_TYPES ;;
	selftests/fuzz/user/*) ignore=$ignore,CAMELCASE,PREFER_KERNEL_TYPES ;;
	selftests/fuzz/*.[ch]) ignore=$ignore,COMPLEX_MACRO,MACRO_ARG_REUSE ;;
	esac
	echo "$ignore"
}

# checkpatch IGNORED FILE...: one process for all files with the same exceptions.
checkpatch() {
	# checkpatch prints a heading only for several files.
	[ $# -gt 2 ] || printf -- '-\n%s\n-\n' "$2" >> "$work/said"
	# From a directory of links: checkpatch leaves a file where it runs.
	(cd "$work/links" && perl "$linux/scripts/checkpatch.pl" --strict --no-tree --show-types \
		--summary-file --ignore "$1" -f "${@:2}") >> "$work/said" 2>&1 || :
}

# cause_of IGNORED FILE: what the findings of checkpatch in the file follow from
cause_of() {
	{
		printf '%s\n' "$linux" "$1" "$2"
		cat "$2"
	} | sha256sum
}

# Prints the findings in a file, which follow its heading between two lines of dashes.
said() {
	awk -v file="$1" '
		/^-+$/ { heading = !heading; next }
		heading { mine = $0 == file; next }
		mine' "$work/said" | tee "$work/said.file"
	grep -qxF "$1 has no obvious style problems and is ready for submission." "$work/said.file"
}

# Whether checkpatch finds nothing in a file, now or when the file was last as it is.
checked() {
	[ "${unknown[$1]:-}" ] || return 0
	said "$1" && echo "${unknown[$1]}" >> "$clean"
}

kernel_doc() {
	find module kunit -name '*.[ch]' -exec "$linux/scripts/kernel-doc" -none -Werror {} +
}

# In the first three lines.
spdx_everywhere() {
	find . \( -path ./.git -o -path ./build -o -path ./.cache -o -path ./LICENSES -o \
		-path ./tools/python/build -o -name "*.egg-info" \) -prune \
		-o -type f ! -name .gitignore ! -name VERSION ! -name NEWS ! -name AUTHORS \
		! -name '*.md' ! -name '*.svg' ! -name '*.csv' ! -path ./debian/copyright \
		! -path ./debian/source/format ! -name '*.doc-base' -print |
		LC_ALL=C sort > "$work/files"
	xargs -d '\n' -a "$work/files" grep -Hnm 1 'SPDX-License-Identifier: ' |
		sed -nE 's/:[123]:.*//p' > "$work/named"
	! LC_ALL=C comm -23 "$work/files" "$work/named" | grep .
}

# licensed EXPRESSION FILE...: all have this licence
licensed() {
	local expression=$1

	shift
	! grep -LE "SPDX-License-Identifier: $expression( \*/)?\$" "$@" | grep .
}

# Programs of any licence may compile in or link these.
permissive() {
	licensed "LGPL-2.1-or-later OR MIT" tools/lib/* tools/loops/* tools/examples/* \
		tools/python/pyproject.toml tools/python/*/*.py tools/rust/Cargo.toml \
		tools/rust/*/* &&
		licensed "GPL-2.0 WITH Linux-syscall-note" module/include/uapi/linux/*.h
}

# LICENSES has the text of each licence and exception that is named.
licence_texts() {
	local tag bad=0

	while read -r tag; do
		if ! grep -qxE "(Valid-License|SPDX-Exception)-Identifier: $tag" LICENSES/*/*; then
			echo "LICENSES has no $tag"
			bad=1
		fi
	done < <(grep -rhoE '^.{0,6}SPDX-License-Identifier: .*' \
			--exclude-dir={.git,build,.cache,LICENSES} . |
		sed -E 's/^[^:]*: //; s~ ?(\*/|-->).*~~; s/ (OR|AND|WITH) /\n/g; s/[()]//g' |
		sort -u)
	return $bad
}

# base.h has functions for the lock of a base, which do not pair with the kernel's.
base_lock_only_in_base_h() {
	local name='raw_spin_(try|un)?lock(_irq[a-z]*|_nested)?'

	! grep -nE "$name\(&(base|home|to|target|from)->lock" module/*.[ch] module/*/*.[ch] |
		grep -v '^module/base/base\.h:'
}

# What expiry and the tick call cannot be written once the facility is there.
tables_of_functions_read_only() {
	! grep -nE '^(static )?struct \w+_(ops|operations|source) \w+(\[.*\])?[^;]*= \{' \
		module/*.c module/*/*.c | grep -v ' __ro_after_init = '
}

# What a function has that passes a point: the return instruction, unless the option is set.
points_are_nothing() {
	printf '%s\n' '#include "module/probe/point.h"' \
		'void pass(void) { co_point(); }' |
		gcc -D__always_inline=inline -I. -O2 -fcf-protection=none -S -o "$work/pass" -x c -
	sed -n '/^pass:/,/\.size/p' "$work/pass" | grep -vE '^pass:|^\.|^\s*\.' > "$work/passed"
	[ "$(tr -d '[:space:]' < "$work/passed")" = ret ] || { cat "$work/passed"; return 1; }
}

version_only_in_kcompat() {
	! grep -rnE 'LINUX_VERSION_CODE|KERNEL_VERSION' module kunit selftests tools \
		--include='*.[ch]' | grep -v '^module/kcompat\.h:'
}

# A tab is 8 columns. documents.sh is still to be wrapped.
short_lines() {
	local file bad=0

	for file in "${shell_files[@]}" "${awk_files[@]}"; do
		[ "$file" != scripts/check/documents.sh ] || continue
		if expand "$file" | grep -nE '.{101}'; then
			echo "$file has lines of more than 100 columns"
			bad=1
		fi
	done
	return $bad
}

shell_files=(.ci/run qemu/init qemu/uml-init qemu/*.sh qemu/jobs/*.sh qemu/jobs/*/*.sh scripts/*.sh
	scripts/*/*.sh scripts/hooks/commit-msg tools/calloutctl.bash tools/examples/python.sh)
awk_files=(scripts/*/*.awk scripts/*/*/*.awk qemu/ktap.awk)

# mawk, Debian's awk, reads every script to its end. The scripts of bench run with judge.awk.
awk_parses() {
	local file bad=0 judge=scripts/measure/bench/judge.awk with

	for file in "${awk_files[@]}"; do
		with=()
		[[ $file != scripts/measure/bench/* || $file = "$judge" ]] || with=(-f "$judge")
		mawk -W dump "${with[@]}" -f "$file" > /dev/null || bad=1
	done
	return $bad
}

# qemu/suites names each suite in the sources, and no other.
suites_listed() {
	grep -v '^#' qemu/suites | awk '{ print $1 }' | grep . > "$work/listed"
	sed -nE 's/^\t\.name\s*= "(callout_[a-z0-9_]+)",$/\1/p' kunit/*/*.c |
		sort > "$work/suites"
	diff "$work/suites" "$work/listed"
}

# A check that has passed is not run again while what kept.sh sums up is the same.
all_summed() (
	# shellcheck source=scripts/check/kept.sh
	. scripts/check/kept.sh
	! find . -mindepth 1 -maxdepth 1 ! -name .git ! -name build ! -name .cache -printf '%P\n' |
		grep -vxF "$(printf '%s\n' "${sources[@]}" "${documents[@]}")"
)

# As a service runs it, or a build daemon.
without_home() {
	env -u HOME -u XDG_CACHE_HOME -u CALLOUT_CACHE qemu/kernel.sh -b running
}

# completes WORD...: prints how bash completes the last word of this command line
completes() {
	bash -c '. tools/calloutctl.bash
		COMP_WORDS=(calloutctl "$@")
		COMP_CWORD=$#
		_calloutctl
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# The commands of calloutctl, the options that its help names, and the clocks.
completion() {
	local command

	sed -nE 's/^	\{ "([a-z0-9]+)",.*/\1/p' tools/calloutctl.c | sort > "$work/commands"
	completes "" | sort | diff "$work/commands" - || return 1
	while read -r command; do
		awk -v command="$command" '
			!/^" / { mine = 0 }
			/^"  [a-z]/ { name = $2; sub(/\\n.*/, "", name); mine = name == command }
			mine { while (match($0, /[ \[]--?[a-z]+/)) {
				print substr($0, RSTART + 1, RLENGTH - 1)
				$0 = substr($0, RSTART + RLENGTH)
			} }' tools/calloutctl.c | sort -u > "$work/options"
		completes "$command" - | sed '/^$/d' | sort | diff "$work/options" - ||
			return 1
	done < <(grep -vx shell "$work/commands")
	[ "$(completes shell --)" = --json ] && [ "$(completes set -c m)" = monotonic ] &&
		other_completions
}

# bash_options: "COMMAND OPTION" for each option that bash completes
bash_options() {
	local command

	while read -r command; do
		completes "$command" - | sed "/^$/d; s/^/$command /"
	done < "$work/commands"
}

# Compare the files for fish and zsh with it; neither shell need be installed.
other_completions() {
	bash_options | sort > "$work/options"
	awk '
		/^for command in / { sub(/^for command in /, ""); every = $0; next }
		/ -s [a-z]| -l [a-z]/ {
			n = split(every, list)
			if (match($0, /_from [a-z0-9]+/)) {
				list[n = 1] = substr($0, RSTART + 6, RLENGTH - 6)
			}
			for (i = 1; i <= n; i++) {
				if (match($0, / -s [a-z]/))
					print list[i], "-" substr($0, RSTART + 4, 1)
				if (match($0, / -l [a-z]+/))
					print list[i], "--" substr($0, RSTART + 4, RLENGTH - 4)
			}
		}' tools/calloutctl.fish | sort | diff "$work/options" - || return 1
	awk '
		function named(text) {
			while (match(text, /[{,\047")]--?[a-z]+/)) {
				print command, substr(text, RSTART + 1, RLENGTH - 1)
				text = substr(text, RSTART + RLENGTH)
			}
		}
		/^	case /, /^	esac/ {
			text = $0
			if (match(text, /^	[a-z0-9|]+\)/)) {
				command = substr(text, 2, RLENGTH - 2)
				text = substr(text, RSTART + RLENGTH)
				bare = command ~ /^(help|demo|fig9)$/
				n = split(command, list, "|")
				for (i = 1; !bare && i <= n; i++)
					print list[i], "-j\n" list[i], "--json"
			}
			named(text)
		}' tools/calloutctl.zsh | sort | diff "$work/options" - || return 1
	# Commands, clocks and columns.
	grep -oE '"(set sleep|outstanding|monotonic) [^"]*"' tools/calloutctl.bash | tr -d '"' |
		sort -u > "$work/words"
	[ "$(wc -l < "$work/words")" -eq 3 ] || return 1
	while read -r words; do
		if ! grep -qF "$words" tools/calloutctl.fish ||
			! grep -qF "$words" tools/calloutctl.zsh; then
			echo "not in the completion of fish or zsh: $words"
			return 1
		fi
	done < "$work/words"
}

# A change of a line that a mutant changes leaves the mutant behind.
mutants_apply() {
	local list bad=0

	for list in selftests/mutants/*.list; do
		scripts/mutants/mutate.pl list "$list" > /dev/null || bad=1
	done
	return $bad
}

# The same of the mistakes that the fuzzer must find when they are put back.
bugs_apply() {
	local bug bad=0

	for bug in selftests/fuzz/bugs/*.patch; do
		patch -f -s -p1 --dry-run < "$bug" || { echo "$bug"; bad=1; }
	done
	return $bad
}

# model TABLE DIRECTORY: the laboratory's model of the data there
model() {
	(cd "$2" && awk -v table="$1" -f "$top/scripts/measure/lab/model.awk" line.csv remote.csv \
		bytes.csv scale.csv growth.csv)
}

# wrong STATUS FILE SED: with one change in a file of data the model ends so
wrong() {
	local status=0

	cp Documentation/lab/{line,remote,bytes,scale,growth}.csv "$work/model"
	sed -i -E "$3" "$work/model/$2"
	if cmp -s "$work/model/$2" "Documentation/lab/$2"; then
		echo "$2: no change by $3"
		return 1
	fi
	model check "$work/model" > "$work/said" 2>&1 || status=$?
	[ $status -eq "$1" ] || { echo "$2 with $3: status $status, not $1"; return 1; }
}

# The model's tables in the documents are of the data there, its predictions are good, and it takes
# no nonsense: 1 is a bad prediction, 2 are bad data.
lab_model() {
	mkdir "$work/model"
	model check Documentation/lab | diff - Documentation/lab/model_check.csv &&
		model large Documentation/lab | diff - Documentation/lab/model.csv &&
		wrong 1 bytes.csv 's/^(callout,10000000,)/\12/' &&
		wrong 2 line.csv '3s/,.*/,/' &&
		wrong 2 line.csv '3s/,/,-/' &&
		wrong 2 line.csv '3{h;d};4G' &&
		wrong 2 line.csv '3,99d' &&
		wrong 2 remote.csv '2s/.*/a few/' &&
		wrong 2 bytes.csv '2s/,[^,]*$/,many/' &&
		wrong 2 scale.csv '1s/,/;/g' &&
		wrong 2 growth.csv '2s/^([^,]*,)[^,]*/\10/' &&
		wrong 2 growth.csv '/^migrate,1000{4,}/d'
}

# says MESSAGE [PATTERN]: the hook takes it, or refuses it with a line that matches
says() {
	printf '%b\n' "$1" > "$work/message"
	if scripts/hooks/commit-msg "$work/message" 2> "$work/refused"; then
		[ ! "${2:-}" ] || { echo "taken: $1"; return 1; }
	else
		cat "$work/refused"
		[ "${2:-}" ] && grep -qE "$2" "$work/refused"
	fi
}

# The rules of CONTRIBUTING.md.
commit_messages() {
	local why="\n\nIt is so because." long=1234567890123456789012345678901234567890

	says "wheel: Keep bounds apart from list heads$why" &&
		says "module/lab, kunit: Pass the seed$why\n# a comment$long$long" &&
		says "tools: Say ${long}12345678901234567890é$why" &&
		says "tools: Say ${long}12345678901234567890éé$why" 'has 73 columns' &&
		says "Keep bounds apart$why" 'area: Do something' &&
		says "wheel: keep bounds apart$why" 'small letter' &&
		says "wheel: Keeps bounds apart$why" 'no imperative' &&
		says "wheel: Added bounds$why" 'no imperative' &&
		says "wheel: The bounds are apart$why" 'no imperative' &&
		says "wheel: Keep bounds apart.$why" 'full stop' &&
		says "wheel: Keep bounds apart" 'no body' &&
		says "wheel: Keep bounds apart\n\nSigned-off-by: A <a@b.invalid>" 'no body' &&
		says "wheel: Keep bounds apart\nIt is so." 'second line' &&
		says "wheel: Keep bounds apart$why $long $long" 'more than 72' &&
		says "wheel: Keep bounds apart$why\nhttps://a.invalid/$long$long" &&
		says "fixup! wheel: Keep bounds apart"
}

mkdir "$work/links"
clean=$cache/checkpatch-clean
touch "$clean"
sources=()
declare -A alike unknown
for directory in module replaced kunit selftests tools; do
	[ -d "$directory" ] || continue
	ln -s "$top/$directory" "$work/links/$directory"
	while read -r file; do
		sources+=("$file")
		ignore=$(ignored "$file")
		cause=$(cause_of "$ignore" "$file")
		! grep -qxF "$cause" "$clean" || continue
		unknown[$file]=$cause
		alike[$ignore]+=" $file"
	done < <(find "$directory" -name '*.[ch]' | LC_ALL=C sort)
done
for ignore in "${!alike[@]}"; do
	# shellcheck disable=SC2086 # no file has a blank in its name
	checkpatch "$ignore" ${alike[$ignore]}
done
for file in "${sources[@]}"; do
	item "checkpatch $file" checked "$file"
done
item "kernel-doc" kernel_doc

item "kernel versions only in kcompat.h" version_only_in_kcompat
item "the lock of a base only by base.h" base_lock_only_in_base_h
item "the letter of the ioctls is free" scripts/check/ioctl-number.sh
item "tables of functions are read-only" tables_of_functions_read_only
item "points are nothing unless they are asked for" points_are_nothing
item "layers" scripts/check/layers.sh
item "plain words" scripts/check/words.sh
item "the suites of KUnit in qemu/suites" suites_listed
item "kept.sh knows each file" all_summed
item "documents" scripts/check/documents.sh
item "timers by type, and the examples of timers.rst" scripts/check/timers.sh ${whole:+10}
item "an SPDX line in every file" spdx_everywhere
item "a permissive licence for what programs compile in" permissive
item "the text of every licence" licence_texts
item "a second build, the cache elsewhere" scripts/check/targets.sh quick
item "kernel.sh without HOME" without_home
[ ! "$whole" ] || item "install.sh" scripts/package/install-check.sh
item "the environment of scripts" scripts/check/environment.sh
item "completion of calloutctl" completion
item "the hook for commit messages" commit_messages
item "the laboratory's model" lab_model
item "the mutants fit the sources" mutants_apply
item "the fuzzer's bugs fit the sources" bugs_apply
item "shell lines of at most 100 columns" short_lines
item "awk scripts" awk_parses
item "shellcheck" shellcheck -x "${shell_files[@]}"
finish
