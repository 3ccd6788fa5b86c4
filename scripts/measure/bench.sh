#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts the instructions of each operation and of each tick, of callouts and of Linux's own timers.
#
#   scripts/measure/bench.sh [cpus | KERNEL]
#
# Boots the KUnit kernel on one CPU, with time that goes by instructions; and Debian's 6.12 on
# several numbers of CPUs, for what may cost more on more of them, or with "cpus" only that.
# Writes fig9.csv, tick.csv and cpus.csv in build/bench/ and prints them, with the targets. With
# another kernel, such as bench-unstable, only operations and ticks, in build/bench/KERNEL/. Fails
# only if a measurement is missing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
out=$build/bench
facilities="callout callout_hrtimer callout_lazy handle compat timer_list mod_timer hrtimer"
sources="callout callout_hrtimer timer_list hrtimer hrtimer_soft"
outstanding="0 1000 10000 100000 1000000"
numbers="1 4 16 64 128"
# As in selftests/modules/bench/cpus.c, selftests/bench/user_cpus.c and qemu/jobs/bench.sh.
metrics="set_cancel stale steal_first steal_last exhausted device_set_cancel device_stale info"
metrics="$metrics first_sets open close open_close_free stat load memory"

bench_cpus() {
	local cpus printed=$log/debian-6.12-bench.out

	echo cpus,metric,value > "$out/cpus.csv"
	for cpus in $numbers; do
		logged_boot bench -i -t 900 -c "$cpus" -a BENCH=cpus debian-6.12 bench
		rows "$printed" bench-cpus >> "$out/cpus.csv"
		# The median.
		rows "$printed" bench-memory | sort -t , -k 3n | sed -n 8p >> "$out/cpus.csv"
	done
	for cpus in $numbers; do
		for metric in $metrics; do
			want "$out/cpus.csv" "$cpus,$metric"
		done
	done
	awk -v names="$metrics" -v numbers="$numbers" \
		-f scripts/measure/bench/judge.awk -f scripts/measure/bench/cpus.awk "$out/cpus.csv"
}

bench_operations() {
	local n facility

	logged bench-build scripts/build.sh "$kernel"
	logged_boot bench -i -t 900 "$kernel" bench
	csv "$out/fig9.csv" facility,outstanding,insns_per_op "$log/$kernel-bench.out" bench-ops
	csv "$out/tick.csv" facility,metric,outstanding,insns_per_op "$log/$kernel-bench.out" \
		bench-tick
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
	awk -v names="$facilities" -v outstanding="$outstanding" \
		-f scripts/measure/bench/judge.awk -f scripts/measure/bench/ops.awk "$out/fig9.csv"
	awk -f scripts/measure/bench/judge.awk -f scripts/measure/bench/tick.awk "$out/tick.csv"
}

[ $# -le 1 ] || die "usage: bench.sh [cpus | KERNEL]"
scripts/setup.sh all || die "the packages could not be installed"
kernel=${1:-bench}
case $kernel in bench|cpus) ;; *) out=$out/$kernel ;; esac
mkdir -p "$out"
echo "bench.sh: building and counting: some minutes"
if [ "$kernel" != cpus ]; then
	bench_operations
fi
if [ "$out" = "$build/bench" ]; then
	logged bench-build scripts/build.sh debian-6.12
	logged bench-build make --no-print-directory -C selftests O="$build/user" \
		"$build/user/user_cpus"
	bench_cpus
fi
printf '\nwritten to %s\n' "$out"
