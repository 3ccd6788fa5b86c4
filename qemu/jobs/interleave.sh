#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: walks the pairs of points that a load passes, see module/probe/point.c, while that runs again
# and again, and fails if the load fails. A load is the torture, a suite of KUnit, a test program of
# the device, or NAME.CASE of one of the latter two.
#
# From the kernel's command line: INTERLEAVE, the loads, with + between them; INTERLEAVE_MS, for
# each pair (10); INTERLEAVE_TURNS, the most times that a load runs (40). If INTERLEAVE is not
# given, the points of point_functions must have been passed. With INTERLEAVE_MS=0 no CPU waits:
# the loads run INTERLEAVE_TURNS times, the torture so many minutes, for comparison. First a load
# of the module fails, last it is unloaded while walks begin.

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

# Functions of the module, each with the number of its points that the loads must pass. Others, as
# where a CPU goes offline between two critical sections, are not passed in each run.
point_functions="co_lock_irqs_off:2 co_lock_home_irqs_off:1 co_move_locked:1 co_leave:1
	co_base_set_online:2 co_base_evacuate:2 co_run_begin:1 co_run_with_lock:3 co_run_end:1
	co_run_end_slow:2 co_end_hold:1 expire:1 co_cancel_wait:1 co_wait_for_handler:2
	callout_barrier:1 co_hash_insert_alone:1 co_hash_find:1 hash_lock:2
	co_hash_remove:2 hash_remove:2 co_hash_grow_some:1 co_hash_grow_end:1 hash_peek:1
	co_hash_take:1 co_hash_take_slow:2 co_unset_hashed:1 co_slot_steal:3 handle_find_change:1
	unsetcallout_sync:2 refill_ask:1 refill:1 co_work_due:1 callout_work_run:3
	callout_work_drain:3 timer_mod:1 timer_cancel:1
	timer_delete_and_wait:1 resize_look:1 resize_move:1 slot_set_times_slow:1 events_expire:2
	events_copy:2 move_keyed:1 co_file_lock_found:1 co_clock_stepped:1 slot_step:1"

all_passed() {
	awk '{ split($1, at, ":") }
		$2 && !seen[$1]++ { n[at[1]]++ }
		END { for (f in n) print f, n[f] }' /tmp/passed > /tmp/functions
	for function in $point_functions; do
		awk -v name="${function%:*}" -v least="${function#*:}" \
			'$1 == name { n = $2 } END { exit n < least }' /tmp/functions ||
			echo "# not passed: $function"
	done > /tmp/missed
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
[ "${INTERLEAVE:-}" ] || check "points are passed" all_passed
check "unload" unload_walked
finish
