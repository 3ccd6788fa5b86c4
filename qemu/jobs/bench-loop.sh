#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: what idle timeouts cost event loops, for scripts/bench-loop.sh. For boot.sh -i.

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
loop_bench
rmmod callout
# The program succeeded; bench-loop.sh judges its output.
echo 1 > /run/passed
