#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads the KUnit suites, which run as they load, with each tick source, and reports their results as KTAP.

results=/tmp/results

for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	echo "# $parameters"
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	insmod /lib/callout_kunit.ko
	cat /sys/kernel/debug/kunit/*/results || :
	rmmod callout_kunit
	rmmod callout
done > $results
cat $results
awk -v why=/run/reason -f /lib/ktap.awk $results > /tmp/counts
read -r passed failed < /tmp/counts
echo "$passed" > /run/passed
echo "$failed" > /run/failed
[ "$passed" -gt 0 ] || { echo "no test ran" > /run/reason; exit 1; }
[ "$failed" -eq 0 ]
