#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads callout_torture.ko with each tick source, waits for its verdict and shows its counters.
#
# From the kernel's command line: TORTURE_SECONDS (20), for both tick sources together;
# TORTURE_RACED, the number of cancels that must race, for which a slow machine takes more rounds;
# TORTURE_PARAMETERS for the module, with commas for spaces.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

seconds=${TORTURE_SECONDS:-20}
raced=0

verdict() { dmesg | grep -qE 'callout-torture: (SUCCESS|FAILURE)'; }
success() { dmesg | grep -q 'callout-torture: SUCCESS'; }

# torture SECONDS: with $parameters. Leaves the number of cancels that raced in $n.
torture() {
	part=$1
	dmesg -c > /dev/null
	load_module
	# shellcheck disable=SC2046 # several
	insmod /lib/callout_torture.ko seconds="$part" $(echo "${TORTURE_PARAMETERS:-}" | tr , ' ')
	watch_races
	for i in $(seq $((part * 9 + 900))); do
		cat /sys/kernel/debug/callout/bases > /dev/null
		! verdict || break
		sleep 1
		[ $((i % 10)) -ne 0 ] || echo "# $i s"
	done
	dmesg | grep 'callout-torture: ' | sed 's/^\[[^]]*\] //'
	check "torture" success
	n=$(dmesg | sed -n 's/.*callout-torture: raced cancels *//p')
	n=${n:-0}
	raced=$((raced + n))
	end_races
	cat /sys/kernel/debug/callout/bases
	check "unload" rmmod callout_torture
	check "unload all" rmmod callout
}

parameters="tick_source=jiffies"
torture $((seconds - seconds * 3 / 4))
parameters="tick_source=hrtimer hz=10000"
torture $((seconds * 3 / 4))
while [ "$raced" -lt "${TORTURE_RACED:-1}" ] && [ "$n" -gt 0 ] && [ "$failed" -eq 0 ]; do
	torture $((seconds * 3 / 4))
done
parameters="$raced of ${TORTURE_RACED:-1}"
check "cancels that raced" [ "$raced" -ge "${TORTURE_RACED:-1}" ]
finish
