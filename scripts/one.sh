#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs one suite or case of KUnit, or one test of the device: builds what has changed, boots, and
# prints the results. A name may be a pattern, as callout_timer*. A wrong name is refused before
# anything is built.
#
#   scripts/one.sh kunit SUITE[.CASE] [KERNEL]
#   scripts/one.sh selftest TEST [KERNEL]

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

# near NAME: of the lines on standard input those that look most like it
near() {
	python3 -c 'import difflib, sys
print(*difflib.get_close_matches(sys.argv[1], sys.stdin.read().split(), 5, 0.3))' "$1"
}

[[ $# -ge 2 && $# -le 3 ]] || die "usage: one.sh kunit|selftest NAME [KERNEL]"
what=$1
wanted=$2
case $what in
kunit)
	kernel=${3:-kunit}
	noun="suite or case" variable="SUITE=suite[.case]" place=qemu/suites
	case $kernel in
	kunit|kunit-*|debug|search) ;;
	*) die "KERNEL=$kernel has no tests of KUnit: KERNEL=kunit, debug, search, kunit-arm64, ..." ;;
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

scripts/build.sh "$kernel" >&2
if [ "$what" = kunit ]; then
	exec qemu/boot.sh -n one -a "kunit.filter_glob=$wanted" "$kernel" kunit
fi
machine_of "$kernel"
if [ "$foreign" ]; then
	logged "programs-$foreign" make_foreign "$foreign"
else
	make --no-print-directory -C selftests O="$build/user" \
		"${names[@]/#/$build/user/selftests/}" >&2
fi
exec qemu/boot.sh -n one -a "CALLOUT_TESTS=$(IFS=+; echo "${names[*]}")" "$kernel" selftests
