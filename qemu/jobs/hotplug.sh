#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: CPUs are unplugged and plugged under load, with each tick source, and with one base.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# With one base for all CPUs CPU 0 drives its tick, also of a class that CPU 1 has added, and stays
# online where other machines than these let it go.
driven_by_cpu_0() {
	[ "$(awk '$NF == 1 { print $1; exit }' /sys/kernel/debug/callout/bases)" = 0 ] || return
	[ ! -e /sys/devices/system/cpu/cpu0/online ] ||
		! echo 0 > /sys/devices/system/cpu/cpu0/online
}

# The device works on a CPU that was down when its class was added.
class_without_cpu() {
	echo 0 > /sys/devices/system/cpu/cpu3/online
	taskset 2 calloutctl info
	echo 1 > /sys/devices/system/cpu/cpu3/online
	taskset 8 calloutctl demo -n 1000 -t 1s
}

sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" "bases=single" > /tmp/sets
while read -r parameters <&3; do
	# shellcheck disable=SC2086 # one parameter or several
	taskset 2 insmod /lib/callout.ko $parameters
	check "a class is added while CPU 3 is down" class_without_cpu
	run /bin/hotplug_storm "$parameters"
	cat /sys/kernel/debug/callout/bases
	case $parameters in
	*single*)
		check "CPU 0 drives the tick" driven_by_cpu_0 ;;
	esac
	rmmod callout || wrong "the module did not unload"
done 3< /tmp/sets
finish
