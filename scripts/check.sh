#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the checks it is told to, all of them even if one fails; the last line is "N passed, N failed".
#
#   scripts/check.sh [static] [schemes] [schemes-all] [kunit] [late] [selftests] [tools] [load] [client] [hotplug] [torture]
#                    [debug] [old-hotplug]
#
# Everything a check prints goes to build/log/; what matters of it is shown when the check fails.

set -euo pipefail

cd "$(dirname "$0")/.."
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
mkdir -p "$build/log"
results=$build/log/check.results
: > "$results"

# report NAME PASSED FAILED SECONDS-AT-START: the last that a step does
report() {
	printf '%-24s %6d passed %4d failed %5d s\n' "$1" "$2" "$3" $((SECONDS - $4))
	echo "$2 $3" >> "$results"
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
	make -C tools O="$build/user" all examples && make -C selftests O="$build/user"
}

run_schemes() {
	local start=$SECONDS log=$build/log/schemes.log passed=0 failed=0 good=no

	! { "$build/user/host/scheme_harness" && "$build/user/host/scheme_race" -c reserve_beside; } > "$log" 2>&1 || good=yes
	passed=$(grep -c '^ok ' "$log") || :
	failed=$(grep -c '^not ok ' "$log") || :
	if [ $good = no ]; then
		[ "$failed" -gt 0 ] || failed=1
		grep -B 20 '^not ok ' "$log" || tail -n 20 "$log"
	fi
	report schemes "$passed" "$failed" "$start"
}

# Two things are done at a time: much of a boot's time it waits for timers. What each has to say is said at its end.
running=0

wait_for_one() {
	wait -n || :
	running=$((running - 1))
}

# in_turn COMMAND...: runs it beside what is running.
in_turn() {
	[ $running -lt 2 ] || wait_for_one
	in_one_piece "$@" &
	running=$((running + 1))
}

in_one_piece() {
	local said

	said=$("$@") || :
	echo "$said"
}

# run_job KERNEL JOB SECONDS [ARGUMENTS OF boot.sh]
run_job() {
	local log=$build/log/$1-$2

	rm -f "$log".*
	if build_once "$1" scripts/build.sh "$1" && build_once programs programs &&
	   { [ "$2" != client ] || build_once "client-$1" scripts/client.sh "$1"; }; then
		in_turn boot "$@"
	else
		report "$2 $1" 0 1 "$SECONDS"
	fi
}

boot() {
	local start=$SECONDS log=$build/log/$1-$2 passed=0 failed=0 good=no

	! qemu/boot.sh "${@:4}" -t "$3" "$1" "$2" > "$log.log" 2>&1 || good=yes
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
	static) in_turn run_static ;;
	schemes)
		if build_once programs programs; then in_turn run_schemes; else report schemes 0 1 "$SECONDS"; fi
		run_job debian-6.12 schemes 600 ;;
	schemes-all) run_job debian-6.12 schemes 5400 -a CALLOUT_TESTS=all ;;
	kunit)
		run_job kunit kunit 600
		# The part with the locks, on a kernel that looks at how they are used and at every access.
		run_job debug kunit 600 -a "CALLOUT_SETS=tick_source=jiffies kunit.filter_glob=callout_[bcmrt]*[!s]"
		run_job debug misuse 300 -a CALLOUT_LAST=drain_own ;;
	late) run_job kunit late 300 -i ;;
	selftests)
		run_job debian-6.1 selftests 600 -a "CALLOUT_SETS=tick_source=hrtimer+hz=10000"
		run_job debian-6.12 selftests 600 -a CALLOUT_SETS=tick_source=jiffies
		run_job debian-6.12-rt selftests 600 -a "CALLOUT_SETS=tick_source=hrtimer+hz=10000" ;;
	tools)
		run_job debian-6.1 tools 300
		run_job debian-6.12 tools 300 ;;
	load)
		run_job debian-6.1 load 120
		run_job debian-6.12 load 120 ;;
	client)
		run_job debian-6.1 client 120
		run_job debian-6.12 client 120
		run_job debian-6.12-rt client 120
		run_job debug client 300
		run_job debian-6.12-rt inversion 120 ;;
	hotplug)
		run_job debian-6.12 hotplug 600
		run_job debian-6.12 nohz 120 -a "nohz_full=2,3 isolcpus=domain,0,1" ;;
	old-hotplug) run_job oldhp hotplug 600 -a CALLOUT_SETS=tick_source=jiffies ;;
	torture) run_job debian-6.12 torture 200 -a "TORTURE_SECONDS=20 TORTURE_RACED=500" ;;
	debug)
		run_job debug kunit 1800
		run_job debug selftests 1800
		run_job debug load 900
		run_job debug nohz 300 -a nohz_full=2,3
		run_job debug unload 1200
		run_job debug misuse 300 ;;
	*)
		echo "check.sh: there is no check $check" >&2
		echo "0 1" >> "$results" ;;
	esac
done
while [ $running -gt 0 ]; do
	wait_for_one
done
[ -s "$results" ] || { echo "check.sh: nothing was checked" >&2; echo "0 1" >> "$results"; }
awk '{ passed += $1; failed += $2 } END { print passed " passed, " failed " failed"; exit failed > 0 }' "$results"
