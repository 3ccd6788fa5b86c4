#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: runs every program in /selftests with each tick source, but 32-bit ones with the first only, or with boot.sh -a
# CALLOUT_COMPAT32=no not at all, and reports TAP.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

sources=0
sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" > /tmp/sets
while read -r parameters <&3; do
	load_module
	for test in /selftests/*; do
		# What differs for them are addresses and structures.
		case $test in *_compat32) [ "$sources${CALLOUT_COMPAT32:-}" = 0 ] || continue ;; esac
		[ ! -x "$test" ] || run "$test" "$parameters"
	done
	rmmod callout || wrong "the module did not unload"
	sources=$((sources + 1))
done 3< /tmp/sets
finish
