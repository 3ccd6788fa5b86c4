#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads the KUnit suites, which run as they load, with each tick source, and reports their results as KTAP: with the
# second those alone that look at a tick source, with a scheme that is searched the two that search.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

results=/tmp/results

glob=/sys/module/kunit/parameters/filter_glob
filter=$(cat $glob)
case $filter in
''|'(null)')
	filter='callout_*'
	sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" "scheme=sorted_list" > /tmp/sets ;;
*)
	sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" > /tmp/sets ;;
esac
while read -r parameters <&3; do
	echo "# $parameters"
	# shellcheck disable=SC2086 # one or two parameters
	insmod /lib/callout.ko $parameters
	suites=$filter
	case $filter$parameters in
	callout_\*tick_source=hrtimer*) suites="callout_b[as]* callout_[!bw]*" ;;
	callout_\*scheme=sorted_list) suites="callout_compat callout_handle" ;;
	esac
	for suite in $suites; do
		echo "$suite" | tr -d '\n' > $glob
		insmod /lib/callout_kunit.ko
		cat /sys/kernel/debug/kunit/*/results || :
		rmmod callout_kunit
	done
	rmmod callout
done 3< /tmp/sets > $results
cat $results
awk -v why=/run/reason -f /lib/ktap.awk $results > /tmp/counts
read -r passed failed < /tmp/counts
finish
