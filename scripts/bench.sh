#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts the instructions of each operation and of each tick, of callouts and of Linux's own timers.
#
# Boots the KUnit kernel on one CPU, with time that goes by instructions; and Debian's 6.12 on
# several numbers of CPUs, for the cost that must not depend on them, and for the memory of each.
# Writes fig9.csv, tick.csv, stale.csv and memory.csv in build/bench/ and prints them, with the
# targets. Fails only if a measurement is missing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
out=$build/bench
facilities="callout callout_hrtimer callout_lazy handle compat timer_list mod_timer hrtimer"
sources="callout callout_hrtimer timer_list hrtimer hrtimer_soft"
outstanding="0 1000 10000 100000 1000000"
numbers="4 64"

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "$out"
echo "bench.sh: building and counting: some minutes"
for kernel in bench debian-6.12; do
	logged bench-build scripts/build.sh $kernel
done

logged_boot bench -i -t 900 bench bench
csv "$out/fig9.csv" facility,outstanding,insns_per_op "$log/bench-bench.out" bench-ops
csv "$out/tick.csv" facility,metric,outstanding,insns_per_op "$log/bench-bench.out" bench-tick
echo cpus,insns_per_op > "$out/stale.csv"
echo cpus,bytes > "$out/memory.csv"
for cpus in $numbers; do
	logged_boot bench -i -t 900 -c "$cpus" -a BENCH=cpus debian-6.12 bench
	rows "$log/debian-6.12-bench.out" bench-stale >> "$out/stale.csv"
	# The median.
	rows "$log/debian-6.12-bench.out" bench-memory | sort -t , -k 2n | sed -n 8p \
		>> "$out/memory.csv"
done

for n in $outstanding; do
	for facility in $facilities; do
		want "$out/fig9.csv" "$facility,$n"
	done
	want "$out/tick.csv" "none,idle_tick,$n"
	for facility in $sources; do
		want "$out/tick.csv" "$facility,idle_tick,$n"
		want "$out/tick.csv" "$facility,expiry_among,$n"
	done
	for facility in callout timer_list; do
		want "$out/tick.csv" "$facility,jump_hour,$n"
	done
done
for facility in $sources handle compat; do
	want "$out/tick.csv" "$facility,expiry_together,10000"
	want "$out/tick.csv" "$facility,expiry_one_by_one,1"
	want "$out/tick.csv" "$facility,expiry_periodic,1000"
done
for cpus in $numbers; do
	want "$out/stale.csv" "$cpus"
	want "$out/memory.csv" "$cpus"
done

awk -v names="$facilities" -v outstanding="$outstanding" \
	-f scripts/bench/judge.awk -f scripts/bench/ops.awk "$out/fig9.csv"
awk -f scripts/bench/judge.awk -f scripts/bench/tick.awk "$out/tick.csv"
printf '\nInstructions to cancel by a stale handle, by the number of CPUs\n\n'
awk -F , 'NR > 1 { printf "%12d %12d\n", $1, $2 }' "$out/stale.csv"
awk -f scripts/bench/judge.awk -f scripts/bench/memory.awk "$out/memory.csv"
printf '\nwritten to fig9.csv, tick.csv, stale.csv and memory.csv in %s\n' "$out"
