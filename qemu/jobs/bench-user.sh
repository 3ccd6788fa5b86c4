#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: instructions and memory of the device and of its alternatives, for scripts/bench-user.sh. For
# boot.sh -i.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

high_resolution
# The kernel's watchdogs would be counted too.
echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
echo 0 > /proc/sys/kernel/watchdog
echo 0 > /proc/sys/kernel/hung_task_timeout_secs
watchdog=/sys/module/workqueue/parameters/watchdog_thresh
[ ! -e $watchdog ] || echo 0 > $watchdog
insmod /lib/callout.ko
insmod /lib/callout_probe.ko
user_bench irqsoff
rmmod callout_probe
rmmod callout
user_bench memory /lib/callout.ko
user_bench insns
user_late
rmmod callout
# Four programs succeeded; bench-user.sh judges their output.
echo 4 > /run/passed
