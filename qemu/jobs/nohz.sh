#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: a callout that is set on an isolated CPU (nohz_full=2,3) is queued and fires on a
# housekeeping CPU. With KUnit, also a callout that is prepared there by preemptible code.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# base CPU COLUMN: in /sys/kernel/debug/callout/bases, by its heading, the sum of all classes
base() {
	awk -v cpu="$1" -v name="$2" '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
	$1 == cpu { sum += $column }
	END { print sum + 0 }' /sys/kernel/debug/callout/bases
}

# passes SUITE CASE: its status is the case's; check takes no notice of set -e. What a skipped case
# says does not end with the suite's name.
passes() {
	printf %s "$1.$2" > /sys/module/kunit/parameters/filter_glob
	load_kunit || return
	cat /sys/kernel/debug/kunit/"$1"/results > /tmp/results
	unload_kunit
	cat /tmp/results
	grep -qx "ok [0-9]* $1" /tmp/results
}

grep -q nohz_full=2,3 /proc/cmdline
cat /sys/devices/system/cpu/nohz_full
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	load_module
	for cpu in 0 2 3; do
		check "demo on CPU $cpu" taskset $((1 << cpu)) calloutctl demo -n 1000 -t 1s
	done
	cat /sys/kernel/debug/callout/bases
	check "CPUs 0 and 1 did the work" [ $(($(base 0 handlers) + $(base 1 handlers))) -gt 1000 ]
	check "CPU 2 ran none" [ "$(base 2 handlers)" -eq 0 ]
	check "CPU 3 ran none" [ "$(base 3 handlers)" -eq 0 ]
	check "CPU 2 was not woken" [ "$(base 2 wakeups)" -eq 0 ]
	if [ -e /lib/callout_kunit.ko ]; then
		check "prepared on each CPU" passes callout_smp smp_init_home
		check "a timer is set on each CPU" passes callout_timer timer_set_anywhere
	fi
	# CPU 2 unplugs CPU 1, as it must where tasks are kept off CPUs 0 and 1.
	taskset 2 calloutctl demo -n 2000 -t 600s > /tmp/demo 2>&1 &
	demo=$!
	while [ "$(base 1 pending)" -lt 1000 ]; do sleep 0.1; done
	taskset 4 sh -c 'echo 0 > /sys/devices/system/cpu/cpu1/online'
	check "CPU 0 has what CPU 1 had" [ "$(base 0 pending)" -ge 1000 ]
	check "CPU 2 has none" [ "$(base 2 pending)" -eq 0 ]
	echo 1 > /sys/devices/system/cpu/cpu1/online
	kill "$demo"
	wait "$demo" || :
	rmmod callout
done
finish
