# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# Counts timers that expire, by function, Linux's and callouts apart, as their tracepoints tell.

events=/sys/kernel/tracing/events
linux_expiry=$events/timer/timer_expire_entry
callout_expiry=$events/callout/callout_expire_entry
histogram='hist:keys=function.sym:size=4096'

# count_expired: from now on
count_expired() {
	echo "$histogram" > $linux_expiry/trigger
	[ ! -e $callout_expiry ] || echo "$histogram" > $callout_expiry/trigger
}

# count_no_more: the event of a module that goes has to be free.
count_no_more() {
	echo "!$histogram" >> $linux_expiry/trigger
	[ ! -e $callout_expiry ] || echo "!$histogram" >> $callout_expiry/trigger
}

clear_expired() {
	echo "$histogram:clear" >> $linux_expiry/trigger
	[ ! -e $callout_expiry ] || echo "$histogram:clear" >> $callout_expiry/trigger
}

# expiries EVENT PATTERN: how many, of functions of that name
expiries() {
	[ -e "$1" ] || { echo 0; return; }
	awk -v name="^($2)\$" '
		$1 == "{" && $2 == "function:" && $4 ~ name { n += $NF }
		END { print n + 0 }' "$1/hist"
}

# expired FUNCTION LEAST [MOST]: from LEAST to MOST, LEAST by default, of the timers that are
# tested, and none of the other kind
expired() {
	most=${3:-$2}
	case $timers in
	linux) mine=$linux_expiry; other=$callout_expiry ;;
	callout) mine=$callout_expiry; other=$linux_expiry ;;
	esac
	count=$(expiries "$mine" "$1")
	others=$(expiries "$other" "$1")
	echo "# $1: $count expired, $others of the other kind"
	[ "$count" -ge "$2" ] && [ "$count" -le "$most" ] && [ "$others" -eq 0 ]
}
