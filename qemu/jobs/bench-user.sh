#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: instructions and memory of the device beside its alternatives. For boot.sh -i; scripts/bench-user.sh judges.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

high_resolution
# Those who watch for stalls would be counted too.
echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
echo 0 > /proc/sys/kernel/watchdog
echo 0 > /proc/sys/kernel/hung_task_timeout_secs
[ ! -e /sys/module/workqueue/parameters/watchdog_thresh ] || echo 0 > /sys/module/workqueue/parameters/watchdog_thresh
insmod /lib/callout.ko
insmod /lib/callout_probe.ko
user_bench irqsoff
rmmod callout_probe
rmmod callout
user_bench memory /lib/callout.ko
user_bench insns
rmmod callout
# Three programs ran to their end; what they printed is for others to judge.
echo 3 > /run/passed
