#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the instructions of each operation, counted by callout_bench.ko, for scripts/bench.sh. For
# boot.sh -i.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

[ "${BENCH:-}" ] || high_resolution
# The module makes jiffies leap, which looks like a stall to the kernel's watchdogs.
echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
watchdog=/sys/module/workqueue/parameters/watchdog_thresh
[ ! -e $watchdog ] || echo 0 > $watchdog
insmod /lib/callout.ko
# Every CPU has its base now. Only one stays online, so that no other work is counted.
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
	[ ! -e "$cpu" ] || echo 0 > "$cpu"
done
dmesg -c > /dev/null
# shellcheck disable=SC2086 # one parameter or none
insmod /lib/callout_bench.ko ${BENCH:-}
dmesg | sed -n 's/^.*\(bench-[a-z]*: .*\)/\1/p'
rmmod callout_bench
rmmod callout
dmesg | grep -c 'bench-[a-z]*: .*,' > /run/passed
