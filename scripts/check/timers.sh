#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The example modules of Documentation/timers.rst compile, and so do the calls of
# selftests/modules/refused, except calls that linux/callout_timer.h must refuse: for Debian's 6.1
# and 6.12, and with linux/timer.h as 6.1 had it before 6.1.84, where the kernel's timers have
# del_timer() only. The kernel's headers with a struct timer_list are refused after
# linux/callout_timer.h and compile before it: some, and NUMBER others chosen at random.
#
#   scripts/check/timers.sh [NUMBER]
#   SEED=N scripts/check/timers.sh [NUMBER]     chooses the headers that a former run has named
#
# Prints a line for each fault and each header that was chosen, and fails if there was a fault.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$top/selftests/modules/refused/refused.c
[ $# -le 1 ] || die "usage: timers.sh [NUMBER]"
objects="example_1.o example_2.o refused.o"
older=
bad=0
seed=${SEED:-$RANDOM}

wrong() { cat "$work/said"; echo "$kernel: $*"; bad=1; }

# compile OBJECT...: whether they compile without a warning. By one make, which takes longer than
# the compiler.
compile() {
	make --no-print-directory -k -j"$(nproc)" -C "$KERNEL_BUILD" M="$work" CALLOUT="$top" \
		OLDER="$older" W=1 "$@" > "$work/said" 2>&1 && ! grep -q 'warning:' "$work/said"
}

# by_command NAME OPTION...: NAME.c by the command that make has called for it
by_command() {
	local command

	command=$(sed -nE "s/^(saved)?cmd_.*$1\\.o := ([^;]*) -c -o [^ ]*([^;]*).*/\\2\\3/p" \
		"$work/.$1.o.cmd")
	(cd "$KERNEL_BUILD" && bash -ec "$command ${*:2}") > "$work/said" 2>&1
}

# Each example begins with the line of its licence.
awk -v work="$work" '
	/^\t\/\/ SPDX/ { n++; inside = 1 }
	inside && /^[^\t]/ { inside = 0 }
	inside { sub(/^\t/, ""); print > work "/example_" n ".c" }' "$top/Documentation/timers.rst"
cp "$source" "$work/"
cat > "$work/order.c" << 'end'
#include <linux/module.h>
#ifdef EARLY
#include HEADER
#endif
#include <linux/callout_timer.h>
#if defined(HEADER) && !defined(EARLY)
#include HEADER
#endif
MODULE_DESCRIPTION("Includes a header before linux/callout_timer.h, or after it");
MODULE_LICENSE("GPL");
end
{
	# shellcheck disable=SC2016 # for make
	echo 'ccflags-y += -I$(CALLOUT)/module/include -DREFUSED=0'
	# shellcheck disable=SC2016 # for make
	echo 'NOSTDINC_FLAGS += $(OLDER)'
	(cd "$work" && ls ./*.c) | sed -E 's~\./(.*)\.c~obj-m += \1.o~'
} > "$work/Kbuild"

# try_calls: compiles the calls of refused.c
try_calls() {
	local number call

	while read -r number call; do
		if by_command refused -UREFUSED "-DREFUSED=$number" -fsyntax-only; then
			wrong "this compiles: $call"
		# For its type, not for a fault in the test.
		elif ! grep -qE '_Generic|incompatible-pointer-types|declared before <linux' \
			"$work/said"; then
			wrong "this is refused for another reason: $call"
		fi
	done < "$work/calls"
}

# order HEADER OPTION...: order.c with this header
order() { by_command order "-DHEADER='\"$1\"'" "${@:2}"; }

# has_timer HEADER: with this configuration, and it can be included first
has_timer() {
	order "$1" -DEARLY -E -o "$work/order.i" || return
	awk -v name="/$1\"" '
		/^# [0-9]+ "/ { inside = index($0, name); next }
		inside && /struct timer_list/ { found = 1 }
		END { exit !found }' "$work/order.i" &&
		order "$1" -DEARLY -fsyntax-only
}

# try_header HEADER: after linux/callout_timer.h, unless that includes it
try_header() {
	if grep -q "/include/$1 " "$work/.order.o.cmd"; then
		order "$1" -fsyntax-only || wrong "$1, which is included already, does not compile"
	elif order "$1" -fsyntax-only; then
		wrong "$1 compiles after linux/callout_timer.h"
	elif ! grep -q "include/$1 belongs to the kernel: include it before" "$work/said"; then
		wrong "$1 is refused for another reason"
	fi
}

# try_headers DIRECTORY NUMBER: the kernel's headers that modules use, and NUMBER others
try_headers() {
	local header names tried=" " left=$2

	for header in linux/input.h linux/netdevice.h net/sock.h; do
		has_timer $header || wrong "$header has no timer, or does not compile"
		try_header $header
		tried="$tried$header "
	done
	mapfile -t names < <(cd "$1" &&
		grep -rlE '^[[:space:]]+struct timer_list[[:space:]]+[a-z_]+;' ./*/ |
		sed 's~^\./~~' | sort)
	RANDOM=$seed
	while [ "$left" -gt 0 ]; do
		header=${names[RANDOM % ${#names[@]}]}
		[[ $tried != *" $header "* ]] || continue
		tried="$tried$header "
		has_timer "$header" || continue
		try_header "$header"
		echo "$kernel: $header (SEED=$seed)"
		left=$((left - 1))
	done
}

# before_84 HEADER CPUS: linux/timer.h before 6.1.84 for one CPU or several, out of a later one
before_84() {
	local sync='extern int del_timer_sync(struct timer_list *timer);'

	[ "$2" != one ] || sync='#define del_timer_sync(t) del_timer(t)'
	awk -v sync="$sync" '
		/^static inline int del_timer/ { inside = 1 }
		!inside && !/^extern int timer_(shutdown|delete_sync)/ {
			sub(/^extern int timer_delete\(/, "extern int del_timer(")
			print
		}
		/^}/ { inside = 0 }
		/^extern int try_to_del_timer_sync/ {
			print sync
			print "#define del_singleshot_timer_sync(t) del_timer_sync(t)"
		}' "$1"
}

sed -nE 's~^#(el)?if REFUSED == ([0-9]+).*/\* refused: (.*) \*/~\2 \3~p' "$source" > "$work/calls"
[ -s "$work/calls" ] || die "there is no call in refused.c"
for kernel in debian-6.12 debian-6.1; do
	places=$("$top/qemu/kernel.sh" -b "$kernel")
	eval "$places"
	# shellcheck disable=SC2086 # several
	compile $objects order.o ||
		wrong "an example of timers.rst, or refused.c without a call, does not compile"
	try_calls
	# Debian's headers are in two packages: the build's Makefile includes the other package's.
	headers=$(sed -n 's~^include *\(.*\)Makefile$~\1include~p' "$KERNEL_BUILD/Makefile")
	others=${1:-0}
	[ $kernel = debian-6.12 ] || others=0
	try_headers "$headers" "$others"
done

# 6.1's are the last.
header=$headers/linux/timer.h
mkdir -p "$work/older/linux"
for cpus in one several; do
	before_84 "$header" $cpus > "$work/older/linux/timer.h"
	older=-I$work/older
	# shellcheck disable=SC2086 # several
	compile $objects || wrong "6.1.0 for $cpus: they do not compile"
	expected=del_timer
	[ $cpus = one ] || expected='del_timer del_timer_sync'
	called=$(nm -u "$work/refused.o" | awk '$2 ~ /^(del_timer|timer_)/ { print $2 }' | xargs)
	[ "$called" = "$expected" ] ||
		wrong "6.1.0 for $cpus: of the kernel's timers refused.c calls $called"
done
exit $bad
