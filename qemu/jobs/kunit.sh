#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: runs the KUnit suites with each tick source and reports their results as KTAP.
#
# All suites, and with other parameters the suites that depend on these; or with boot.sh -a
# CALLOUT_SUITES=RUN the suites of a run in qemu/suites, CALLOUT_ONLY=SUITE,... these; or with
# kunit.filter_glob=GLOB the cases that match.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

results=/tmp/results
glob=/sys/module/kunit/parameters/filter_glob
chosen=$(cat $glob)
[ "$chosen" != "(null)" ] || chosen=

# suites RUN: the names of those in a run
suites() {
	awk -v run="$1" '!/^#/ { for (i = 2; i <= NF; i++) if ($i == run) print $1 }' /lib/suites
}

# selected: what to run with $parameters, names or a pattern
selected() {
	if [ "$chosen" ]; then
		echo "$chosen"
	elif [ "${CALLOUT_ONLY:-}" ]; then
		echo "$CALLOUT_ONLY" | tr , "\n"
	elif [ "${CALLOUT_SUITES:-}" ]; then
		suites "$CALLOUT_SUITES"
	else
		case $parameters in
		tick_source=hrtimer*) suites tick ;;
		scheme=sorted_list) suites search ;;
		*) echo "callout_*" ;;
		esac
	fi
}

# run_suites PATTERN: KUnit runs them when their module is loaded.
run_suites() {
	printf %s "$1" > $glob
	load_kunit
	cat /sys/kernel/debug/kunit/*/results > /tmp/suite || :
	unload_kunit
	cat /tmp/suite
	[ -s /tmp/suite ] || wrong "there is no suite $1"
}

if [ "$chosen${CALLOUT_SUITES:-}${CALLOUT_ONLY:-}" ]; then
	sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" > /tmp/sets
else
	sets "tick_source=jiffies" "tick_source=hrtimer hz=10000" "scheme=sorted_list" > /tmp/sets
fi
while read -r parameters <&3; do
	echo "# $parameters"
	load_module
	selected > /tmp/selected
	[ -s /tmp/selected ] || wrong "no suite is in the run ${CALLOUT_SUITES:-}"
	while read -r suite <&4; do
		run_suites "$suite"
	done 4< /tmp/selected
	rmmod callout
done 3< /tmp/sets > $results
cat $results
awk -v why=/run/reason -f /lib/ktap.awk $results > /tmp/counts
read -r good bad < /tmp/counts
passed=$good
failed=$((failed + bad))
finish
