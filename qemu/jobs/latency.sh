#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: lateness of callouts and of the kernel's timers, idle and under loads, for latency.sh. For
# boot.sh -i. Handlers of both run in softirqs, on PREEMPT_RT in threads of a low real-time
# priority.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# measure LOAD [COMMAND...]: while the command runs
measure() {
	load=$1
	shift
	pid=
	if [ $# -gt 0 ]; then
		"$@" &
		pid=$!
		# By then its callouts are set, or its buffer is full.
		sleep 3
	fi
	check "$load: the latest callout is at most a tick later than the latest timer" \
		insmod /lib/callout_latency.ko load="$load"
	rmmod callout_latency || :
	if [ "$pid" ]; then
		kill "$pid"
		wait "$pid" || :
	fi
}

high_resolution
quiet_watchdogs
ip link set lo up
load_module
measure idle
measure packets user_load packets
measure thread user_load hog
measure fifo with_fifo 50 user_load hog
measure million user_load together
unload_module || wrong "the module did not unload"
dmesg | sed -n 's/.*\(latency: .*\)/\1/p'
finish
