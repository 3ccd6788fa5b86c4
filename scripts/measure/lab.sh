#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The laboratory: measures every scheme as the paper does and beyond, and makes tables and pictures.
#
#   scripts/measure/lab.sh [-s SUITE] [counted] [share] [native] [scale] [tables]
#                                                                       (the default is all five)
#   scripts/measure/lab.sh [-s SUITE] only SCHEME
#   scripts/measure/lab.sh pictures [DIRECTORY]
#
# counted: one boot of the KUnit kernel in which time goes by instructions; share: another boot with
# two CPUs, in real time; native: User Mode Linux; scale: User Mode Linux with up to ten million
# callouts, or a million where memory is short; tables: CSV and SVG of the results of all four, in
# build/lab/. Fails if a row is missing, if figure 9 misses its targets, or if the model of memory
# is far from a measurement that it has not seen.
#
# -s: on kernels built from the newest source of this suite of Debian, such as unstable, in
# build/lab-SUITE/, where the rows of timer_list and hrtimer are of that kernel.
#
# only: measures one scheme, in all its variants, in instructions: figure 9, Table II, lateness and
# wake-ups. Prints the tables and writes them to build/lab-only/.
#
# pictures: draws those in Documentation/lab/ from the data there, which first are taken from a
# directory, such as build/lab, if one is named.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
lab=$top/scripts/measure/lab
suite=
if [ "${1:-}" = -s ]; then
	[ $# -ge 2 ] || die "usage: lab.sh -s SUITE ..."
	suite=-$2
	shift 2
fi
kernel=kunit$suite
uml=uml$suite
out=$build/lab$suite
only=$build/lab$suite-only
counted=$log/$kernel-lab.out
share=$log/$kernel-share.out
native=$log/uml-native$suite.out
scale=$log/uml-scale$suite.out

say() { echo "lab.sh: $((SECONDS / 60)) min $((SECONDS % 60)) s: $*"; }

run_counted() {
	say "building, and counting instructions"
	logged lab-build scripts/build.sh "$kernel"
	logged lab-tools make -C tools O="$build/user"
	logged_boot lab-counted -i -t 900 "$kernel" lab
}

run_share() {
	say "building, and measuring two CPUs that share"
	logged lab-build scripts/build.sh "$kernel"
	logged_boot lab-share -c 2 -t 600 "$kernel" share
}

run_native() {
	say "building, and measuring nanoseconds in User Mode Linux"
	logged lab-build-uml scripts/build.sh "$uml"
	logged lab-native qemu/uml.sh -k "$uml" -n "native$suite" -t 1800 native
}

# Megabytes that a guest's memory can have: it is a file, in a file system in memory where there is
# one.
free_mb() {
	local shm=999999999

	[ "$(stat -f -c %T /dev/shm 2> /dev/null)" != tmpfs ] ||
		shm=$(df --output=avail -m /dev/shm | tail -n 1)
	awk -v shm="$shm" '$1 == "MemAvailable:" {
		mb = int($2 / 1024)
		print mb < shm ? mb : shm
	}' /proc/meminfo
}

run_scale() {
	local most=10000000 memory=6G mb

	say "building, and measuring what grows in User Mode Linux"
	logged lab-build-uml scripts/build.sh "$uml"
	mb=$(free_mb)
	if [ "$mb" -lt 8192 ]; then
		say "skipped: the rows of 10 000 000 callouts need 8192 MB, there are $mb MB;" \
			"the model is not judged"
		most=1000000
		memory=1G
	fi
	logged lab-scale qemu/uml.sh -k "$uml" -n "scale$suite" -m "$memory" -t 1800 \
		-a "LAB_MOST=$most" scale
	mkdir -p "$build/user"
	gcc -O2 -Wall -Werror -pthread -o "$build/line_share" selftests/bench/line_share.c
	# Where other programs need the CPUs it may not end.
	timeout 60 "$build/line_share" >> "$scale" || say "no time between two CPUs"
}

# run_only SCHEME
run_only() {
	local names results=$log/$kernel-lab-only.out file

	names=$(sed -nE 's/^	\.name		= "([a-z_]+)".*/\1/p' module/{wheel,lab}/*.c)
	grep -qxF -e "$1" <<< "$names" || die "there is no scheme $1; there are" "${names//$'\n'/ }"
	say "building, and measuring $1"
	logged lab-build scripts/build.sh "$kernel"
	logged lab-tools make -C tools O="$build/user"
	logged_boot lab-only -i -n lab-only -t 300 -a "LAB_ONLY=$1" "$kernel" lab
	rm -rf "$only"
	mkdir -p "$only"
	cd "$only"
	csv fig9.csv scheme,lookup,outstanding,insns_per_pair "$results" lab-fig9
	csv table2_points.csv scheme,operation,outstanding,insns "$results" lab-table2
	awk -f "$lab/table2.awk" "$lab/paper.csv" table2_points.csv > table2.csv
	csv late.csv scheme,interval_from,most_ticks_late,stated,most_percent "$results" lab-late
	csv idle.csv scheme,outstanding,wakeups_in_an_hour "$results" lab-idle
	for file in fig9 table2 late idle; do
		[ "$(wc -l < "$file.csv")" -gt 1 ] || die "$file.csv has no rows; see $results"
		echo
		column -s , -t "$file.csv"
	done
	cd "$top"
}

make_data() {
	local insns=insns_per_tick,visits_per_1000_ticks,requeues_per_1000_ticks

	csv fig9.csv scheme,lookup,outstanding,insns_per_pair "$counted" lab-fig9
	csv fig9_user.csv scheme,outstanding,handle,other "$counted" lab-user
	csv table2_points.csv scheme,operation,outstanding,insns "$counted" lab-table2
	awk -f "$lab/table2.awk" "$lab/paper.csv" table2_points.csv > table2.csv
	csv insert_points.csv from,intervals,outstanding,steps "$counted" lab-insert
	awk -f "$lab/insert.awk" insert_points.csv > insert.csv
	csv cross.csv scheme,M,m,T,outstanding,$insns "$counted" lab-cross
	awk -f "$lab/cross.awk" cross.csv > cross_at.csv
	csv variance.csv scheme,hash,visits_per_tick,mean,variance,most "$counted" lab-variance
	csv variance_ticks.csv scheme,hash,tick,insns "$counted" lab-variance-tick
	csv late.csv scheme,interval_from,most_ticks_late,stated,most_percent "$counted" lab-late
	csv assist.csv assist,M,T,interrupts_per_callout "$counted" lab-assist
	csv idle.csv scheme,outstanding,wakeups_in_an_hour "$counted" lab-idle
	csv share_points.csv scheme,bases,cpus,ns_per_pair "$share" lab-share
	awk -f "$lab/share.awk" share_points.csv > share.csv
	csv fig9_native.csv scheme,lookup,outstanding,ns_per_pair "$native" lab-fig9
	csv native.csv scheme,operation,outstanding,ns "$native" lab-native
	awk -v n=10000 -f "$lab/native.awk" native.csv > native_10000.csv
	awk -v n=1000000 -f "$lab/native.awk" native.csv > native_1000000.csv
	csv buckets.csv buckets,operation,outstanding,ns "$native" lab-buckets
	csv memory_points.csv facility,outstanding,bytes "$native" lab-memory
	awk -f "$lab/memory.awk" memory_points.csv > memory.csv
	make_scale
}

make_scale() {
	local models=(-f "$lab/model.awk" line.csv remote.csv bytes.csv scale.csv growth.csv)

	csv line.csv bytes,ns "$scale" lab-line
	csv scale.csv scheme,operation,outstanding,ns "$scale" lab-scale
	csv growth.csv change,callouts,ns_each,total_us,portions,portion_ns,longest_ns "$scale" \
		lab-growth
	csv bytes.csv facility,outstanding,bytes "$scale" lab-bytes
	csv remote.csv ns_from_another_cpu "$scale" lab-remote
	awk -v table=large "${models[@]}" > model.csv
	# Judged when everything else is there.
	model=ok
	awk -v table=check "${models[@]}" > model_check.csv || model=missed
}

# The rows that each file must have of one scheme.
check_scheme() {
	local scheme=$1 n metric

	for n in 0 10 100 500 1000 10000; do
		want fig9.csv "$scheme,handle,$n"
		grep -qE "^$scheme,(hash|search),$n,[0-9]+$" fig9.csv || die "fig9.csv: $scheme, $n"
	done
	for metric in start stop tick; do
		want table2.csv "$scheme,$metric"
	done
	want late.csv "$scheme,65536"
	want idle.csv "$scheme,0"
	want idle.csv "$scheme,1000"
	want share_points.csv "$scheme,percpu,2"
	want share_points.csv "$scheme,single,2"
	for n in 1000 10000; do
		for metric in pair_one pair_random rearm_later idle_tick jump start_dense dense; do
			want native.csv "$scheme,$metric,$n"
		done
		case $scheme in
		# These expire several at once.
		hierarchical_wheel:no_migration|hierarchical_wheel:one_migration) ;;
		*) want native.csv "$scheme,sparse,$n" ;;
		esac
	done
}

check_data() {
	local row n metric

	rows "$counted" lab-rows > schemes
	[ -s schemes ] || die "no schemes were measured; see $counted"
	while read -r row; do
		check_scheme "$row"
	done < schemes
	rm schemes
	for metric in pair_one pair_random rearm_later idle_tick jump sparse dense; do
		want native.csv "hashed_wheel,$metric,1000000"
		for n in 1000 10000 100000 1000000; do
			want buckets.csv "16384,$metric,$n"
		done
	done
	for row in "(callout)" "(callout):4" "(callout):16" "(timer_list)" "(hrtimer)"; do
		for n in 1000 10000 100000 1000000; do
			for metric in pair_one pair_random rearm_later dense; do
				want native.csv "$row,$metric,$n"
			done
			[ "$row" = "(hrtimer)" ] || want native.csv "$row,sparse,$n"
		done
	done
	for row in "(callout)" "(handle)" "(timer_list)"; do
		for n in 1000 10000 100000 1000000; do
			for metric in pair_one pair_random rearm_later sparse dense; do
				want scale.csv "$row,$metric,$n"
			done
		done
	done
	for row in wheel_grow wheel_shrink table_grow migrate clock_look clock_step; do
		for n in 1000 10000 100000 1000000; do
			want growth.csv "$row,$n"
		done
	done
	want memory.csv callout,0
	for row in callout handle timer_list hrtimer; do
		for n in 1000 10000 100000 1000000; do
			want memory.csv "$row,$n"
		done
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
		[ "$(grep -c "^$row," insert.csv)" = 5 ] || die "insert.csv: $row"
	done
	[ "$(grep -c . variance.csv)" = 5 ] || die "variance.csv is not complete"
	[ "$(grep -c . cross_at.csv)" = 10 ] || die "cross_at.csv is not complete"
	for row in hashed_wheel_paper:every_tick hashed_wheel_paper hashed_wheel \
		   hierarchical_wheel chip_busy chip_full; do
		want assist.csv "$row,256,16384"
	done
}

# missing SCRIPT: the data that a picture needs and that are not here
missing() {
	local data

	grep -oE '[a-z0-9_]+\.csv' "$1" | sort -u | while read -r data; do
		[ -s "$data" ] || echo "$data"
	done
}

# ground FILE TITLE: gives a picture its title, and a dark ground if a browser prefers that
ground() {
	local dark='[fill="#ffffff"] { fill: #14181d } .gridline { stroke: #343b44 }'

	dark="$dark [fill=\"black\"] { fill: #e6edf3 } [stroke=\"black\"] { stroke: #e6edf3 }"
	dark="@media (prefers-color-scheme: dark) { $dark [color=\"black\"] { color: #e6edf3 } }"
	sed -i "s|^<title>Gnuplot<.*|<title>$2</title>\\n<style>\\n$dark\\n</style>|" "$1"
	grep -q '^<style>' "$1"
}

# Draws, in the current directory, each picture of which the data are there.
draw() {
	local script title said=$log/lab-plot.log

	for script in "$lab"/*.gp; do
		if [ "$(missing "$script")" ]; then
			say "${script##*/}: not drawn, there is no" "$(missing "$script")"
			continue
		fi
		if ! gnuplot -e "lab=\"$lab\"" "$script" > "$said" 2>&1; then
			cat "$said" >&2
			die "$script failed"
		fi
		# Not every facility has every operation.
		if grep -i warning "$said" | grep -v 'no valid points'; then
			die "$script warns"
		fi
		title=$(sed -n '2s/^# [^ ]* - //p' "$script")
		script=${script##*/}
		[ -s "${script%.gp}.svg" ] || die "$script has drawn nothing"
		ground "${script%.gp}.svg" "$title" || die "$script: not the SVG of gnuplot 5.4"
	done
}

draw_pictures() {
	[ ! "${1:-}" ] || cp "$1"/*.csv Documentation/lab/
	cd Documentation/lab
	draw
	cd "$top"
}

make_tables() {
	local table

	mkdir -p "$out"
	rm -f "$out"/*
	cd "$out"
	make_data
	check_data
	draw
	for table in table2 cross_at memory growth model model_check; do
		column -s , -t "$table.csv"
		echo
	done
	awk -v targets=yes -f "$lab/native.awk" native.csv
	awk -f "$lab/fig9.awk" fig9.csv fig9_native.csv || die "figure 9 misses its targets"
	[ "$model" = ok ] || die "the model of memory is too far from what it predicts"
	cd "$top"
}

scripts/setup.sh lab || die "the packages could not be installed"
if [ "${1:-}" = pictures ]; then
	draw_pictures "${2:-}"
	exit
fi
if [ "${1:-}" = only ]; then
	[ $# -eq 2 ] || die "usage: lab.sh only SCHEME"
	run_only "$2"
	say "done, in $only"
	exit
fi
[ $# -gt 0 ] || set -- counted share native scale tables
for step in "$@"; do
	case $step in
	counted) run_counted ;;
	share) run_share ;;
	native) run_native ;;
	scale) run_scale ;;
	tables) make_tables ;;
	*) die "there is no step $step" ;;
	esac
done
say "done, in $out"
