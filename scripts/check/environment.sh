#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each script that a user starts, or make, DKMS or a package's rules, does the same whatever the
# environment has: see environment.sh. Each prints its usage, or does something cheap, with nothing
# in the environment and with all that might mislead it. And a build directory in which no build
# works is refused by one line. The last line is "N passed, N failed".
#
#   scripts/check/environment.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: environment.sh"
cd "$top"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clean=(env -i "PATH=$PATH" "HOME=${HOME:-$work}" "CALLOUT_BUILD=$work/build" "CALLOUT_CACHE=$cache")
# Places where the scripts' relative directories are, too. Whoever reads Linux has the rest.
hostile=("${clean[@]}" "CDPATH=.:$work/decoy" POSIXLY_CORRECT=1 LC_ALL=C LANGUAGE=de
	GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere "TMPDIR=$work/a b" ARCH=arm64
	CROSS_COMPILE=none- LLVM=1 KBUILD_OUTPUT=/nowhere KBUILD_EXTMOD=/nowhere)
mkdir -p "$work/a b" "$work/decoy"/{scripts,qemu,tools/examples,module/include/linux}
touch "$work/decoy/module/include/linux/decoy.h"

# printed UMASK COMMAND...: its output and status, and the files that it has made
printed() {
	local status=0

	rm -rf "$work/made"
	(umask "$1" && "${@:2}") 2>&1 < /dev/null || status=$?
	echo "status $status"
	[ ! -e "$work/made" ] || find "$work/made" -printf '%M %P %s\n' | LC_ALL=C sort
}

same() {
	printed 022 "${clean[@]}" "$@" > "$work/clean"
	printed 077 "${hostile[@]}" "$@" > "$work/hostile"
	diff "$work/clean" "$work/hostile"
}

# refused PATTERN COMMAND...: one line that matches
refused() {
	! "${@:2}" > "$work/said" 2>&1 && cat "$work/said" &&
		[ "$(grep -cv '^make' "$work/said")" -le 1 ] && grep -qE "$1" "$work/said"
}

# No other reads the environment before it is mended.
sourced() {
	local file

	for file in scripts/*.sh scripts/*/*.sh qemu/*.sh; do
		case $file in
		# Sourced, or in their own machine, or without a directory to go to.
		scripts/environment.sh|scripts/lib.sh|scripts/check/kept.sh) continue ;;
		qemu/archive.sh|qemu/faults.sh|qemu/machines.sh) continue ;;
		qemu/memory.sh|qemu/tap.sh) continue ;;
		qemu/system-check.sh|qemu/cross.sh) continue ;;
		scripts/package/dkms.sh|scripts/package/headers.sh) continue ;;
		esac
		# shellcheck disable=SC2016 # their variable
		grep -qE '^\. "\$\(dirname "\$0"\)/.*(environment|lib)\.sh"$' "$file" ||
			{ echo "$file"; return 1; }
	done
}

item "each script has environment.sh" sourced
# Usages, refusals.
for command in "scripts/build.sh" "scripts/check/installed.sh" "scripts/check/torture.sh" \
	"scripts/package/install.sh" "scripts/package/uninstall.sh" "scripts/package/dist.sh x" \
	"scripts/package/docs.sh x" "scripts/package/deb.sh x" "scripts/package/intree.sh $work" \
	"scripts/package/intree-check.sh x x" "scripts/package/dkms-check.sh x" \
	"scripts/package/install-check.sh x" \
	"scripts/one.sh kunit none" "scripts/one.sh selftest none" \
	"scripts/bisect.sh none" \
	"qemu/boot.sh" "qemu/boot.sh none none" "qemu/uml.sh none" "qemu/kernel.sh none" \
	"scripts/setup.sh none" "scripts/package/man.sh" "scripts/package/man9.sh" \
	"scripts/package/reference.sh"; do
	# shellcheck disable=SC2086 # a command
	item "$command" same $command
done
# What these print or make is read by others.
for command in "qemu/kernel.sh -s" "qemu/kernel.sh -b running" "qemu/kernel.sh -b debian-6.12" \
	"scripts/package/headers.sh $work/made" "scripts/package/man.sh $work/made"; do
	# shellcheck disable=SC2086 # a command
	item "$command" same $command
done
for name in "a b" a,b a:b a%b; do
	item "a build directory \"$name\" is refused" \
		refused "$name has a blank, a comma, a colon" \
		env CALLOUT_BUILD="$work/$name" scripts/build.sh debian-6.12
done
for name in "a b" a,b a:b; do
	item "and \"$name\" by make" refused 'has a blank, a comma or a colon' \
		make --no-print-directory CALLOUT_BUILD="$work/$name" tools
done
item "and nothing is made there" test ! -e "$work/a,b"
item "and such a cache" refused "$work/a,b has a blank, a comma, a colon" \
	env CALLOUT_CACHE="$work/a,b" qemu/kernel.sh -s
finish
