#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: no priority inversion: on PREEMPT_RT a thread that waits for the handler of a callout, or of
# one of Linux's timers, boosts it, and handlers stay in the thread of Linux's timers, with each
# tick source.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

not_in_log() { ! dmesg | grep "$1"; }

for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	load_module
	dmesg -c > /dev/null
	check "no priority inversion" with_fifo 80 insmod /lib/callout_inversion.ko
	# A hog has preempted some for half a second.
	check "no preempted handler is named" not_in_log "took more than"
	dmesg | sed -n 's/.*\(callout_inversion: .*\)/# \1/p'
	rmmod callout_inversion || :
	rmmod callout
done
finish
