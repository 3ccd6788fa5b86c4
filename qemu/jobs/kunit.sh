#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads the KUnit suites, which run as they load, with each tick source, and reports their results as KTAP.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

results=/tmp/results

sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" > /tmp/sets
while read -r parameters <&3; do
	echo "# $parameters"
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	insmod /lib/callout_kunit.ko
	cat /sys/kernel/debug/kunit/*/results || :
	rmmod callout_kunit
	rmmod callout
done 3< /tmp/sets > $results
cat $results
awk -v why=/run/reason -f /lib/ktap.awk $results > /tmp/counts
read -r passed failed < /tmp/counts
finish
