#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The laboratory: measures every scheme as the paper does and beyond, makes tables and pictures of it.
#
#   scripts/lab.sh [counted] [share] [native] [tables]     (the default is all four)
#
# counted: one boot of the KUnit kernel in which time goes by instructions; share: another with two CPUs, in real time;
# native: User Mode Linux; tables: of what the three have written. Writes CSV and SVG to build/lab/ (CALLOUT_BUILD names
# another directory than build/). Fails if a row is missing, or if figure 9 is not what the paper has.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
log=$build/log
out=$build/lab
counted=$log/kunit-lab.out
share=$log/kunit-share.out
native=$log/uml-native.out

die() { echo "lab.sh: $*" >&2; exit 1; }
say() { echo "lab.sh: $((SECONDS / 60)) min $((SECONDS % 60)) s: $*"; }

# logged NAME COMMAND...: shows the end of what it said if it fails.
logged() {
	local file=$log/lab-$1.log

	shift
	"$@" > "$file" 2>&1 || { tail -n 40 "$file" >&2; die "$* failed, see $file"; }
}

run_counted() {
	say "building, and counting instructions"
	logged build scripts/build.sh kunit
	logged tools make -C tools O="$build/user"
	logged counted qemu/boot.sh -i -t 900 kunit lab
}

run_share() {
	say "building, and having two CPUs share"
	logged build scripts/build.sh kunit
	logged share qemu/boot.sh -c 2 -t 600 kunit share
}

run_native() {
	say "building, and taking times in User Mode Linux"
	logged build-uml scripts/build.sh uml
	logged native qemu/uml.sh -t 900 native
}

# rows FILE PART HEADER: the lines that the module printed for a part.
rows() {
	echo "$3"
	tr -d '\r' < "$1" | sed -n "s/^lab-$2: //p"
}

# want FILE FIELDS: the file has this row once.
want() {
	[ "$(cut -d , -f "1-$(($(tr -cd , <<< "$2" | wc -c) + 1))" "$out/$1" | grep -cFx -- "$2")" = 1 ] ||
		die "$out/$1 does not have the row $2, or has it more than once"
}

# The order of growth: the exponent of a straight line through the logarithms, for n from 100 on. Below a half it is
# "log n" if each tenfold n adds a twentieth or more of what it takes at 100.
fit_table2() {
	awk -F , '
		FNR == NR && FNR > 1 { paper[$1, "start"] = $2; paper[$1, "stop"] = $3; paper[$1, "tick"] = $4; next }
		FNR == 1 { next }
		{
			row = $1 "," $2
			if (!(row in seen)) { seen[row] = 1; order[++rows] = row }
			if ($3 < 100) next
			x = log($3); y = log($4 < 1 ? 1 : $4)
			k[row]++; sx[row] += x; sy[row] += y; sxx[row] += x * x; sxy[row] += x * y
			if (k[row] == 1) { first[row] = $4; rises[row] = 1 }
			else if ($4 - last[row] < first[row] / 20) rises[row] = 0
			last[row] = $4; most[row] = $3
		}
		END {
			print "scheme,operation,exponent,measured,paper,insns_at_100,insns_at_most,most"
			for (i = 1; i <= rows; i++) {
				r = order[i]
				e = (k[r] * sxy[r] - sx[r] * sy[r]) / (k[r] * sxx[r] - sx[r] * sx[r])
				split(r, part, ",")
				split(part[1], name, ":")
				measured = e > 0.5 ? "n" : rises[r] ? "log n" : "1"
				said = (name[1], part[2]) in paper ? paper[name[1], part[2]] : "-"
				printf "%s,%.2f,%s,%s,%s,%s,%s\n", r, e, measured, said, first[r], last[r], most[r]
			}
		}' scripts/lab/paper.csv "$1"
}

# 2 for the writes, and a step for each entry that was read, beside the paper's formulas.
fit_insert() {
	awk -F , '
		NR == 1 { print "from,intervals,outstanding,cost,cost_less_2_by_n,paper,residual_life"; next }
		{
			paper = "-"
			if ($1 == "head") paper = $2 == "exponential" ? 2 + 2 * $3 / 3 : 2 + $3 / 2
			if ($1 == "rear" && $2 == "exponential") paper = 2 + $3 / 3
			life = $2 == "exponential" ? 1 / 2 : $1 == "head" ? 2 / 3 : 1 / 3
			printf "%s,%s,%s,%.1f,%.3f,%s,%.1f\n", $1, $2, $3, $4 + 2, $4 / $3, \
				paper == "-" ? paper : sprintf("%.1f", paper), 2 + life * $3
		}' "$1"
}

# c6 and c7, and from which T on Scheme 7 costs less in a tick than Scheme 6, for each M and m.
fit_cross() {
	awk -F , '
		NR == 1 { next }
		{ cost[$1, $2, $3, $4] = $6; refiles[$1, $2, $3, $4] = $8 / 1000; n = $5; seen[$4] = 1; T[$4] = $4 }
		END {
			paper = "hashed_wheel_paper:every_tick"; seven = "hierarchical_wheel"
			# Where T is large the rounds are nearly all of the difference between two sizes.
			t = 65536
			c6 = (cost[paper, 256, 1, t] - cost[paper, 4096, 1, t]) / (n / 256 - n / 4096)
			# The difference between two numbers of levels, where it is largest.
			t = 64
			c7 = (cost[seven, 4096, 4, t] - cost[seven, 4096, 2, t]) / \
			     (refiles[seven, 4096, 4, t] - refiles[seven, 4096, 2, t])
			print "M,m,c6,c7,T_formula,T_measured"
			for (M = 256; M <= 4096; M *= 4)
				for (m = 2; m <= 4; m++) {
					found = "-"
					for (t = 64; t < 65536; t *= 2) {
						if (!((seven, M, m, 2 * t) in cost))
							break
						a = cost[seven, M, m, t] - cost[paper, M, 1, t]
						b = cost[seven, M, m, 2 * t] - cost[paper, M, 1, 2 * t]
						if (a > 0 && b <= 0) {
							found = sprintf("%.0f", t * 2 ^ (a / (a - b)))
							break
						}
					}
					printf "%d,%d,%.1f,%.1f,%.0f,%s\n", M, m, c6, c7, M * m * c7 / c6, found
				}
		}' "$1"
}

# A row for each scheme, a column for each operation, with so many outstanding.
pivot_native() {
	awk -F , -v n="$2" '
		NR == 1 { next }
		!($2 in column) { column[$2] = 1; columns[++width] = $2 }
		$3 == n { if (!($1 in seen)) { seen[$1] = 1; order[++rows] = $1 } cell[$1, $2] = $4 }
		END {
			printf "scheme"
			for (j = 1; j <= width; j++) printf ",%s", columns[j]
			print ""
			for (i = 1; i <= rows; i++) {
				printf "%s", order[i]
				for (j = 1; j <= width; j++)
					printf ",%s", (order[i], columns[j]) in cell ? cell[order[i], columns[j]] : "-"
				print ""
			}
		}' "$1"
}

# How much more two CPUs do than one: 2 if they do not disturb each other.
pivot_share() {
	awk -F , '
		NR == 1 { next }
		!seen[$1]++ { order[++rows] = $1 }
		{ ns[$1, $2, $3] = $4 }
		END {
			print "scheme,percpu_one_ns,percpu_two_ns,single_one_ns,single_two_ns,percpu_throughput,single_throughput"
			for (i = 1; i <= rows; i++) {
				s = order[i]
				printf "%s,%d,%d,%d,%d,%.2f,%.2f\n", s,
					ns[s, "percpu", 1], ns[s, "percpu", 2], ns[s, "single", 1], ns[s, "single", 2],
					2 * ns[s, "percpu", 1] / ns[s, "percpu", 2], 2 * ns[s, "single", 1] / ns[s, "single", 2]
			}
		}' "$1"
}

make_tables() {
	local row n metric

	mkdir -p "$out"
	rm -f "$out"/*
	rows "$counted" fig9 scheme,lookup,outstanding,insns_per_pair > "$out/fig9.csv"
	rows "$counted" user scheme,outstanding,handle,other > "$out/fig9_user.csv"
	rows "$counted" table2 scheme,operation,outstanding,insns > "$out/table2_points.csv"
	fit_table2 "$out/table2_points.csv" > "$out/table2.csv"
	rows "$counted" insert from,intervals,outstanding,steps > "$out/insert_points.csv"
	fit_insert "$out/insert_points.csv" > "$out/insert.csv"
	rows "$counted" cross scheme,M,m,T,outstanding,insns_per_tick,visits_per_1000_ticks,refiles_per_1000_ticks \
		> "$out/cross.csv"
	fit_cross "$out/cross.csv" > "$out/cross_at.csv"
	rows "$counted" variance scheme,hash,visits_per_tick,mean,variance,most > "$out/variance.csv"
	rows "$counted" variance-tick scheme,hash,tick,insns > "$out/variance_ticks.csv"
	rows "$counted" late scheme,interval_from,most_ticks_late,stated,most_percent > "$out/late.csv"
	rows "$counted" assist assist,M,T,interrupts_per_callout > "$out/assist.csv"
	rows "$counted" idle scheme,outstanding,wakeups_in_an_hour > "$out/idle.csv"
	rows "$share" share scheme,bases,cpus,ns_per_pair > "$out/share_points.csv"
	pivot_share "$out/share_points.csv" > "$out/share.csv"
	rows "$native" fig9 scheme,lookup,outstanding,ns_per_pair > "$out/fig9_native.csv"
	rows "$native" native scheme,operation,outstanding,ns > "$out/native.csv"
	pivot_native "$out/native.csv" 10000 > "$out/native_10000.csv"
	pivot_native "$out/native.csv" 1000000 > "$out/native_1000000.csv"
	rows "$native" buckets buckets,operation,outstanding,ns > "$out/buckets.csv"

	# What each file must have of each scheme.
	tr -d '\r' < "$counted" | sed -n 's/^lab-rows: //p' > "$out/rows"
	[ -s "$out/rows" ] || die "no schemes were measured; see $counted"
	while read -r row; do
		for n in 0 10 100 500 1000 10000; do
			want fig9.csv "$row,handle,$n"
			grep -qE "^$row,(hash|search),$n,[0-9]+$" "$out/fig9.csv" || die "fig9.csv: $row, $n"
		done
		for metric in start stop tick; do
			want table2.csv "$row,$metric"
		done
		want late.csv "$row,65536"
		want idle.csv "$row,0"
		want idle.csv "$row,1000"
		want share_points.csv "$row,percpu,2"
		want share_points.csv "$row,single,2"
		for n in 1000 10000; do
			for metric in pair_one pair_random rearm_later idle_tick jump start_dense dense; do
				want native.csv "$row,$metric,$n"
			done
			case $row in
			# They bring several together.
			hierarchical_wheel:no_migration|hierarchical_wheel:one_migration) ;;
			*) want native.csv "$row,sparse,$n" ;;
			esac
		done
	done < "$out/rows"
	rm "$out/rows"
	for metric in pair_one pair_random rearm_later idle_tick jump sparse dense; do
		want native.csv "hashed_wheel,$metric,1000000"
		for n in 1000 10000 100000 1000000; do
			want buckets.csv "16384,$metric,$n"
		done
	done
	for row in "(callout)" "(timer_list)" "(hrtimer)"; do
		for metric in pair_one pair_random rearm_later dense; do
			want native.csv "$row,$metric,1000000"
		done
		[ "$row" = "(hrtimer)" ] || want native.csv "$row,sparse,1000000"
	done
	for n in 0 1000; do
		want fig9_native.csv "sorted_list,search,$n"
	done
	for row in hashed_wheel sorted_list; do
		for n in 0 100 200 300 400 500 600 700 800 900 1000; do
			want fig9_user.csv "$row,$n"
		done
	done
	for row in head,exponential head,uniform rear,exponential rear,uniform; do
		[ "$(grep -c "^$row," "$out/insert.csv")" = 5 ] || die "insert.csv: $row"
	done
	[ "$(grep -c . "$out/variance.csv")" = 5 ] || die "variance.csv is not complete"
	[ "$(grep -c . "$out/cross_at.csv")" = 10 ] || die "cross_at.csv is not complete"
	for row in hashed_wheel_paper:every_tick hashed_wheel_paper hashed_wheel hierarchical_wheel chip_busy chip_full; do
		want assist.csv "$row,256,16384"
	done
}

# What figure 9 must show, by instructions: exits with 1 if it does not. The paper's figure is of time, where each entry
# of the list is a cache line, too: that is for information.
judge_fig9() {
	awk -F , '
		FNR == 1 { file++; next }
		file == 1 && $1 == "hashed_wheel" {
			if (!($2 in low) || $4 < low[$2]) low[$2] = $4
			if ($4 > high[$2]) high[$2] = $4
			most[$2] = $3
		}
		$1 == "sorted_list" && $2 == "search" { old[file, $3] = $4 }
		END {
			good = 1
			for (lookup in low) {
				ratio = high[lookup] / low[lookup]
				printf "hashed_wheel, %s: %d to %d instructions a pair from 0 to %d outstanding: ", \
					lookup, low[lookup], high[lookup], most[lookup]
				printf "ratio %.2f, at most 1.10: %s\n", ratio, (ratio <= 1.1 ? "ok" : "MISSED")
				good = good && ratio <= 1.1
			}
			ratio = old[1, 1000] / old[1, 0]
			printf "sorted_list, search: %d instructions at 0, %d at 1000: ratio %.1f, at least 100: %s\n", \
				old[1, 0], old[1, 1000], ratio, (ratio >= 100 ? "ok" : "MISSED")
			printf "sorted_list, search: %d ns at 0, %d ns at 1000: ratio %.0f\n", \
				old[2, 0], old[2, 1000], old[2, 1000] / old[2, 0]
			exit !(good && ratio >= 100)
		}' "$out/fig9.csv" "$out/fig9_native.csv"
}

plot() {
	local script

	for script in scripts/lab/*.gp; do
		(cd "$out" && gnuplot -e "lab=\"$top/scripts/lab\"" "$top/$script") > "$log/lab-plot.log" 2>&1 ||
			{ cat "$log/lab-plot.log" >&2; die "$script failed"; }
		# Not every facility has every operation.
		! grep -i warning "$log/lab-plot.log" | grep -v 'no valid points' || die "$script warns"
	done
	for script in fig9 fig9_paper fig9_user table2 insert cross variance late assist share native buckets; do
		[ -s "$out/$script.svg" ] || die "there is no $out/$script.svg"
	done
}

scripts/setup.sh lab || die "the packages could not be installed"
mkdir -p "$log"
[ $# -gt 0 ] || set -- counted share native tables
for step in "$@"; do
	case $step in
	counted) run_counted ;;
	share) run_share ;;
	native) run_native ;;
	tables)
		make_tables
		plot
		column -s , -t "$out/table2.csv"
		echo
		column -s , -t "$out/cross_at.csv"
		echo
		judge_fig9 || die "figure 9 is not what it must be" ;;
	*) die "there is no step $step" ;;
	esac
done
say "done, in $out"
