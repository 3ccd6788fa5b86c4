#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads and unloads the module sixty times, then offers it wrong parameters, which it must refuse aloud.

passed=0
failed=0

count() {
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$2" >> /run/reason
	fi
	echo "$1 $((passed + failed)) $2"
}

try_load() {
	insmod /lib/callout.ko "$@" && [ -c /dev/callout ] && rmmod callout &&
		[ ! -e /sys/module/callout ] && [ ! -e /dev/callout ]
}

load() {
	if try_load "$@"; then
		count ok "load and unload $*"
	else
		count "not ok" "load and unload $*"
	fi
}

# refuse PARAMETER=VALUE [OTHERS...]: EINVAL, a line in the log that names module and parameter, nothing left behind.
refuse() {
	dmesg -c > /dev/null
	if insmod /lib/callout.ko "$@" 2> /tmp/error; then
		rmmod callout
		count "not ok" "refuse $*: it was accepted"
	elif ! grep -q "Invalid argument" /tmp/error; then
		count "not ok" "refuse $*: $(cat /tmp/error)"
	elif ! dmesg | grep callout | grep -q "${1%%=*}"; then
		count "not ok" "refuse $*: no line in the log names it"
	elif [ -e /sys/module/callout ] || [ -e /dev/callout ]; then
		count "not ok" "refuse $*: something stayed behind"
	else
		count ok "refuse $*"
	fi
}

i=0
while [ $i -lt 10 ]; do
	load
	load buckets=4
	load buckets=256
	load buckets=16384
	load scheme=hashed_wheel tick_source=jiffies
	load tick_source=hrtimer hz=10000
	i=$((i + 1))
done
for wrong in buckets=3 buckets=0 buckets=2 buckets=-1 buckets=2097152 buckets=many \
	     scheme=nonsense scheme= tick_source=nonsense tick_source=; do
	refuse "$wrong"
done
# No kernel ticks so often.
refuse hz=99
refuse hz=1001 tick_source=jiffies
refuse hz=-1 tick_source=hrtimer
refuse hz=1000001 tick_source=hrtimer
refuse hz=2000000 tick_source=hrtimer
load hz=1000000 tick_source=hrtimer
load hz=1 tick_source=hrtimer
load hz=0 tick_source=hrtimer
load
echo "1..$((passed + failed))"
echo $passed > /run/passed
echo $failed > /run/failed
[ $failed -eq 0 ]
