#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fuzzes /dev/callout, runs what was found again, makes it smaller, and judges the fuzzer.
#
#   scripts/fuzz/device.sh run KERNEL SECONDS [SEED]
#   scripts/fuzz/device.sh replay FILE [KERNEL]
#   scripts/fuzz/device.sh minimise FILE [KERNEL]
#   scripts/fuzz/device.sh bugs [NAME...]
#
# The environment variable more is for arguments of the machine's kernel, as kmemleak=off.
#
# KERNEL: fuzz, which is the debug kernel and a module that tells which code has run, or another of
# qemu/kernel.sh. run prints the share of the device's lines that was reached. If there is a report,
# the programs that may have caused it are in build/found/, one in a file; they survive a panic in
# the machine's memory.
#
# bugs builds the module with one patch of selftests/fuzz/bugs/ after the other, each of which puts
# a mistake back that was mended, and prints how long the fuzzer takes to report it.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"

found=$build/found
ram=$build/ram
corpus=$top/selftests/fuzz/corpus.txt

usage() {
	die "usage: device.sh run KERNEL SECONDS [SEED] | replay FILE [KERNEL] |" \
	    "minimise FILE [KERNEL] | bugs [NAME...]"
}

prepare() {
	scripts/setup.sh all
	logged "build-$1" scripts/build.sh "$1"
	logged build-fuzz-program make -C selftests O="$build/user" "$build/user/fuzz"
}

# boot KERNEL NAME SECONDS ARGUMENTS [PROGRAM]: with the corpus, or a program, in the machine.
boot() {
	local files=$build/user/root-fuzz/lib/fuzz log_file=$log/$1-$2.log

	mkdir -p "$files"
	cp "$corpus" "$files/corpus"
	[ ! "${5:-}" ] || cp "$5" "$files/program"
	qemu/boot.sh -r "$ram" -n "$2" -t $(($3 + 300)) -a "FUZZ_ARGUMENTS=${4// /+} ${more:-}" \
		"$1" fuzz > "$log_file" 2>&1
}

# The offsets of records in the machine's memory: pages that begin with this text.
records() {
	{ LC_ALL=C grep -obUa 'CALLOUT-FUZZ-REC' "$ram" || :; } | cut -d: -f1 |
		awk '$1 % 4096 == 0 { print $1 / 4096 }'
}

record() { dd if="$ram" bs=4096 skip="$1" count=1 status=none | tr -d '\0'; }

# keep_programs KERNEL-NAME: what a report names; else what ran when the machine ended.
keep_programs() {
	local out=$log/$1.out page n=0

	rm -rf "$found"
	mkdir -p "$found"
	if grep -aq '^fuzz: program:' "$out"; then
		tr -d '\r' < "$out" | sed -n '/^fuzz: program:/,/^fuzz: end/p' |
			grep -av '^fuzz:' > "$found/program-0"
		n=1
	else
		for page in $(records); do
			record "$page" > "$found/record"
			if head -n 1 "$found/record" | grep -aq 'runs$'; then
				tail -n +2 "$found/record" > "$found/program-$n"
				n=$((n + 1))
			fi
			cat "$found/record" >> "$found/last-programs"
		done
		rm -f "$found/record"
	fi
	[ $n -gt 0 ]
}

# Why a boot failed, in a few lines.
reason() {
	local log_file=$log/$1.log

	tr -d '\r' < "$log/$1.out" | grep -a -A 40 '^fuzz: REPORT' | head -n 60 || :
	grep -a 'FAILED' "$log_file" | head -n 6 || :
	tr -d '\r' < "$log/$1.console" |
		grep -aE 'BUG:|WARNING:|KASAN|possible|RIP:' | head -n 6 || :
}

# The share of lines that were reached, of the device's files and the table's.
lines() {
	local module=$build/$1/callout.ko out=$log/$2.out section

	tr -d '\r' < "$out" | sed -n 's/^fuzz: \(section\|reached\) //p' > "$build/reached"
	for section in .text .text.unlikely; do
		echo "section $section"
		objdump -d -r -l --no-show-raw-insn -j "$section" "$module"
	done | awk -v missed="$build/missed-lines" -f scripts/fuzz/lines.awk "$build/reached" -
}

run() {
	local kernel=$1 limit=$2 seed=${3:-$RANDOM} name=fuzz status=0 program

	prepare "$kernel"
	boot "$kernel" $name "$limit" "-s $seed -t $limit -c /lib/fuzz/corpus -d -o" || status=1
	tr -d '\r' < "$log/$kernel-$name.out" | grep -aE '^fuzz: seed|^# [0-9]+0 s' | tail -n 2 || :
	tr -d '\r' < "$log/$kernel-$name.out" |
		sed -n '/^fuzz: corpus/,/^fuzz: end of corpus/p' | grep -av '^fuzz:' \
		> "$build/corpus.txt" || :
	if [ "$kernel" = fuzz ] && [ $status -eq 0 ]; then
		lines "$kernel" "$kernel-$name"
	fi
	if [ $status -eq 0 ]; then
		echo "device.sh: no report"
		return
	fi
	reason "$kernel-$name"
	if keep_programs "$kernel-$name"; then
		for program in "$found"/program-*; do
			echo "device.sh: scripts/fuzz/device.sh minimise $program $kernel"
			cat "$program"
		done
	fi
	die "the fuzzer reports: seed $seed, see $log/$kernel-$name.*"
}

replay() {
	local kernel=$2

	prepare "$kernel"
	if boot "$kernel" fuzz-replay 300 "-r /lib/fuzz/program -n 100000 -t 300 -d" "$1"; then
		echo "device.sh: no report"
	else
		reason "$kernel-fuzz-replay"
		die "the fuzzer reports"
	fi
}

# Each boot leaves calls out of the program until the kernel panics, if it does.
minimise() {
	local kernel=$2 small=$build/smallest out round

	prepare "$kernel"
	cp "$1" "$small"
	out=$log/$kernel-fuzz-minimise.out
	for round in $(seq 40); do
		if boot "$kernel" fuzz-minimise 600 "-m /lib/fuzz/program -n 300" "$small"; then
			tr -d '\r' < "$out" | sed -n '/^fuzz: smallest/,/^fuzz: end/p' |
				grep -av '^fuzz:' > "$small"
			break
		fi
		keep_programs "$kernel-fuzz-minimise" || die "boot $round failed, see $out"
		cp "$found/program-0" "$small"
	done
	echo "device.sh: after $round boots, in $small:"
	cat "$small"
}

# bug NAME: applies the patch to a copy of the tree, and fuzzes that, on the kernel that the patch
# names: what only KASAN sees takes the debug kernel, the model is faster on Debian's.
bug() {
	local patch=$top/selftests/fuzz/bugs/$1.patch tree=$bugs/tree start took what kernel
	local arguments="-s 1 -t 600 -c /lib/fuzz/corpus"
	local build=$bugs log=$bugs/log ram=$bugs/ram

	kernel=$(sed -n 's/^Kernel: //p' "$patch")
	[ "$kernel" != fuzz ] || arguments="$arguments -d"
	patch -s -p1 -d "$tree" < "$patch" || return 1
	logged "bug-$1" env CALLOUT_BUILD="$bugs" "$tree/scripts/build.sh" "$kernel" \
		CONFIG_CALLOUT_SELFTESTS=
	start=$SECONDS
	if CALLOUT_BUILD=$bugs more=kmemleak=off \
		boot "$kernel" "bug-$1" 600 "$arguments"; then
		what="not found"
	else
		what=$(reason "$kernel-bug-$1" |
		       { grep -aoE 'REPORT: .*|KASAN: .*|BUG: .*' || :; } | head -n 1)
		[ "$what" ] || what="not found: the boot failed"
	fi
	took=$((SECONDS - start))
	patch -s -R -p1 -d "$tree" < "$patch"
	printf '%-18s %4d s with the boot: %s\n' "$1" $took "$what" | tee -a "$bugs/table"
	case $what in "not found"*) return 1 ;; esac
}

bugs() {
	local patch part

	bugs=$build/bugs
	scripts/setup.sh all
	logged build-fuzz-program make -C selftests O="$build/user" "$build/user/fuzz"
	rm -rf "$bugs/tree"
	mkdir -p "$bugs/tree" "$bugs/log"
	for part in Kbuild Kconfig VERSION module kunit selftests scripts qemu; do
		cp -a "$part" "$bugs/tree/"
	done
	mkdir -p "$bugs/user"
	cp "$build/user/fuzz" "$bugs/user/"
	: > "$bugs/table"
	[ $# -gt 0 ] || set -- "$top"/selftests/fuzz/bugs/*.patch
	for patch in "$@"; do
		item "$(basename "$patch" .patch)" bug "$(basename "$patch" .patch)"
	done
	cat "$bugs/table"
	finish
}

[ $# -ge 1 ] || usage
command=$1
shift
case $command in
run) [ $# -ge 2 ] || usage; run "$@" ;;
replay|minimise) [ $# -ge 1 ] || usage; $command "$1" "${2:-fuzz}" ;;
bugs) bugs "$@" ;;
*) usage ;;
esac
