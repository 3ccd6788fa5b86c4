#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds for the newest kernel of each suite of Debian's archive, boots it, loads and unloads the
# module, runs the tests of the device, and KUnit on a kernel built from the same source. Prints a
# table of what passed and failed, and as its last line "N passed, N failed".
#
#   scripts/check/matrix.sh [KERNEL...]
#
# KERNEL is one of qemu/kernel.sh: by default all of Debian's for x86_64, and those for arm64. The
# table is in build/matrix.csv.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=qemu/machines.sh
. "$(dirname "$0")/../../qemu/machines.sh"
cd "$top"
scripts/setup.sh all
scripts/setup.sh matrix
suites=(trixie trixie-backports testing unstable)
[ $# -ne 0 ] ||
	set -- debian-6.1 debian-6.12 debian-6.12-rt "${suites[@]}" arm64-bookworm arm64 \
		"${suites[@]/#/arm64-}"
table=$build/matrix.csv
echo suite,release,builds,load,device,kunit > "$table"
logged matrix-tools make -j"$(nproc)" -C tools O="$build/user" all
logged matrix-tests make -j"$(nproc)" -C selftests O="$build/user"

# boots KERNEL JOB SECONDS [ARGUMENTS]: "PASSED of ALL", and counts
boots() {
	local line good=0 fewer=0 bad=1

	if qemu/boot.sh -t "$3" -n "matrix-$2" ${4:+-a "$4"} "$1" "$2" \
		> "$log/matrix-$1-$2.log" 2>&1; then
		bad=0
	fi
	line=$(verdict "$log/$1-matrix-$2.console")
	if [ "$line" ]; then
		read -r _ good fewer _ <<< "$line"
		[ "$fewer" -eq 0 ] || bad=$fewer
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	said="$good of $((good + bad))"
}

# build KERNEL: without warnings
build() {
	scripts/build.sh "$1" > "$log/matrix-$1.log" 2>&1 && [ -e "$build/$1/clean" ]
}

# The kernel with KUnit that has this one's source, if there is one.
with_kunit() {
	case $1 in
	debian-6.12) echo kunit ;;
	debian-*|*-bookworm) ;;
	*) echo "kunit-$1" ;;
	esac
}

print_row() { printf '%-18s %-26s %-8s %-12s %-14s %s\n' "$@"; }

print_row suite kernel builds load "device's tests" KUnit
for kernel; do
	release=- load=- device=- kunit=-
	machine_of "$kernel"
	if [ "$foreign" ]; then
		scripts/setup.sh "$foreign"
		logged "matrix-$foreign" make_foreign "$foreign"
	fi
	if places=$(qemu/kernel.sh -b "$kernel"); then
		eval "$places"
		release=$KERNEL_RELEASE
	fi
	builds=no
	if build "$kernel"; then
		builds=yes
		passed=$((passed + 1))
		boots "$kernel" load 300
		load=$said
		boots "$kernel" selftests 600
		device=$said
	else
		failed=$((failed + 1))
	fi
	other=$(with_kunit "$kernel")
	if [ "$other" ] && build "$other"; then
		boots "$other" kunit 900 ${foreign:+"CALLOUT_RACES=5 CALLOUT_LITMUS=10000"}
		kunit=$said
	elif [ "$other" ]; then
		failed=$((failed + 1))
	fi
	echo "$kernel,$release,$builds,$load,$device,$kunit" >> "$table"
	print_row "$kernel" "$release" "$builds" "$load" "$device" "$kunit"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
