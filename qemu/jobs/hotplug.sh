#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: CPUs come and go under load, with each tick source.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

limit=400
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	run /bin/hotplug_storm "$parameters"
	cat /sys/kernel/debug/callout/bases
	rmmod callout || wrong "the module did not unload"
done
finish
