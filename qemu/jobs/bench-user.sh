#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: instructions and memory of the device and of its alternatives, for bench-user.sh. For
# boot.sh -i. With BENCH=namespaces only of open() among many user namespaces.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

high_resolution
quiet_watchdogs
insmod /lib/callout.ko
if [ "${BENCH:-}" = namespaces ]; then
	user_namespaces
	unload_module
	echo 1 > /run/passed
	exit
fi
insmod /lib/callout_probe.ko
user_bench irqsoff
rmmod callout_probe
unload_module
user_bench memory /lib/callout.ko
user_bench insns
# Until then the rings of 100 000 commands are taken down.
unload_module
insmod /lib/callout.ko
user_late
unload_module
# Four programs succeeded; bench-user.sh judges their output.
echo 4 > /run/passed
