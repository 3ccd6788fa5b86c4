#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares the lateness of callouts and of the kernel's timers, idle and under loads, in one boot of
# each kernel in which time goes by instructions.
#
#   scripts/measure/latency.sh [KERNEL...]
#
# By default Debian's 6.12 and 6.12-rt. Writes build/bench/latency.csv and prints it as a table.
# Fails if a callout is later than the latest timer by more than a tick.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
file=$build/bench/latency.csv
[ $# -gt 0 ] || set -- debian-6.12 debian-6.12-rt

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "${file%/*}"
logged latency-build make --no-print-directory -C selftests O="$build/user" \
	"$build/user/user_load" "$build/user/with_fifo"
echo kernel,load,facility,samples,p50_ns,p99_ns,p999_ns,max_ns > "$file"
for kernel; do
	echo "latency.sh: $kernel: some minutes"
	logged latency-build scripts/build.sh "$kernel"
	logged_boot "latency-$kernel" -i -t 1800 "$kernel" latency
	rows "$log/$kernel-latency.out" latency | sed "s/^/$kernel,/" >> "$file"
	for load in idle packets thread fifo million; do
		want "$file" "$kernel,$load,callout"
		want "$file" "$kernel,$load,timer_list"
	done
done
# In microseconds.
awk -F , '
	NR == 1 { print "kernel,load,facility,p50,p99,p99.9,max"; next }
	{ printf "%s,%s,%s,%.1f,%.1f,%.1f,%.1f\n", $1, $2, $3, $5 / 1000, $6 / 1000,
		$7 / 1000, $8 / 1000 }' "$file" | column -s , -t
printf '\nmicroseconds; written to %s\n' "$file"
