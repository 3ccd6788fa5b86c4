#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts what the idle timeouts of 100 000 connections cost an event loop: instructions and system
# calls, with the timers of libev and of libuv, with a timerfd each, and with libcallout, on one
# timerfd ("wheel") and on the device.
#
#   scripts/measure/bench-loop.sh [KERNEL]
#
# One boot of KERNEL, by default the KUnit kernel, in which time goes by instructions. Writes
# build/bench/loop.csv and prints it, with the targets.
#
# Then compares the timers alone, of libev, of libuv, of a 4-ary heap and of libcallout, when their
# times differ: in the same boot by instructions, and on this machine in nanoseconds, each the
# least of three runs. Writes build/bench/mixed.csv and prints it, with the targets.
#
# Fails only if a measurement is missing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
file=$build/bench/loop.csv
mixed=$build/bench/mixed.csv
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

{
	echo "unit,loop,timers,metric,value"
	rows "$log/$kernel-bench-loop.out" bench-mixed | sed 's/^/insns,/'
	for _ in 1 2 3; do
		"$build/user/loop_mixed"
	done > "$log/bench-mixed.out"
	rows "$log/bench-mixed.out" bench-mixed | sed 's/^/ns,/' | sort -t, -k 1,4 -k 5n |
		awk -F, '!seen[$1, $2, $3, $4]++'
} > "$mixed"
for loop in libev libuv heap callout; do
	for timers in 4096 65536 1048576; do
		for metric in arm pair expiry; do
			want "$mixed" "insns,$loop,$timers,$metric"
			want "$mixed" "ns,$loop,$timers,$metric"
		done
	done
done
awk -f scripts/measure/bench/judge.awk -f scripts/measure/bench/mixed.awk "$mixed"
printf '\nwritten to %s and %s\n' "$file" "$mixed"
