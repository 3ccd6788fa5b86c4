#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: modules and a program that are not of this tree use callout.ko: the order of unloading, the
# report of a callout that is left behind, the tracepoints; the timers of ten thousand TCP
# connections, written as for a BSD; and a client in the manner of each BSD.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

stays() {
	! rmmod callout 2> /tmp/error && grep -q "temporarily unavailable" /tmp/error &&
		[ -d /sys/module/callout ]
}

gone() { [ ! -e /sys/module/callout ] && [ ! -e /dev/callout ]; }
log_says() { dmesg | grep -q "callout: $1"; }
# The host may stop an emulated CPU for milliseconds, also in a handler.
log_is_silent() { ! dmesg | grep "callout: " | grep -v " took "; }

tracing=/sys/kernel/tracing

# event NAME [CONDITION]: how many events there were. In CONDITION f["cpu"] is the field cpu.
event() {
	awk -v name="callout_$1:" '
	{
		for (i = 1; i <= NF && $i != name; i++)
			;
		if (i > NF)
			next
		delete f
		for (; i <= NF; i++) {
			n = index($i, "=")
			if (!n)
				continue
			value = substr($i, n + 1)
			f[substr($i, 1, n - 1)] = value ~ /^-?[0-9]+$/ ? value + 0 : value
		}
	}
	'"${2:-1}"' { count++ }
	END { print count + 0 }' /tmp/trace
}

# traced N EVENT [CONDITION]: N events, or at least N if that ends with +
traced() {
	count=$(event "$2" "${3:-1}")
	case $1 in
	*+) [ "$count" -ge "${1%+}" ] ;;
	*) [ "$count" -eq "$1" ] ;;
	esac || { echo "# $count events callout_$2 with: ${3:-}, not $1"; return 1; }
}

check_unloading() {
	dmesg -c > /dev/null
	check "load a client" insmod /lib/callout_client.ko tick_ns=$tick_ns
	check "stay for a client" stays
	check "unload the client" rmmod callout_client
	exec 3<> /dev/callout
	check "stay for an open file" stays
	exec 3>&-
	check "unload" rmmod callout
	check "nothing left" gone
	check "nothing in the log" log_is_silent
}

check_leftover() {
	insmod /lib/callout_client.ko tick_ns=$tick_ns leave=1
	rmmod callout_client
	dmesg -c > /dev/null
	check "unload with a callout left" rmmod callout
	check "report it" log_says "1 callouts* .*pending"
}

# The client sets callouts for 1, 2, 3 and 4 ticks, and three for an hour, which it cancels.
check_trace() {
	echo > $tracing/trace
	# Otherwise the scheduler is patched too, see boot.sh.
	echo 0 > $tracing/options/record-cmd
	echo 1 > $tracing/events/callout/enable
	insmod /lib/callout_client.ko tick_ns=$tick_ns
	cat $tracing/trace > /tmp/trace
	check "functions have names" traced 7 start 'f["function"] == "ran"'
	rmmod callout_client
	echo 0 > $tracing/events/callout/enable
	cat $tracing/trace > /tmp/trace
	check "trace init" traced 1 init 'f["callout"] != ""'
	# A tick can pass before the trace asks what time it is.
	check "trace start" traced 4 start 'f["timeout"] <= 4 && f["expires"] > 0 && f["cpu"] < 4'
	check "trace start for an hour" \
		traced 3 start 'f["timeout"] > 10000 && f["expires"] > f["timeout"]'
	check "trace cancel" traced 3 cancel
	check "trace expire entry" traced 4 expire_entry
	check "trace none early" \
		traced 4 expire_entry 'f["late"] >= 0 && f["late"] == f["now"] - f["expires"]'
	check "trace expire exit" traced 4 expire_exit
	check "trace tick start" traced 1+ tick_start 'f["cpu"] < 4 && f["tick"] > 0'
	check "trace tick stop" traced 1+ tick_stop 'f["cpu"] < 4'
	[ "$failed" -eq 0 ] || cat /tmp/trace
	echo > $tracing/trace
	insmod /lib/callout_client.ko tick_ns=$tick_ns
	rmmod callout_client
	cat $tracing/trace > /tmp/trace
	check "off is off" traced 0 start
	echo > $tracing/trace
	echo 1 > $tracing/events/callout/enable
	calloutctl set 5ms
	echo 0 > $tracing/events/callout/enable
	cat $tracing/trace > /tmp/trace
	check "trace a file's expire entry" traced 1 expire_entry 'f["kind"] == 3'
	check "trace a file's expire exit" traced 1 expire_exit
}

# The module reports its own failures. On the debug kernel few connections, so that each is busy.
connections=10000
[ "$CALLOUT_KERNEL" != debug ] || connections=100

check_tcp() {
	dmesg -c > /dev/null
	check "$connections TCP connections" \
		insmod /lib/callout_tcp.ko seconds=5 connections=$connections
	dmesg | sed -n 's/.*\(callout_tcp: .*\)/# \1/p'
	check "a verdict" eval 'dmesg | grep -q "callout_tcp: passed, 0 wrong"'
	rmmod callout_tcp || :
}

# insmod tries twice.
log_passed() {
	dmesg | grep -q "callout_$1: passed, 0 wrong" && ! dmesg | grep -q "callout_$1: failed"
}

# Each reports its own failures.
check_bsd() {
	for system in freebsd netbsd openbsd dragonfly; do
		dmesg -c > /dev/null
		check "$system" insmod /lib/callout_$system.ko
		dmesg | sed -n "s/.*\(callout_$system: .*\)/# \1/p"
		check "$system: a verdict" log_passed $system
		rmmod callout_$system || :
	done
}

for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=10000"; do
	tick_ns=0
	[ "$parameters" = "tick_source=jiffies" ] || tick_ns=100000
	load_module
	check "a program built with pkg-config" installed_wait
	check_unloading
	load_module
	check_leftover
	load_module
	check_trace
	check_tcp
	check_bsd
	check "unload after all" rmmod callout
done
echo "1..$((passed + failed))"
finish
