#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds for the newest kernel of each suite of Debian's archive, boots it, loads and unloads the
# module, and runs the tests of the device. Prints a table of what passed and failed, and as its
# last line "N passed, N failed".
#
#   scripts/matrix.sh [KERNEL...]
#
# KERNEL is one of qemu/kernel.sh; all of Debian's by default. The table is in build/matrix.csv.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
scripts/setup.sh all
scripts/setup.sh matrix
[ $# -ne 0 ] ||
	set -- debian-6.1 debian-6.12 debian-6.12-rt trixie trixie-backports testing unstable
table=$build/matrix.csv
echo suite,release,builds,load,device > "$table"
logged matrix-tools make -j"$(nproc)" -C tools O="$build/user" all
logged matrix-tests make -j"$(nproc)" -C selftests O="$build/user"

# boots KERNEL JOB SECONDS: "PASSED of ALL", and counts
boots() {
	local verdict=$log/$1-matrix-$2.verdict good=0 bad=1

	if qemu/boot.sh -t "$3" -n "matrix-$2" "$1" "$2" > "$log/matrix-$1-$2.log" 2>&1; then
		bad=0
	fi
	if [ -s "$verdict" ]; then
		read -r _ _ good fewer _ < "$verdict"
		[ "$fewer" -eq 0 ] || bad=$fewer
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	said="$good of $((good + bad))"
}

printf '%-18s %-26s %-8s %-12s %s\n' suite kernel builds load "device's tests"
for kernel; do
	release=- load=- device=-
	if places=$(qemu/kernel.sh -b "$kernel"); then
		eval "$places"
		release=$KERNEL_RELEASE
	fi
	builds=no
	if scripts/build.sh "$kernel" > "$log/matrix-$kernel.log" 2>&1 &&
	   [ -e "$build/$kernel/clean" ]; then
		builds=yes
		passed=$((passed + 1))
		boots "$kernel" load 300
		load=$said
		boots "$kernel" selftests 600
		device=$said
	else
		failed=$((failed + 1))
	fi
	echo "$kernel,$release,$builds,$load,$device" >> "$table"
	printf '%-18s %-26s %-8s %-12s %s\n' "$kernel" "$release" "$builds" "$load" "$device"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
