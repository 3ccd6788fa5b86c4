#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a kernel, runs callout_torture.ko on it and shows its counters.
#
#   scripts/check/torture.sh KERNEL SECONDS [RACED]
#
# KERNEL: debug, kcsan, kunit or one of Debian's; see qemu/kernel.sh. Fails if the console alarms,
# if the verdict is not SUCCESS, or if fewer than RACED (1) cancels raced: met a callout due or
# running.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
[ $# -ge 2 ] || die "usage: torture.sh KERNEL SECONDS [RACED]"
kernel=$1
seconds=$2
raced=${3:-1}

scripts/setup.sh all
logged "build-$kernel" scripts/build.sh "$kernel"
# With time for the pauses, in which every callout that is set must run.
exec qemu/boot.sh -t $((seconds * 3 / 2 + 200)) \
	-a "TORTURE_SECONDS=$seconds TORTURE_RACED=$raced" "$kernel" torture
