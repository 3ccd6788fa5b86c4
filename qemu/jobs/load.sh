#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: loads and unloads the module several times a round, in CALLOUT_ROUNDS or ten rounds, then
# gives it wrong parameters, which it must refuse with a message.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

loads() {
	dmesg -c > /dev/null
	insmod /lib/callout.ko "$@" && [ -c /dev/callout ] && rmmod callout &&
		[ ! -e /sys/module/callout ] && [ ! -e /dev/callout ] &&
		[ ! -e /sys/kernel/debug/callout ] && ! dmesg | grep "callout.*invalid"
}

load() { check "load and unload $*" loads "$@"; }

# has_slack NS [PARAMETER=VALUE...]: so long is the default slack, as LIST says
has_slack() {
	want=$1
	shift
	insmod /lib/callout.ko "$@" || return
	calloutctl set 1h > /dev/null &
	kept=$!
	until calloutctl list --json $kept 2> /dev/null > /tmp/list && [ -s /tmp/list ]; do
		sleep 0.1
	done
	kill $kept
	wait $kept
	rmmod callout
	grep -q "\"slack_ns\": \"$want\"" /tmp/list || { sed 's/^/# /' /tmp/list; return 1; }
}

slack() { check "default slack $*" has_slack "$@"; }

# has_buckets N [PARAMETER=VALUE...]: each base has N buckets, and sysfs says so
has_buckets() {
	want=$1
	shift
	insmod /lib/callout.ko "$@" || return
	shown=$(cat /sys/module/callout/parameters/buckets)
	found=$(awk 'NR > 1 { print $3 }' /sys/kernel/debug/callout/bases | sort -u)
	rmmod callout
	[ "$shown" = "$want" ] && [ "$found" = "$want" ]
}

# refused PARAMETER=VALUE [OTHERS...]: EINVAL, a line in the log that names module and parameter,
# nothing left behind
refused() {
	dmesg -c > /dev/null
	if insmod /lib/callout.ko "$@" 2> /tmp/error; then
		rmmod callout
		echo "# it was accepted"
	elif ! grep -q "Invalid argument" /tmp/error; then
		sed 's/^/# /' /tmp/error
	elif ! dmesg | grep callout | grep -q "${1%%=*}"; then
		echo "# no line in the log names it"
	elif [ -e /sys/module/callout ] || [ -e /dev/callout ]; then
		echo "# something stayed behind"
	else
		return 0
	fi
	return 1
}

refuse() { check "refuse $*" refused "$@"; }

# offered WORD PARAMETER: a line in the log that names the parameter has the word
offered() { dmesg | grep callout | grep "$2=" | grep -qw -e "$1"; }

# choices "WORD..." PARAMETER=VALUE [OTHERS...]: refused, and the log offers each word
choices() {
	words=$1
	shift
	refuse "$@"
	for word in $words; do
		check "refuse $*: the log offers $word" offered "$word" "${1%%=*}"
	done
}

# logged MESSAGE: a line of the module's in the log matches the pattern
logged() {
	dmesg | sed -n 's/^\(\[.*\] \)\{0,1\}callout: //p' > /tmp/said
	grep -qxE -e "$1" /tmp/said || { sed 's/^/# /' /tmp/said; return 1; }
}

# says MESSAGE PARAMETER=VALUE [OTHERS...]: refused, and the log has this line
says() {
	message=$1
	shift
	refuse "$@"
	check "refuse $*: $message" logged "$message"
}

# write_refused PARAMETER VALUE: EINVAL for a parameter of the loaded module
write_refused() {
	dmesg -c > /dev/null
	insmod /lib/callout.ko || return
	! echo "$2" > "/sys/module/callout/parameters/$1" 2> /tmp/error
	refusal=$?
	rmmod callout
	[ $refusal -eq 0 ] && grep -q "Invalid argument" /tmp/error
}

insmod /lib/callout.ko
lab=
[ ! -e /sys/module/callout/parameters/scheme ] || lab=yes
rmmod callout
sources="jiffies or hrtimer"
[ ! "$lab" ] || sources="jiffies, hrtimer, chip_busy or chip_full"

i=0
while [ $i -lt "${CALLOUT_ROUNDS:-10}" ]; do
	load
	load buckets=0
	load buckets=4
	load buckets=256
	load buckets=16384
	load tick_source=jiffies
	load tick_source=hrtimer hz=10000
	if [ "$lab" ]; then
		load scheme=hashed_wheel tick_source=jiffies
		load tick_source=chip_busy buckets=64
		load bases=single
	fi
	i=$((i + 1))
done
check "256 buckets" has_buckets 256 buckets=256
for wrong in buckets=3 buckets=1 buckets=2 buckets=-1 buckets=2097152 buckets=many buckets=; do
	says "$wrong: neither 0 nor a power of two from 4 to 1048576" "$wrong"
done
for wrong in tick_source=nonsense tick_source= tick_source=chip; do
	says "$wrong: unknown; use $sources" "$wrong"
done
# 2^20 buckets would take a gigabyte here: the number is read, and another parameter is refused.
says "tick_source=nonsense: unknown; use $sources" tick_source=nonsense buckets=1048576
# No kernel has these rates.
jiffies="jiffies ticks [0-9]+ times a second; for another hz use tick_source=hrtimer"
says "hz=99: $jiffies" hz=99
says "hz=1001: $jiffies" hz=1001 tick_source=jiffies
load "hz=$(dmesg | sed -n 's/.*jiffies ticks \([0-9]*\) times.*/\1/p' | head -n 1)"
refuse hz=-1 tick_source=hrtimer
says "hz=1000001: at most 1000000" hz=1000001 tick_source=hrtimer
load hz=1000000 tick_source=hrtimer
load hz=1 tick_source=hrtimer
load hz=0 tick_source=hrtimer
for rate in 0 1 1000000; do
	load device_hz=$rate
done
says "device_hz=1000001: at most 1000000" device_hz=1000001
refuse device_hz=-1
slack 100000
slack 4000 slack_ns=0
slack 4000 slack_ns=1
slack 8000 slack_ns=11999
slack 4294964000 slack_ns=4294967295
slack 4000000 device_hz=250
refuse slack_ns=-1
for limit in max_callouts max_per_file max_per_user; do
	for wrong in 0 10000001 -1 many; do
		says "$limit=$wrong: not from 1 to 10000000" $limit=$wrong
	done
	load $limit=10000000
	load $limit=1
done
for limit in max_per_file max_per_user; do
	check "$limit: refuse 0 when loaded" write_refused $limit 0
	check "$limit: refuse 0 when loaded: the log says so" \
		logged "$limit=0: not from 1 to 10000000"
done

# With CONFIG_CALLOUT_LAB only.
laboratory() {
	for wrong in scheme=nonsense scheme= scheme=hashed; do
		choices hashed_wheel "$wrong"
	done
	choices "hashed_wheel tree lawn calendar_queue" scheme=none
	choices none variant=nonsense
	choices "migrate no_migration one_migration first_digit" variant=nonsense \
		scheme=hierarchical_wheel
	choices "head rear" variant=hear scheme=sorted_list
	load scheme=sorted_list variant=rear
	load scheme=hierarchical_wheel levels=60,60,24,100
	load scheme=hierarchical_wheel variant=no_migration levels=8,8,8
	choices "16 2 16384 first_digit" levels=60,1 scheme=hierarchical_wheel
	choices first_digit levels=16,16 scheme=hierarchical_wheel variant=first_digit
	choices "hashed_wheel timing_wheel" buckets=64 scheme=tree
	choices hierarchical_wheel levels=64,64 scheme=hashed_wheel
	for wrong in bases=nonsense bases= bases=singles; do
		choices "percpu single" "$wrong"
	done
	says "hz=2000000: at most 1000000" hz=2000000 tick_source=chip_full
	load tick_source=chip_full hz=1000 bases=single
}
if [ "$lab" ]; then
	laboratory
else
	for parameter in scheme=tree scheme=hashed_wheel variant=head levels=64,64 bases=single; do
		says "$parameter: built without CONFIG_CALLOUT_LAB" $parameter
	done
fi
load
finish
