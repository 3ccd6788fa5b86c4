#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a kernel, lets callout_torture.ko loose on the facility and shows what it has counted.
#
#   scripts/torture.sh KERNEL SECONDS [RACED]
#
# KERNEL: debug, kcsan, kunit or one of Debian's; see qemu/kernel.sh. Fails if the console alarms, if the verdict is not
# SUCCESS, or if fewer than RACED cancels (1) met their callout due or running.

set -euo pipefail

cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { echo "usage: torture.sh KERNEL SECONDS [RACED]" >&2; exit 1; }
kernel=$1
seconds=$2
raced=${3:-1}
build=${CALLOUT_BUILD:-$PWD/build}
export CALLOUT_BUILD=$build
mkdir -p "$build/log"

scripts/setup.sh all
if ! scripts/build.sh "$kernel" > "$build/log/build-$kernel.log" 2>&1; then
	tail -n 20 "$build/log/build-$kernel.log" >&2
	exit 1
fi
# Each pause waits until all is quiet.
exec qemu/boot.sh -t $((seconds * 3 / 2 + 200)) -a "TORTURE_SECONDS=$seconds TORTURE_RACED=$raced" "$kernel" torture
