#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: CPUs are unplugged and plugged under load, with each tick source, and with one base.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# The CPU whose tick drives the first base: a single base begins on CPU 1, where it is loaded.
driver() {
	sed -n '2s/ .*//p' /sys/kernel/debug/callout/bases
}

sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" "bases=single" > /tmp/sets
while read -r parameters <&3; do
	# shellcheck disable=SC2086 # one parameter or several
	taskset 2 insmod /lib/callout.ko $parameters
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
