#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the machine is suspended, callouts in alarm clocks wake it, and none is lost.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

cat /sys/class/rtc/rtc0/name /sys/power/state /sys/power/mem_sleep
load_module
insmod /lib/callout_pending.ko
run /bin/suspend_alarm
rmmod callout_pending
rmmod callout || wrong "the module did not unload"
finish
