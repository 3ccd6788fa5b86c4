#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts what /dev/callout, timerfd, POSIX timers and io_uring timeouts cost: instructions, memory,
# interrupts off.
#
#   scripts/measure/bench-user.sh [KERNEL]
#
# One boot of KERNEL, by default the KUnit kernel, in which time goes by instructions; and one of
# Debian's 6.12, which has user namespaces. Writes user.csv in build/bench/, or for another
# kernel in build/bench/KERNEL/, and prints it, with the targets. Fails only if a measurement is
# missing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
kernel=${1:-bench}
file=$build/bench/${1:+$1/}user.csv
# As in selftests/bench/user_bench.c.
facilities="callout,single callout,batch64 callout,batch1024"
facilities="$facilities timerfd,single posix,single io_uring,single callout,uring"
facilities="$facilities callout,uring64"
outstanding="0 1000 10000 100000"
expire="1500 15000"
# As in selftests/bench/user_namespaces.c.
namespaces="0 16384"

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "${file%/*}"
echo "bench-user.sh: building and counting: some minutes"
logged bench-user-build scripts/build.sh debian-6.12
logged bench-user-build scripts/build.sh "$kernel"
logged bench-user-build make --no-print-directory -C selftests O="$build/user"
logged_boot bench-user -i -t 900 "$kernel" bench-user
logged_boot bench-namespaces -i -t 900 -n bench-namespaces -a BENCH=namespaces debian-6.12 \
	bench-user
printed=$log/$kernel-bench-user.out
csv "$file" facility,mode,outstanding,metric,value "$printed" bench-user
rows "$log/debian-6.12-bench-namespaces.out" bench-user >> "$file"

for facility in $facilities; do
	for n in $outstanding; do
		for metric in insns_arm_disarm insns_rearm insns_per_expiry; do
			want "$file" "$facility,$n,$metric"
		done
	done
	for n in $expire; do
		want "$file" "$facility,$n,insns_irqsoff_max"
	done
	case $facility in
	callout,batch1024) want "$file" "$facility,1000000,insns_irqsoff_max" ;;
	*,single) want "$file" "$facility,100000,bytes_per_timer" ;;
	esac
done

for n in $namespaces; do
	want "$file" "callout,namespaces,$n,insns_open"
done
for facility in timerfd callout exact; do
	for load in idle load; do
		for metric in late_p50_ns late_p99_ns late_max_ns wakeups; do
			want "$file" "$facility,$load,1000,$metric"
		done
	done
done
want "$file" callout,idle,1000,fired_max_ns
want "$file" callout,load,1000,fired_max_ns

awk -v kernel="$kernel" -v names="$facilities" -v outstanding="$outstanding" \
	-f scripts/measure/bench/judge.awk -f scripts/measure/bench/user.awk "$file"
echo
rows "$printed" bench-user-note
printf '\nwritten to %s\n' "$file"
