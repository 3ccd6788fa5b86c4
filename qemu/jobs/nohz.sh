#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: what is set on a CPU that is to run undisturbed (nohz_full=2,3) waits and fires on one that is not.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# base CPU COLUMN: of /sys/kernel/debug/callout/bases, by its heading
base() {
	awk -v cpu="$1" -v name="$2" '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
	$1 == cpu { print $column }' /sys/kernel/debug/callout/bases
}

grep -q nohz_full=2,3 /proc/cmdline
cat /sys/devices/system/cpu/nohz_full
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	for cpu in 0 2 3; do
		check "demo on CPU $cpu" taskset $((1 << cpu)) calloutctl demo -n 1000 -t 1s
	done
	cat /sys/kernel/debug/callout/bases
	check "CPUs 0 and 1 did the work" [ $(($(base 0 handlers) + $(base 1 handlers))) -gt 1000 ]
	check "CPU 2 ran none" [ "$(base 2 handlers)" -eq 0 ]
	check "CPU 3 ran none" [ "$(base 3 handlers)" -eq 0 ]
	check "CPU 2 was not woken" [ "$(base 2 wakeups)" -eq 0 ]
	rmmod callout
done
echo "1..$((passed + failed))"
finish
