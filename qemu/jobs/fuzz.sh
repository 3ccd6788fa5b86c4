#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: fuzzes /dev/callout, and prints which code of the module has run, if it was built to tell.
#
# From the kernel's command line: FUZZ_ARGUMENTS of /bin/fuzz, with + for a blank. /lib/fuzz has the
# corpus, and the programs to run again.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

cover=/sys/module/callout/parameters/cover

# The addresses that were reached, and where the module's code is.
print_cover() {
	for section in /sys/module/callout/sections/.text*; do
		echo "fuzz: section ${section##*/} $(cat "$section")"
	done
	for _ in 1 2; do
		while address=$(cat $cover) && [ "$address" ]; do
			echo "$address"
		done
	done | sed 's/^/fuzz: reached /'
}

# What unprivileged processes need to open it, and to let a copy stall.
load_module
chmod 666 /dev/callout
uffd=/proc/sys/vm/unprivileged_userfaultfd
[ ! -e $uffd ] || echo 1 > $uffd
echo 1 > /sys/kernel/rcu_expedited
watch_races

# shellcheck disable=SC2046 # several
if fuzz $(echo "${FUZZ_ARGUMENTS:-}" | tr + ' '); then
	passed=$((passed + 1))
else
	wrong "the fuzzer reports"
fi
end_races
[ ! -e $cover ] || print_cover
unload_module || wrong "the module did not unload"
finish
