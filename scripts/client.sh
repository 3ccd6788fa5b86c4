#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds selftests/modules/client as somebody else would: against what is installed, and nothing else of this tree.
#
#   scripts/client.sh KERNEL
#
# After build.sh KERNEL and the programs. Installs into build/KERNEL/installed; leaves build/KERNEL/callout_client.ko.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { echo "usage: client.sh KERNEL" >&2; exit 1; }
out=${CALLOUT_BUILD:-$top/build}/$1
out=$(cd "$out" && pwd)

places=$("$top/qemu/kernel.sh" -b "$1")
eval "$places"
rm -rf "$out/installed" "$out/client"
DESTDIR=$out/installed "$top/scripts/install.sh" "$1"
cp -r "$top/selftests/modules/client" "$out/client"
callout=$out/installed/usr/src/callout
make --no-print-directory -C "$KERNEL_BUILD" M="$out/client" CALLOUT="$callout" \
	KBUILD_EXTRA_SYMBOLS="$callout/$KERNEL_RELEASE/Module.symvers" modules
cp "$out/client/callout_client.ko" "$out/"
