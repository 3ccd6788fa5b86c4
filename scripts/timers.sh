#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The example modules of Documentation/timers.rst compile, and so do the calls of
# selftests/modules/refused, except those that linux/callout_timer.h must refuse.
#
# Prints a line for each fault, and fails if there was one.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$top/selftests/modules/refused/refused.c
bad=0

places=$("$top/qemu/kernel.sh" -b debian-6.12)
eval "$places"

wrong() { cat "$work/said"; echo "$*"; bad=1; }

# compile OBJECT [NUMBER]: whether it compiles without a warning
compile() {
	make --no-print-directory -C "$KERNEL_BUILD" M="$work" CALLOUT="$top" REFUSED="${2:-0}" \
		W=1 "$1" > "$work/said" 2>&1 && ! grep -q 'warning:' "$work/said"
}

# Each example begins with the line of its licence.
awk -v work="$work" '
	/^\t\/\/ SPDX/ { n++; inside = 1 }
	inside && /^[^\t]/ { inside = 0 }
	inside { sub(/^\t/, ""); print > work "/example_" n ".c" }' "$top/Documentation/timers.rst"
cp "$source" "$work/"
{
	# shellcheck disable=SC2016 # for make
	echo 'ccflags-y += -I$(CALLOUT)/module/include -DREFUSED=$(REFUSED)'
	(cd "$work" && ls ./*.c) | sed -E 's~\./(.*)\.c~obj-m += \1.o~'
} > "$work/Kbuild"

for number in 1 2; do
	compile "example_$number.o" || wrong "example $number of timers.rst does not compile"
done

compile refused.o || wrong "refused.c does not compile even without a call that must not"
sed -nE 's~^#(el)?if REFUSED == ([0-9]+).*/\* refused: (.*) \*/~\2 \3~p' "$source" > "$work/calls"
[ -s "$work/calls" ] || wrong "there is no call in refused.c"
while read -r number call; do
	if compile refused.o "$number"; then
		wrong "this compiles: $call"
	# For its type, not for a fault in the test.
	elif ! grep -qE '_Generic|incompatible-pointer-types' "$work/said"; then
		wrong "this is refused for another reason: $call"
	fi
done < "$work/calls"
exit $bad
