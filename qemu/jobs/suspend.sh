#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the machine is suspended, and callouts in alarm clocks wake it.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

cat /sys/class/rtc/rtc0/name /sys/power/state /sys/power/mem_sleep
load_module
run /bin/suspend_alarm
rmmod callout || wrong "the module did not unload"
finish
