#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: how late a callout is at each distance up to an hour, and how often the idle CPU is woken for it. For boot.sh -i.

passed=0
failed=0
: > /tmp/table

# judge NAME LIMIT: each range of distances is a test, which fails if one of it was early or late, or woke more often.
judge() {
	dmesg | sed -n 's/.*late: \([0-9]*,[0-9,]*\)$/\1/p' | tr , ' ' > /tmp/ranges
	while read -r from to trials early latest wakeups; do
		what="$1: distances $from to $to"
		limit=$2
		if [ "$to" = 0 ]; then
			what="$1: an hour with nothing set"
			limit=0
		fi
		if [ "$trials" -gt 0 ] && [ "$early" = 0 ] && [ "$latest" = 0 ] && [ "$wakeups" -le "$limit" ]; then
			passed=$((passed + 1))
			echo "ok $((passed + failed)) $what"
		else
			failed=$((failed + 1))
			echo "not ok $((passed + failed)) $what: $early early, $latest ticks late, $wakeups wake-ups"
			echo "$what" >> /run/reason
		fi
		printf '%-16s %8d - %8d %6d %6d %6d %6d\n' \
			"$1" "$from" "$to" "$trials" "$early" "$latest" "$wakeups" >> /tmp/table
	done < /tmp/ranges
	if [ ! -s /tmp/ranges ]; then
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $1: nothing in the log"
		echo "$1: nothing in the log" >> /run/reason
	fi
}

# try NAME WAKE-UPS "PARAMETERS OF callout_late.ko" [PARAMETERS OF callout.ko]
try() {
	name=$1
	limit=$2
	late=$3
	shift 3
	dmesg -c > /dev/null
	insmod /lib/callout.ko "$@"
	# shellcheck disable=SC2086 # several or none
	if insmod /lib/callout_late.ko $late; then
		rmmod callout_late
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name: every distance"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $name: every distance"
		echo "$name: callout_late.ko gave up" >> /run/reason
	fi
	judge "$name" "$limit"
	dmesg | grep 'late: distance' || :
	rmmod callout
}

# Until the TSC is calibrated there is no high resolution.
sleep 2
if ! grep -q 'hres_active *: 1' /proc/timer_list; then
	echo "no high resolution timers" | tee /run/reason
	exit 1
fi

# No timers of the kernel's that only look whether it still lives.
echo 0 > /proc/sys/kernel/watchdog
echo 0 > /proc/sys/kernel/hung_task_timeout_secs
echo 0 > /sys/module/workqueue/parameters/watchdog_thresh

# The kernel's wheel has 9 levels.
try jiffies 9 ""
try hrtimer 1 "" tick_source=hrtimer
try "hrtimer hz=10000" 1 hz=10000 tick_source=hrtimer hz=10000

echo "1..$((passed + failed))"
printf '\n%-16s %19s %6s %6s %6s %6s\n' "source" "distance in ticks" trials early late wakes
cat /tmp/table
echo $passed > /run/passed
echo $failed > /run/failed
[ $failed -eq 0 ]
