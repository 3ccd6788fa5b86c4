#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: modules and a program that are not of this tree use callout.ko: the order of unloading, the
# report of a callout that is left behind, the tracepoints, what is counted by handler and by
# program; the timers of ten thousand TCP connections, written as for a BSD; and a client in the
# manner of each BSD.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# stays [MODULE]: it is in use
stays() {
	! rmmod "${1:-callout}" 2> /tmp/error && grep -q "temporarily unavailable" /tmp/error &&
		[ -d "/sys/module/${1:-callout}" ]
}

gone() { [ ! -e /sys/module/callout ] && [ ! -e /dev/callout ]; }
reports_one() { callouts_left | grep -q "callout: 1 "; }
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
	leaves_callouts
	dmesg -c > /dev/null
	check "unload with a callout left" rmmod callout
	check "report it" reports_one
}

# The client sets callouts for 1, 2, 3 and 4 ticks, one of them for an hour before, and three for an
# hour, which it cancels.
check_trace() {
	echo > $tracing/trace
	# Otherwise the scheduler is patched too, see boot.sh.
	echo 0 > $tracing/options/record-cmd
	echo 1 > $tracing/events/callout/enable
	insmod /lib/callout_client.ko tick_ns=$tick_ns
	cat $tracing/trace > /tmp/trace
	check "functions have names" traced 8 start 'f["function"] == "ran"'
	rmmod callout_client
	echo 0 > $tracing/events/callout/enable
	cat $tracing/trace > /tmp/trace
	check "trace init" traced 1 init 'f["callout"] != ""'
	# A tick can pass before the trace asks what time it is.
	check "trace start" traced 4 start 'f["timeout"] <= 4 && f["expires"] > 0 && f["cpu"] < 4'
	check "trace start for an hour" \
		traced 4 start 'f["timeout"] > 10000 && f["expires"] > f["timeout"]'
	check "trace cancel" traced 3 cancel
	check "trace expire entry" traced 4 expire_entry
	[ $tick_ns -eq 0 ] || check "trace lateness in time" \
		traced 4 expire_entry 'f["late_ns"] == f["late"] * '$tick_ns
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

instances=$tracing/instances
headings() { grep -c "^ *armed" /tmp/top || :; }

# Counts in the background, as /tmp/top shows.
count_begin() {
	calloutctl top --kernel 200ms > /tmp/top &
	counter=$!
	until grep -qs "^hist" $instances/*/events/callout/callout_start/trigger; do
		sleep 0.1
	done
}

# Until the table before the last, which is complete, was begun after now.
table_ends() {
	after=$(($(headings) + 3))
	until [ "$(headings)" -ge $after ]; do
		sleep 0.1
	done
	awk -v last=$((after - 1)) '$1 == "armed" { n++ } n == last && NF' /tmp/top > /tmp/table
}

# counts CONDITION: one line has it. Its fields are the table's, by name.
counts() {
	table_ends
	awk '
	NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i; next }
	{ for (name in place) f[name] = $place[name] }
	'"$1"' { lines++ }
	END { exit lines != 1 }' /tmp/table || { sed 's/^/# /' /tmp/table; return 1; }
}

counts_nothing() { table_ends && [ "$(wc -l < /tmp/table)" -eq 1 ]; }

# Nothing is counted any more, shortly after the program has ended.
instance_goes() {
	for _ in $(seq 100); do
		[ "$(ls $instances)" ] || return 0
		sleep 0.1
	done
	return 1
}

# goes_on SIGNAL: it ends a program that counts, and has printed: on a slow machine not the first
goes_on() {
	for seconds in 5 20 80; do
		timeout -s "$1" $seconds calloutctl top --kernel 100ms > /tmp/top || :
		[ ! -s /tmp/top ] || break
	done
	[ -s /tmp/top ] && instance_goes
}

# The client sets seven callouts, one twice: four run, two it cancels, and one when it is unloaded.
check_top() {
	insmod /lib/callout_client.ko tick_ns=$tick_ns
	count_begin
	check "nothing is counted yet" counts_nothing
	rmmod callout_client
	check "count the end of an earlier one" counts 'f["armed"] == 0 && f["cancelled"] == 1 &&
		f["expired"] == 0 && f["pid"] == "-"'
	kill $counter
	wait $counter || :
	check "a program that is ended counts no more" instance_goes
	count_begin
	insmod /lib/callout_client.ko tick_ns=$tick_ns
	check "count by handler" counts 'f["armed"] == 8 && f["moved"] == 1 &&
		f["cancelled"] == 2 && f["expired"] == 4 && f["pid"] == "-" &&
		f["name"] == "ran" && / ran \[callout_client\]$/'
	rmmod callout_client
	check "count the last cancel" counts 'f["armed"] == 8 && f["moved"] == 1 &&
		f["cancelled"] == 3 && f["expired"] == 4 && f["pid"] == "-"'
	calloutctl set -n 3 10ms > /dev/null &
	pid=$!
	wait $pid
	check "count by program" counts 'f["armed"] == 3 && f["moved"] == 0 &&
		f["cancelled"] == 0 && f["expired"] == 3 && f["pid"] == '$pid' &&
		f["name"] == "calloutctl"'
	printf 'set 1h\nset 1h\nquit\n' | calloutctl shell > /dev/null
	check "count what close() cancels" counts 'f["armed"] == 2 && f["cancelled"] == 2 &&
		f["expired"] == 0'
	calloutctl demo -n 20000 -t 1s > /dev/null
	check "count all of many" counts 'f["armed"] >= 20000 && f["expired"] > 0 &&
		f["cancelled"] + f["expired"] == f["armed"] - f["moved"]'
	check "stay while it counts" stays
	kill -9 $counter
	wait $counter || :
	check "a program that is killed counts no more" instance_goes
	check "so does an interrupted one" goes_on INT
	check "so does one whose terminal is gone" goes_on HUP
}

# The module reports its own failures. On the debug kernel few connections, so that each is busy.
connections=10000
[ "$CALLOUT_KERNEL" != debug ] || connections=100

# Busybox's insmod tries twice: a failure of the first time counts.
log_passed() {
	dmesg | grep -q "callout_$1: passed, 0 wrong" && ! dmesg | grep -qi "callout_$1: failed"
}

check_tcp() {
	dmesg -c > /dev/null
	check "$connections TCP connections" \
		insmod /lib/callout_tcp.ko seconds=5 connections=$connections
	dmesg | sed -n 's/.*\(callout_tcp: .*\)/# \1/p'
	check "a verdict" log_passed tcp
	rmmod callout_tcp || :
}

# Each reports its own failures.
check_bsd() {
	insmod /lib/callout_bsd.ko
	for system in freebsd netbsd openbsd dragonfly; do
		dmesg -c > /dev/null
		check "$system" insmod /lib/callout_$system.ko
		dmesg | sed -n "s/.*\(callout_$system: .*\)/# \1/p"
		check "$system: a verdict" log_passed $system
		rmmod callout_$system || :
	done
	check "callout_bsd.ko is not in use" rmmod callout_bsd
}

# All modules go while handlers run and callouts are pending, one right after the other.
unloads_while_running() {
	load_module && insmod /lib/callout_bsd.ko && insmod /lib/callout_dragonfly.ko runs=1 &&
		stays callout_bsd && stays && rmmod callout_dragonfly callout_bsd callout && gone
}

check_bsd_unloading() {
	dmesg -c > /dev/null
	for i in 1 2 3 4 5 6; do
		check "unload a client, callout_bsd, callout $i" unloads_while_running
	done
	check "nothing in the log of that" log_is_silent
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
	check_top
	check_tcp
	check_bsd
	check "unload after all" rmmod callout
	check_bsd_unloading
done
finish
