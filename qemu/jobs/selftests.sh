#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: runs every program in /selftests with short and with long ticks, 32-bit programs with the
# first only, or not at all with boot.sh -a CALLOUT_COMPAT32=no; with -a CALLOUT_TESTS=a+b only
# these programs. Reports TAP.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

tests() {
	if [ "${CALLOUT_TESTS:-}" ]; then
		echo "/selftests/$CALLOUT_TESTS" | sed 's~+~ /selftests/~g'
	else
		echo /selftests/*
	fi
}

# Without these some tests do nothing. Only x86's machine has an RTC that wakes for sure.
equipped() {
	[ -e /proc/self/ns/time ] || wrong "the kernel has no time namespaces"
	[ "$(uname -m)" != x86_64 ] ||
		grep -qx enabled /sys/class/rtc/*/device/power/wakeup ||
		wrong "no RTC wakes the system"
}

equipped
lengths=0
sets "device_hz=250000" "device_hz=250" > /tmp/sets
while read -r parameters <&3; do
	load_module
	for test in $(tests); do
		# They differ in addresses and structures, which no tick affects.
		case $test in
		*_compat32) [ "$lengths${CALLOUT_COMPAT32:-}" = 0 ] || continue ;;
		esac
		run_silent "$test" "$parameters"
	done
	rmmod callout || wrong "the module did not unload"
	lengths=$((lengths + 1))
done 3< /tmp/sets
finish
