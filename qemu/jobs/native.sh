#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the laboratory's measurements of every scheme in nanoseconds, for lab.sh. For uml.sh.

# shellcheck source=qemu/memory.sh
. /lib/memory.sh

# memory FACILITY N...: of the module with nothing set, and of N timers. What is freed or made later
# has been after a second.
memory() {
	facility=$1
	shift
	for n in "$@"; do
		before=$(free_pages)
		insmod /lib/callout.ko
		sleep 1
		loaded=$(bytes_since "$before")
		insmod /lib/callout_lab.ko part=memory
		before=$(free_pages)
		echo "$facility $n" > /sys/module/callout_lab/parameters/hold
		sleep 1
		taken=$(bytes_since "$before")
		[ "$n" != 0 ] || taken=$loaded
		echo "lab-memory: $facility,$n,$taken" > /dev/kmsg
		echo "$facility 0" > /sys/module/callout_lab/parameters/hold
		rmmod callout_lab
		rmmod callout
	done
}

# Figure 9 in time, as the paper has it.
for scheme in sorted_list hashed_wheel; do
	insmod /lib/callout.ko scheme=$scheme
	insmod /lib/callout_lab.ko part=fig9 name=$scheme
	rmmod callout_lab
	rmmod callout
done

insmod /lib/callout.ko
for part in native buckets facilities; do
	insmod /lib/callout_lab.ko part=$part
	rmmod callout_lab
done
rmmod callout

memory callout 0 1000 10000 100000 1000000
for facility in handle timer_list hrtimer; do
	memory $facility 1000 10000 100000 1000000
done
