#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: unloads the module UNLOADS (200) times while callouts that arm others run on all CPUs, in
# softirq context and in threads, and CPUs have interrupts disabled. The wheels have a fixed size in
# half of the rounds, and grow in the others.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

arm=/sys/module/callout_leftover/parameters/arm
lateness=/sys/kernel/debug/callout/lateness

cycle() {
	load_module
	before=$(cat $arm)
	echo > $arm
	# Until some of them have run.
	while [ "$(cat $arm)" -lt $((before + 100)) ]; do :; done
	# The second column is kernel code's.
	late=$(awk 'NR > 1 { n += $2 } END { print n + 0 }' "$lateness")
	leaves_callouts
	rmmod callout
	after=$(cat $arm)
	usleep 20000
	[ "$(cat $arm)" = "$after" ] && [ "${late:-0}" -gt 0 ]
}

insmod /lib/callout_leftover.ko
for i in $(seq "${UNLOADS:-200}"); do
	parameters="tick_source=hrtimer hz=1000"
	[ $((i % 4)) -ne 0 ] || parameters="tick_source=jiffies"
	[ $((i / 4 % 2)) -ne 0 ] || parameters="$parameters buckets=64"
	check "unload $i" cycle
done
cat $arm
rmmod callout_leftover
finish
