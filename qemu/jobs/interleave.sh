#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: walks the pairs of points that a load passes, see module/probe/point.c, while that runs again
# and again, and fails if the load fails. A load is the torture, a suite of KUnit, a test program of
# the device, or NAME.CASE of one of the latter two.
#
# From the kernel's command line: INTERLEAVE, the loads, with + between them; INTERLEAVE_MS, for
# each pair (10); INTERLEAVE_TURNS, the most times that a load runs (40). If INTERLEAVE is not
# given, each point must have been passed. With INTERLEAVE_MS=0 no CPU waits: the loads run
# INTERLEAVE_TURNS times, the torture so many minutes, for comparison. First a load of the module
# fails, last it is unloaded while walks begin.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

points=/sys/module/callout/parameters/points
ms=${INTERLEAVE_MS:-10}
turns=${INTERLEAVE_TURNS:-40}
loads=torture+callout_stress+callout_timer_stress+callout_litmus+callout_litmus_file
loads=$loads+callout_shutdown.shutdown_stress+callout_hash_smp+callout_grow
loads=$loads+callout_reset.reset_against_untimeout+device_cancel.untimeout_races_reset
loads=$loads+device_realtime.set_during_a_step+device_key+device_deliver+device_stress

# All pairs have had their turn, and for some seconds no point has been new.
walked() {
	[ "$ms" -gt 0 ] || return
	for _ in 1 2 3 4; do
		grep -q ^done $points || return
		sleep 1
	done
}

# One turn: how long that takes is up to the walk.
torture() {
	dmesg -c > /dev/null
	insmod /lib/callout_torture.ko callouts=4 irqs_off=0
	i=0
	until walked || dmesg | grep -q 'callout-torture: error' || [ $i -ge $((turns * 60)) ]; do
		sleep 1
		i=$((i + 1))
	done
	rmmod callout_torture
	turn=$turns
	dmesg | grep 'callout-torture: ' | sed 's/^\[[^]]*\] //'
	dmesg | grep -q 'callout-torture: SUCCESS'
}

suite() {
	printf %s "$1" > /sys/module/kunit/parameters/filter_glob
	load_kunit
	cat "/sys/kernel/debug/kunit/${1%%.*}/results" > /tmp/results
	unload_kunit || return
	! grep -E '^ *not ok' /tmp/results && grep -q "^ok .* ${1%%.*}" /tmp/results
}

program() {
	case $1 in
	*.*) "/selftests/${1%%.*}" -t "${1#*.}" > /tmp/results 2>&1 ;;
	*) "/selftests/$1" > /tmp/results 2>&1 ;;
	esac && grep -q '^ok ' /tmp/results && return
	grep -E '^(not ok|#)' /tmp/results
	return 1
}

one_turn() {
	case $1 in
	torture) torture ;;
	callout_*) suite "$1" ;;
	*) program "$1" ;;
	esac
}

# Turns of a load until the walk is through.
interleave() {
	echo "$ms" > $points
	turn=0
	while [ "$turn" -lt "$turns" ]; do
		turn=$((turn + 1))
		one_turn "$1" || return
		! walked || return 0
	done
}

tell() {
	cat $points > /tmp/points
	read -r word tried met < /tmp/points
	echo "# $1: $word, $tried pairs tried, $met met, $turn turns, $(($(date +%s) - start)) s"
	sed 1d /tmp/points >> /tmp/passed
	echo 0 > $points
}

# Its parameters begin a walk.
load_fails() {
	! insmod /lib/callout.ko points=1 tick_source=none 2> /dev/null &&
		! pidof callout_points
}

# While others begin walks, until the parameter has gone. The last of them has ended by then.
unload_walked() {
	{ while echo 1 > $points; do :; done; } 2> /dev/null &
	unload_module && wait
}

# A CPU must go offline between two critical sections for MOVE_OFFLINE: not in each run.
missed() {
	awk '{ n[$1] += $2 } END { for (p in n) if (!n[p] && p != "MOVE_OFFLINE") print p }' \
		/tmp/passed
}
all_passed() {
	missed | sed 's/^/# not passed: /' > /tmp/missed
	cat /tmp/missed
	[ ! -s /tmp/missed ]
}

: > /tmp/passed
check "a load that fails" load_fails
parameters="tick_source=hrtimer hz=10000"
load_module
for load in $(echo "${INTERLEAVE:-$loads}" | tr + ' '); do
	start=$(date +%s)
	check "$load" interleave "$load"
	tell "$load"
done
awk '{ n[$1] += $2; if ($3 > met[$1]) met[$1] = $3 }
	END { for (p in n) print "# " p ": passed " n[p] ", met " met[p] + 0 " others" }' \
	/tmp/passed | sort
[ "${INTERLEAVE:-}" ] || check "each point is passed" all_passed
check "unload" unload_walked
echo "1..$((passed + failed))"
finish
