#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs one suite or case of KUnit, or one test of the device: builds what has changed, boots, and
# prints the results. A name may be a pattern, as callout_timer*. A wrong name is refused before
# anything is built.
#
#   scripts/one.sh kunit SUITE[.CASE] [KERNEL]
#   scripts/one.sh selftest TEST [KERNEL]
#   scripts/one.sh -g kunit|selftest NAME    under gdb, on the kernel "gdb"

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=qemu/machines.sh
. "$top/qemu/machines.sh"
cd "$top"

# cases: SUITE.CASE for each case of KUnit, from the sources. The cases of a suite are in its file,
# or in a header.
cases() {
	find kunit -type f -exec awk '
		FNR == 1 { file = FILENAME ~ /\.c$/ ? FILENAME : "header" }
		/^static struct kunit_case / { array = $4; sub(/\[.*/, "", array) }
		match($0, /KUNIT_CASE[A-Z_]*\([a-z0-9_]+/) {
			split(substr($0, RSTART, RLENGTH), word, "(")
			cases[file, array] = cases[file, array] " " word[2]
		}
		/^\t\.name[ \t]*= "callout_/ { split($0, word, "\""); suite = word[2] }
		/^\t\.test_cases[ \t]*= / {
			array = $3
			sub(/,$/, "", array)
			place[suite] = file SUBSEP array
			header[suite] = "header" SUBSEP array
		}
		END {
			for (suite in place) {
				at = place[suite] in cases ? place[suite] : header[suite]
				n = split(cases[at], name)
				for (i = 1; i <= n; i++)
					print suite "." name[i]
			}
		}' {} +
}

# known: the names that there are, of the wanted one's kind
known() {
	case $what,$wanted in
	kunit,*.*) cases ;;
	kunit,*) cases | cut -d . -f 1 ;;
	selftest,*) make -s -C selftests names ;;
	esac | LC_ALL=C sort -u
}

# near NAME: the lines of standard input that look most like it
near() {
	python3 -c 'import difflib, sys
print(*difflib.get_close_matches(sys.argv[1], sys.stdin.read().split(), 5, 0.3))' "$1"
}

# boot ARGUMENTS JOB
boot() {
	[ "$stopped" ] || exec qemu/boot.sh -n one -a "$1" "$kernel" "$2"
	eval "$(qemu/kernel.sh -b "$kernel")"
	# A process group: gdb's ^C is not for it.
	set -m
	qemu/boot.sh -g -n one -a "$1" "$kernel" "$2" < /dev/null &
	booting=$!
	trap 'kill -- "-$booting" 2> /dev/null || :' EXIT
	# Only at start_kernel() can gdb read the list of modules, by which it finds their symbols.
	gdb -q -x "$KERNEL_BUILD/vmlinux-gdb.py" -ex "set tcp connect-timeout 60" \
		-ex "target remote :1234" -ex "thbreak start_kernel" -ex continue \
		-ex "lx-symbols $build/$kernel" -ex "set breakpoint pending on" \
		"$KERNEL_BUILD/vmlinux"
}

stopped=
if [ "${1:-}" = -g ]; then
	stopped=yes
	shift
	set -- "$@" gdb
fi
[[ $# -ge 2 && $# -le 3 ]] || die "usage: one.sh [-g] kunit|selftest NAME [KERNEL]"
what=$1
wanted=$2
case $what in
kunit)
	kernel=${3:-kunit}
	noun="suite or case" variable="SUITE=suite[.case]" place=qemu/suites
	case $kernel in
	kunit|kunit-*|gdb|debug|interleave) ;;
	*) die "KERNEL=$kernel has no tests of KUnit: kunit, debug, interleave, kunit-arm64, ..." ;;
	esac ;;
selftest)
	kernel=${3:-debian-6.12}
	noun=test variable=TEST=name place=selftests/Makefile ;;
*) die "there is no \"$what\": kunit, selftest" ;;
esac
[ "$wanted" ] || die "$variable is missing; $place has all"
names=()
known=$(known)
while read -r name; do
	# shellcheck disable=SC2053 # a pattern
	[[ $name != $wanted ]] || names+=("$name")
done <<< "$known"
if [ ! "${names[*]}" ]; then
	like=$(near "$wanted" <<< "$known")
	die "there is no $noun \"$wanted\"${like:+; like it: $like}; $place has all"
fi

[ ! "$stopped" ] || scripts/setup.sh gdb
scripts/build.sh "$kernel" >&2
if [ "$what" = kunit ]; then
	boot "kunit.filter_glob=$wanted" kunit
	exit
fi
machine_of "$kernel"
if [ "$foreign" ]; then
	logged "programs-$foreign" make_foreign "$foreign"
else
	make --no-print-directory -C selftests O="$build/user" \
		"${names[@]/#/$build/user/selftests/}" >&2
fi
boot "CALLOUT_TESTS=$(IFS=+; echo "${names[*]}")" selftests
