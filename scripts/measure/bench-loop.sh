#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts what the idle timeouts of 100 000 connections cost an event loop: instructions and system
# calls, with the timers of libev and of libuv, with a timerfd each, and with libcallout, on one
# timerfd ("wheel") and on the device.
#
#   scripts/measure/bench-loop.sh [KERNEL]
#
# One boot of KERNEL, by default the KUnit kernel, in which time goes by instructions. Writes
# build/bench/loop.csv and prints it, with the targets. Fails only if a measurement is missing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
file=$build/bench/loop.csv
kernel=${1:-bench}

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "${file%/*}"
echo "bench-loop.sh: building and counting: some minutes"
logged bench-loop-build scripts/build.sh "$kernel"
logged bench-loop-build make --no-print-directory -C selftests O="$build/user" loop
logged_boot bench-loop -i -t 900 "$kernel" bench-loop
csv "$file" loop,metric,value "$log/$kernel-bench-loop.out" bench-loop

for loop in libev libuv timerfd wheel callout; do
	for metric in insns_activity syscalls_activity insns_expiry syscalls_expiry; do
		want "$file" "$loop,$metric"
	done
done

awk -f scripts/measure/bench/judge.awk -f scripts/measure/bench/loop.awk "$file"
printf '\nwritten to %s\n' "$file"
