#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: CPUs are unplugged and plugged under load, with each tick source, and with one base.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# The CPU whose tick drives the base of the device's first class. With one base for all CPUs it
# begins on CPU 1, where the class is added.
driver() {
	awk '$NF == 1 { print $1; exit }' /sys/kernel/debug/callout/bases
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
	driver=$(driver)
	run /bin/hotplug_storm "$parameters"
	cat /sys/kernel/debug/callout/bases
	case $parameters in
	*single*)
		check "the tick has left CPU $driver, which was unplugged" \
			[ "$driver" = 1 -a "$(driver)" != 1 ] ;;
	esac
	rmmod callout || wrong "the module did not unload"
done 3< /tmp/sets
finish
