#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: runs every program in /selftests with each tick source and reports TAP.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	for test in /selftests/*; do
		[ ! -x "$test" ] || run "$test" "$parameters"
	done
	rmmod callout || wrong "the module did not unload"
done
finish
