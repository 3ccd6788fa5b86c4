#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts what /dev/callout, timerfd, POSIX timers and io_uring timeouts take: instructions, memory, interrupts off.
#
#   scripts/bench-user.sh [KERNEL]
#
# One boot of KERNEL, by default the KUnit kernel, in which time goes by instructions. Writes build/bench/user.csv
# (CALLOUT_BUILD names another directory than build/) and prints it, with the targets. Fails only if something could not
# be measured.

set -euo pipefail

cd "$(dirname "$0")/.."
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
log=$build/log
csv=$build/bench/user.csv
kernel=${1:-kunit}
# The numbers that selftests/bench/user_bench.c takes.
facilities="callout,single callout,batch64 callout,batch1024 timerfd,single posix,single io_uring,single"
outstanding="0 1000 10000 100000"
expire="1500 15000"

die() { echo "bench-user.sh: $*" >&2; exit 1; }

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "$log" "${csv%/*}"
echo "bench-user.sh: building, and counting: some minutes"
{ scripts/build.sh "$kernel" && make --no-print-directory -C selftests O="$build/user"; } \
	> "$log/bench-user-build.log" 2>&1 || { tail -n 20 "$log/bench-user-build.log"; die "the build failed"; }
qemu/boot.sh -i -t 900 "$kernel" bench-user > "$log/bench-user.log" 2>&1 ||
	{ grep -a -A 70 -e '^boot.sh: ' -e '^user_bench: ' "$log/bench-user.log"; die "the boot failed"; }

# rows NAME: the lines of this kind that the program printed.
rows() { tr -d '\r' < "$log/$kernel-bench-user.out" | sed -n "s/^$1: //p"; }

{ echo facility,mode,outstanding,metric,value; rows bench-user; } > "$csv"

# want ROW: the file has this row once, with a number.
want() {
	[ "$(grep -cE "^$1,[0-9]+$" "$csv")" = 1 ] || die "$csv has no row $1, or several"
}

for facility in $facilities; do
	for n in $outstanding; do
		for metric in insns_arm_disarm insns_rearm insns_per_expiry; do
			want "$facility,$n,$metric"
		done
	done
	for n in $expire; do
		want "$facility,$n,insns_irqsoff_max"
	done
	case $facility in
	*,single) want "$facility,100000,bytes_per_timer" ;;
	esac
done

# Facilities across, metrics and numbers outstanding down; then what the targets say.
awk -F , -v names="$facilities" -v outstanding="$outstanding" '
	function judge(what, value, most) {
		printf "  %-58s %7.3f  at most %7.3f  %s\n", what, value, most, value <= most ? "ok" : "MISSED"
	}
	function of(mode, row) { return cell["callout," mode, row] }
	function ratios(mode, metric, most,   i) {
		for (i = 1; i <= rows; i++)
			judge("callout " mode " / timerfd, " metric ", " n[i],
			      of(mode, n[i] "," metric) / cell["timerfd,single", n[i] "," metric], most)
	}
	function flat(mode, metric,   i, low, high, value) {
		for (i = 1; i <= rows; i++) {
			value = of(mode, n[i] "," metric)
			low = i == 1 || value < low ? value : low
			high = i == 1 || value > high ? value : high
		}
		judge("callout " mode ", " metric ", largest / smallest", high / low, 1.10)
	}
	NR > 1 {
		row = $3 "," $4
		cell[$1 "," $2, row] = $5
		if (!(row in seen)) {
			seen[row] = 1
			metrics[$4] = metrics[$4] " " $3
		}
	}
	END {
		columns = split(names, name, " ")
		rows = split(outstanding, n, " ")
		count = split("insns_arm_disarm insns_rearm insns_per_expiry insns_irqsoff_max bytes_per_timer", metric, " ")
		printf "\n%-18s %11s", "", ""
		for (j = 1; j <= columns; j++) {
			split(name[j], part, ",")
			printf " %9s", part[1]
		}
		printf "\n%-18s %11s", "", "outstanding"
		for (j = 1; j <= columns; j++) {
			split(name[j], part, ",")
			printf " %9s", part[2]
		}
		print ""
		for (m = 1; m <= count; m++) {
			lines = split(metrics[metric[m]], at, " ")
			for (i = 1; i <= lines; i++) {
				row = at[i] "," metric[m]
				printf "%-18s %11d", metric[m], at[i]
				for (j = 1; j <= columns; j++)
					printf " %9s", (name[j], row) in cell ? cell[name[j], row] : "-"
				print ""
			}
		}
		print "\n  targets"
		ratios("batch64", "insns_arm_disarm", 0.3)
		flat("batch64", "insns_arm_disarm")
		ratios("single", "insns_arm_disarm", 0.8)
		ratios("batch1024", "insns_per_expiry", 0.3)
		judge("callout, bytes_per_timer, 100000", of("single", "100000,bytes_per_timer"), 192)
		few = of("batch1024", "1500,insns_irqsoff_max")
		many = of("batch1024", "15000,insns_irqsoff_max")
		judge("callout / timerfd, insns_irqsoff_max, 15000",
		      many / cell["timerfd,single", "15000,insns_irqsoff_max"], 0.05)
		judge("callout, insns_irqsoff_max, 15000 / 1500", many / few, 1.10)
	}' "$csv"
echo
rows bench-user-note
printf '\nwritten to %s\n' "$csv"
