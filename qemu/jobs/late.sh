#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: how late a callout is at each distance up to an hour, and how often it wakes an idle CPU. For
# boot.sh -i.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

: > /tmp/table

# in_time: none was early or late, and none took more wake-ups than it may
in_time() {
	if [ "$trials" -eq 0 ] || [ "$early" != 0 ] || [ "$latest" != 0 ] ||
	   [ "$wakeups" -gt "$most" ]; then
		echo "# $trials trials, $early early, $latest ticks late, $wakeups wake-ups"
		return 1
	fi
}

# judge WAKE-UPS: each range of distances is a test.
judge() {
	dmesg | sed -n 's/.*late: \([0-9]*,[0-9,]*\)$/\1/p' | tr , ' ' > /tmp/ranges
	check "every range is in the log" [ -s /tmp/ranges ]
	while read -r from to trials early latest wakeups; do
		most=$1
		what="distances $from to $to"
		if [ "$to" = 0 ]; then
			most=0
			what="an hour with nothing set"
		fi
		check "$what" in_time
		printf '%-28s %8d - %8d %6d %6d %6d %6d\n' \
			"$parameters" "$from" "$to" "$trials" "$early" "$latest" "$wakeups" \
			>> /tmp/table
	done < /tmp/ranges
}

# tries PARAMETERS WAKE-UPS [PARAMETERS OF callout_late.ko]
tries() {
	parameters=$1
	wakeups_allowed=$2
	shift 2
	dmesg -c > /dev/null
	load_module
	check "every distance" insmod /lib/callout_late.ko "$@"
	rmmod callout_late || :
	judge "$wakeups_allowed"
	dmesg | grep 'late: distance' || :
	rmmod callout
}

high_resolution

# The kernel's watchdogs have timers, which would be counted.
echo 0 > /proc/sys/kernel/watchdog
echo 0 > /proc/sys/kernel/hung_task_timeout_secs
echo 0 > /sys/module/workqueue/parameters/watchdog_thresh

# design.rst promises at most one hop for each of 8 levels of the kernel's wheel: an hour is within
# their reach.
tries "tick_source=jiffies" 8
tries "tick_source=hrtimer" 1
tries "tick_source=hrtimer hz=10000" 1 hz=10000

printf '\n%-28s %19s %6s %6s %6s %6s\n' "parameters" "distance in ticks" trials early late wakes
cat /tmp/table
finish
