#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: tests of the device with each scheme, with one base for all CPUs, and with the timer chips:
# one program, or with boot.sh -a CALLOUT_TESTS=all every program, also with the schemes' other
# variants.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

case ${CALLOUT_TESTS:-some} in
all) tests=$(find /selftests -type f | sort) ;;
*) tests=/selftests/device_cancel ;;
esac

# The module lists its schemes when it is given an unknown one. busybox tries both system calls that
# load a module, so the log has each line twice.
insmod /lib/callout.ko scheme=unknown 2> /dev/null || :
schemes=$(dmesg | sed -n 's/.*callout: \(scheme=[a-z_]*\)$/\1/p' | awk '!seen[$0]++')
[ "$schemes" ] || wrong "the module names no schemes"

# variants SCHEME=...: its other variants, unless they are late by design
variants() {
	dmesg -c > /dev/null
	insmod /lib/callout.ko "$1" variant=unknown 2> /dev/null || :
	dmesg | sed -n 's/.*callout: \(variant=[a-z_]*\)$/\1/p' | awk '!seen[$0]++' | tail -n +2 |
		grep -v _migration | sed "s/^/$1 /"
}

# Only with the wheel, and bases for each user, does a burst of one not delay another. And to search
# a million entries at each tick takes hours.
skipped() {
	case "${1##*/} $2" in
	device_turns*) ;;
	device_million*scheme=unsorted_list*) ;;
	*) return 1 ;;
	esac
}

[ "${CALLOUT_TESTS:-some}" != all ] || others=$(for scheme in $schemes; do variants "$scheme"; done)
sets "$schemes" ${others:+"$others"} "bases=single" "tick_source=chip_busy hz=1000" \
	"tick_source=chip_full hz=10000" > /tmp/sets
while read -r parameters <&3; do
	load_module || wrong "$parameters: the module does not load"
	for test in $tests; do
		skipped "$test" "$parameters" || run "$test" "$parameters"
	done
	rmmod callout || wrong "the module did not unload"
done 3< /tmp/sets
finish
