#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the checks it is told to, all of them even if one fails; the last line is "N passed, N failed".
#
#   scripts/check.sh [static] [kunit] [late] [selftests] [load] [client] [hotplug] [debug]
#
# Everything a check prints goes to build/log/; what matters of it is shown when the check fails.

set -euo pipefail

cd "$(dirname "$0")/.."
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
mkdir -p "$build/log"
total_passed=0
total_failed=0

# report NAME PASSED FAILED SECONDS-AT-START
report() {
	printf '%-24s %6d passed %4d failed %5d s\n' "$1" "$2" "$3" $((SECONDS - $4))
	total_passed=$((total_passed + $2))
	total_failed=$((total_failed + $3))
}

run_static() {
	local start=$SECONDS log=$build/log/static.log passed failed=1

	scripts/static.sh > "$log" 2>&1 || :
	read -r passed _ failed _ <<< "$(grep -xE '[0-9]+ passed, [0-9]+ failed' "$log" || echo "0 passed, 1 failed")"
	if [ "$failed" -gt 0 ]; then
		awk '/^ok / { held = ""; next } { held = held $0 "\n" } /^not ok / { printf "%s", held; held = "" }
		     END { printf "%s", held }' "$log"
	fi
	report static "$passed" "$failed" "$start"
}

# Builds something once a run, for all the steps that need it.
built=
build_once() {
	local name=$1 log=$build/log/build-$1.log

	shift
	case " $built " in *" $name "*) return 0 ;; esac
	if ! "$@" > "$log" 2>&1; then
		grep -m 20 -E 'error|Error' "$log" || tail -n 20 "$log"
		echo "check.sh: building $name failed, see $log"
		return 1
	fi
	built="$built $name"
}

programs() {
	make -C tools O="$build/user" && make -C selftests O="$build/user"
}

# run_job KERNEL JOB SECONDS [ARGUMENTS OF boot.sh]
run_job() {
	local start=$SECONDS log=$build/log/$1-$2 passed=0 failed=0 good=no

	rm -f "$log".*
	if build_once "$1" scripts/build.sh "$1" && build_once programs programs &&
	   { [ "$2" != client ] || build_once "client-$1" scripts/client.sh "$1"; }; then
		! qemu/boot.sh "${@:4}" -t "$3" "$1" "$2" > "$log.log" 2>&1 || good=yes
	fi
	if [ -s "$log.verdict" ]; then
		read -r _ _ passed failed _ < "$log.verdict"
	fi
	if [ $good = no ]; then
		[ "$failed" -gt 0 ] || failed=1
		[ ! -e "$log.out" ] || grep -aE -B 8 '^ *not ok|# SKIP' "$log.out" || :
		[ ! -e "$log.log" ] || grep -a -A 70 '^boot.sh: ' "$log.log" || tail -n 20 "$log.log"
	fi
	report "$2 $1" "$passed" "$failed" "$start"
}

scripts/setup.sh all || { echo "0 passed, 1 failed"; exit 1; }
for check in "$@"; do
	case $check in
	static) run_static ;;
	kunit) run_job kunit kunit 300 ;;
	late) run_job kunit late 300 -i ;;
	selftests)
		run_job debian-6.1 selftests 300
		run_job debian-6.12 selftests 300
		run_job debian-6.12-rt selftests 300 ;;
	load)
		run_job debian-6.1 load 120
		run_job debian-6.12 load 120 ;;
	client)
		run_job debian-6.1 client 120
		run_job debian-6.12 client 120
		run_job debian-6.12-rt client 120 ;;
	hotplug)
		run_job debian-6.12 hotplug 300
		run_job debian-6.12 nohz 120 -a nohz_full=2,3 ;;
	debug)
		run_job debug kunit 900
		run_job debug selftests 900
		run_job debug load 300 ;;
	*)
		echo "check.sh: there is no check $check" >&2
		total_failed=$((total_failed + 1)) ;;
	esac
done
[ $((total_passed + total_failed)) -gt 0 ] || { echo "check.sh: nothing was checked" >&2; total_failed=1; }
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
