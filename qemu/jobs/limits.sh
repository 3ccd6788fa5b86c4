#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: takes LIMITS_SECONDS, and prints a line each second if LIMITS=prints; with LIMITS=alarms the
# console has a NUL and then an alarm. With LIMITS=own, runs what was added instead. For
# scripts/check/limits.sh.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# shellcheck disable=SC2034 # for check
parameters=${LIMITS:-silent}
if [ "$parameters" = alarms ]; then
	printf '\0' > /dev/console
	echo "WARNING: none" > /dev/kmsg
fi
if [ "$parameters" = own ]; then
	check "the program that was added" mine
	check "the module that was added, and not an earlier build's" \
		test -e /lib/mine.ko -a ! -e /lib/earlier.ko
	finish
	exit
fi
for i in $(seq "${LIMITS_SECONDS:-60}"); do
	sleep 1
	[ "${LIMITS:-}" != prints ] || echo "# $i"
done
check "the time is over" true
finish
