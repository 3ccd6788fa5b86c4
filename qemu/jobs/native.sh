#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the laboratory's measurements of every scheme in nanoseconds, for scripts/lab.sh. For uml.sh.

# Figure 9 in time, as the paper has it.
for scheme in sorted_list hashed_wheel; do
	insmod /lib/callout.ko scheme=$scheme
	insmod /lib/callout_lab.ko part=fig9 name=$scheme
	rmmod callout_lab
	rmmod callout
done

insmod /lib/callout.ko
for part in native buckets; do
	insmod /lib/callout_lab.ko part=$part
	rmmod callout_lab
done
rmmod callout
