#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the laboratory's measurements of every scheme in nanoseconds, for lab.sh. For uml.sh.

# shellcheck source=qemu/memory.sh
. /lib/memory.sh

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

hold_memory lab-memory "" callout 0 1000 10000 100000 1000000
for facility in handle timer_list hrtimer; do
	hold_memory lab-memory "" $facility 1000 10000 100000 1000000
done
