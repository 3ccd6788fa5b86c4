#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the kernel whose timer_list is a callout, and the same kernel without that; boots both
# through the same work and puts what they did side by side, in build/replaced/table.csv.
#
#   scripts/measure/replaced.sh [PART...]
#           parts of qemu/jobs/replaced.sh: net tests counts costs late idle (default: all);
#           "build": only builds; "table": only makes the table, of parts that have run before
#   scripts/measure/replaced.sh debug
#           the debug kernel with callouts: parts net, tests, late and idle, for its alarms alone
#
# Prints TAP. The table's lines are WHAT,OF,UNREPLACED,REPLACED; empty where a kernel has no such
# thing.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
out=$build/replaced
root=$build/user/root-replaced
tests="nanosleep nsleep-lat set-timer-lat mqueue-lat posix_timers inconsistency-check threadtest
	valid-adjtimex set-tz leap-a-day"

# Users of timers that are in the same file.
not_timers='schedule_timeout.*|process_timeout|msleep.*|usleep.*|update_process_times'

# install_with_libraries PROGRAM: and what it is linked with, where it expects that.
install_with_libraries() {
	local program library

	program=$(command -v "$1") || die "$1 is missing; run scripts/setup.sh"
	cp "$program" "$root/usr/sbin/"
	ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root${library%/*}"
		cp -L "$library" "$root$library" || return
	done
}

# Strict mode is off in what item runs.
build_programs() {
	local linux name

	linux=$(qemu/kernel.sh -s) || return
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/usr/sbin" "$root/timers"
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -static \
		-o "$root/bin/net_load" selftests/replaced/net_load.c || return
	for name in ip tc wg; do
		install_with_libraries $name || return
	done
	for name in $tests; do
		# One of them defines a function that the static C library has, too.
		gcc -O2 -static -pthread -Wl,--allow-multiple-definition \
			-o "$root/timers/$name" \
			"$linux/tools/testing/selftests/timers/$name.c" -lrt -lm || return
	done
	mkdir -p "$build/replaced-host"
	gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC \
		-o "$build/replaced-host/count_plugin.so" selftests/replaced/count_plugin.c
}

# build_kernel NAME: and timer_probe.ko for it
build_kernel() {
	local places src=$build/$1-probe

	places=$(qemu/kernel.sh -b "$1") || return
	eval "$places"
	nm -n "$KERNEL_BUILD/vmlinux" > "$build/replaced-host/$1.symbols" || return
	mkdir -p "$src" "$build/$1"
	cp -u selftests/replaced/probe/* "$src/"
	make --no-print-directory -C "$KERNEL_BUILD" M="$src" modules &&
		cp "$src/timer_probe.ko" "$build/$1/"
}

# run PART KERNEL
run() {
	local kernel=$2 limit=1200 arguments=(-i)

	case $1 in
	net) arguments=() ;;
	costs|idle|counts)
		arguments=(-i -p "$build/replaced-host/count_plugin.so,symbols=$(
			)$build/replaced-host/$kernel.symbols,mark=__x64_sys_sethostname,out=$(
			)$log/$kernel-replaced-$1.functions") ;;
	esac
	qemu/boot.sh "${arguments[@]}" -t $limit -n "replaced-$1" -a "REPLACED=$1" \
		"$kernel" replaced
}

# The functions that are the timers of a kernel, by its object files, which only the replaced
# kernel's build directory has. There the names of Linux's wheel have a prefix.
timer_functions() {
	local time=$build/replaced/kernel/time

	nm "$time/timer.o" "$time/timer_migration.o" |
		awk '$2 ~ /[tT]/ { sub(/\..*/, "", $3); sub(/^tick_/, "", $3); print $3 }' |
		grep -vxE "$not_timers"
	[ "$1" = unreplaced ] || nm "$build"/replaced/callout/module/{,*/}*.o |
		awk '$2 ~ /[tT]/ { sub(/\..*/, "", $3); print $3 }'
}

# functions KERNEL PART PHASE: instructions of a phase: all, and the timers'
functions() {
	awk -v phase="$3" '
		NR == FNR { timer[$1] = 1; next }
		$1 == phase {
			name = $3
			sub(/\..*/, "", name)
			sub(/^tick_/, "", name)
			all += $2
			if (name in timer) timers += $2
		}
		END { printf "all instructions,%d\ninstructions of timers,%d\n", all, timers
		      if (all) printf "share of timers in percent,%.2f\n", 100 * timers / all }' \
		<(timer_functions "$1") "$log/$1-replaced-$2.functions"
}

# results KERNEL: all of a kernel's lines, WHAT,OF,VALUE
results() {
	local part

	for part in tests counts costs late idle; do
		[ ! -e "$log/$1-replaced-$part.out" ] ||
			tr -d '\r' < "$log/$1-replaced-$part.out"
	done | sed -n 's/^replaced-\([a-z]*\): /\1,/p' | awk -F, '
		$1 == "cost" { print $1 "," $2 " with " $3 " others," $4; next }
		$1 == "late" {
			print $1 "," $2 " to " $3 " ticks: median," $6
			print $1 "," $2 " to " $3 " ticks: latest," $7
			next
		}
		{ print }'
	# Phase 0 ends where init sets the host's name, and 1 where the job does.
	[ ! -e "$log/$1-replaced-costs.functions" ] ||
		functions "$1" costs 2 | sed 's/^/2000 requests,/'
	[ ! -e "$log/$1-replaced-counts.functions" ] ||
		functions "$1" counts 2 | sed 's/^/the load,/'
	[ ! -e "$log/$1-replaced-idle.functions" ] ||
		functions "$1" idle 2 | sed 's/^/an idle hour,/'
}

# What the kernel's own selftests said, of each kernel.
selftests() {
	tr -d '\r' < "$log/$1-replaced-tests.out" | sed -n 's/^replaced-selftest: //p'
}

same_selftests() {
	selftests unreplaced | grep -q ',ok$' &&
		diff <(selftests unreplaced) <(selftests replaced)
}

make_table() {
	mkdir -p "$out"
	results unreplaced > "$log/unreplaced.csv"
	results replaced > "$log/replaced.csv"
	awk -F, '
		BEGIN { print "what,of,unreplaced,replaced" }
		{ key = $1 "," $2 }
		!(key in seen) { seen[key] = 1; order[++n] = key }
		FILENAME ~ /unreplaced.csv$/ { before[key] = $3; next }
		{ after[key] = $3 }
		END {
			for (i = 1; i <= n; i++)
				print order[i] "," before[order[i]] "," after[order[i]]
		}' "$log/unreplaced.csv" "$log/replaced.csv" > "$out/table.csv"
	[ "$(wc -l < "$out/table.csv")" -gt 1 ]
}

parts=()
kernels="unreplaced replaced"
for part in "${@:-all}"; do
	case $part in
	all) parts+=(net tests counts costs late idle table) ;;
	debug) parts+=(net tests late idle); kernels=replaced-debug ;;
	build|table|net|tests|counts|costs|late|idle) parts+=("$part") ;;
	*) die "there is no part $part" ;;
	esac
done
scripts/setup.sh all || die "the packages could not be installed"
if [ "${parts[*]}" != table ]; then
	item "programs" build_programs
	for kernel in $kernels; do
		item "the $kernel kernel" build_kernel "$kernel"
	done
fi
for part in "${parts[@]}"; do
	case $part in
	build) ;;
	table)
		item "the table" make_table
		sed 's/^/# /' "$out/table.csv" ;;
	*)
		for kernel in $kernels; do
			item "$part on the $kernel kernel" run "$part" "$kernel"
		done
		if [ "$part" = tests ] && [ "$kernels" != replaced-debug ]; then
			item "selftests say the same of both" same_selftests
		fi ;;
	esac
done
finish
