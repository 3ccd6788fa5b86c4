#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts the instructions of each operation and of each tick, for callouts and for Linux's own timers.
#
# Boots the KUnit kernel so that time goes by instructions, on one CPU; and for what must not depend on the number of CPUs
# Debian's 6.12, which takes more of them. Writes build/bench/fig9.csv, tick.csv and stale.csv (CALLOUT_BUILD names
# another directory than build/) and prints them, with the targets. Fails only if something could not be measured.

set -euo pipefail

cd "$(dirname "$0")/.."
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
log=$build/log
out=$build/bench
facilities="callout callout_lazy handle compat timer_list mod_timer hrtimer"
outstanding="0 1000 10000 100000"
numbers="4 64"

die() { echo "bench.sh: $*" >&2; exit 1; }

scripts/setup.sh all || die "the packages could not be installed"
mkdir -p "$log" "$out"
echo "bench.sh: building, and counting: some minutes"
for kernel in kunit debian-6.12; do
	scripts/build.sh $kernel > "$log/bench-build.log" 2>&1 || { tail -n 20 "$log/bench-build.log"; die "the build failed"; }
done

# boot KERNEL [ARGUMENTS...]: of boot.sh
boot() {
	kernel=$1
	shift
	qemu/boot.sh -i -t 900 "$@" "$kernel" bench > "$log/bench.log" 2>&1 || {
		grep -a -A 70 '^boot.sh: ' "$log/bench.log"
		die "the boot failed"
	}
}

# rows NAME: the lines that the module printed of this kind.
rows() { tr -d '\r' < "$log/$kernel-bench.out" | sed -n "s/^bench-$1: //p"; }

boot kunit
{ echo facility,outstanding,insns_per_op; rows ops; } > "$out/fig9.csv"
{ echo facility,metric,outstanding,insns_per_op; rows tick; } > "$out/tick.csv"
echo cpus,insns_per_op > "$out/stale.csv"
for cpus in $numbers; do
	boot debian-6.12 -c "$cpus" -a BENCH=stale
	rows stale >> "$out/stale.csv"
done

# want FILE ROW: the file has this row once, with a number.
want() {
	[ "$(grep -cE "^$2,[0-9]+$" "$out/$1")" = 1 ] || die "$out/$1 has no row $2, or several; see $log"
}

for n in $outstanding; do
	for facility in $facilities; do
		want fig9.csv "$facility,$n"
	done
	for facility in none callout timer_list hrtimer; do
		want tick.csv "$facility,idle_tick,$n"
	done
	for facility in callout timer_list; do
		want tick.csv "$facility,jump_hour,$n"
	done
done
for facility in callout timer_list hrtimer; do
	want tick.csv "$facility,expiry_together,10000"
	want tick.csv "$facility,expiry_one_by_one,1"
done
for cpus in $numbers; do
	want stale.csv "$cpus"
done

# Facilities across, numbers outstanding down; then what the targets say.
awk -F , -v names="$facilities" -v outstanding="$outstanding" '
	function judge(what, value, most) {
		printf "  %-34s %5.2f  at most %.2f  %s\n", what, value, most, value <= most ? "ok" : "MISSED"
	}
	function ratios(one, other, most,   i) {
		for (i = 1; i <= rows; i++)
			judge(one " / " other ", " n[i], cell[one, n[i]] / cell[other, n[i]], most)
	}
	NR > 1 { cell[$1, $2] = $3 }
	END {
		columns = split(names, name, " ")
		rows = split(outstanding, n, " ")
		printf "\nInstructions per operation\n\n%12s", "outstanding"
		for (j = 1; j <= columns; j++)
			printf " %12s", name[j]
		print ""
		for (i = 1; i <= rows; i++) {
			printf "%12d", n[i]
			for (j = 1; j <= columns; j++)
				printf " %12d", cell[name[j], n[i]]
			print ""
		}
		print "\n  the largest / the smallest of the numbers outstanding"
		for (j = 1; j <= 4; j++) {
			low = high = cell[name[j], n[1]]
			for (i = 2; i <= rows; i++) {
				low = cell[name[j], n[i]] < low ? cell[name[j], n[i]] : low
				high = cell[name[j], n[i]] > high ? cell[name[j], n[i]] : high
			}
			judge(name[j], high / low, 1.10)
		}
		print "\n  beside each other, at each number outstanding"
		ratios("callout", "timer_list", 0.70)
		ratios("callout_lazy", "mod_timer", 0.40)
		ratios("handle", "hrtimer", 0.85)
		print "\n  instructions that (func, arg) and its hash add to a handle"
		for (i = 1; i <= rows; i++)
			judge("compat - handle " n[i], cell["compat", n[i]] - cell["handle", n[i]], 90)
	}' "$out/fig9.csv"

# Metrics down, facilities across.
awk -F , '
	NR > 1 {
		row = $2 "," $3
		if (!(row in seen)) {
			seen[row] = 1
			order[++rows] = row
		}
		cell[$1, row] = $4
	}
	END {
		columns = split("none callout timer_list hrtimer", name, " ")
		printf "\nInstructions per tick, jump or expiry; but for idle_tick, beyond those of a tick without timers\n\n"
		printf "%-18s %12s", "", "outstanding"
		for (j = 1; j <= columns; j++)
			printf " %12s", name[j]
		print ""
		for (i = 1; i <= rows; i++) {
			split(order[i], part, ",")
			printf "%-18s %12d", part[1], part[2]
			for (j = 1; j <= columns; j++)
				printf " %12s", (name[j], order[i]) in cell ? cell[name[j], order[i]] : "-"
			print ""
		}
	}' "$out/tick.csv"
printf '\nInstructions to cancel by a handle that is stale, by the number of CPUs\n\n'
awk -F , 'NR > 1 { printf "%12d %12d\n", $1, $2 }' "$out/stale.csv"
printf '\nwritten to %s, %s and %s\n' "$out/fig9.csv" "$out/tick.csv" "$out/stale.csv"
