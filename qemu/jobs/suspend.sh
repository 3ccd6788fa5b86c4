#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the machine is suspended, callouts in alarm clocks wake it, and none is lost.
#
# From the kernel's command line: SUSPEND_WITHOUT, the levels of pm_test that are left out, with +
# between them.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

cat /sys/class/rtc/rtc0/name /sys/power/state /sys/power/mem_sleep
load_module
insmod /lib/callout_pending.ko
without=$(echo "${SUSPEND_WITHOUT:++$SUSPEND_WITHOUT}" | sed 's/+/ -V /g')
printf '#!/bin/sh\nexec /bin/suspend_alarm%s\n' "$without" > /tmp/suspend_alarm
chmod +x /tmp/suspend_alarm
run /tmp/suspend_alarm
rmmod callout_pending
rmmod callout || wrong "the module did not unload"
finish
