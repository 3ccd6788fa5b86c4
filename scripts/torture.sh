#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a kernel, lets callout_torture.ko loose on the facility and shows what it has counted.
#
#   scripts/torture.sh KERNEL SECONDS [RACED]
#
# KERNEL: debug, kcsan, kunit or one of Debian's; see qemu/kernel.sh. Fails if the console alarms, if the verdict is not
# SUCCESS, or if fewer than RACED cancels (1) met their callout due or running.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
[ $# -ge 2 ] || die "usage: torture.sh KERNEL SECONDS [RACED]"
kernel=$1
seconds=$2
raced=${3:-1}

scripts/setup.sh all
logged "build-$kernel" scripts/build.sh "$kernel"
# Each pause waits until all is quiet.
exec qemu/boot.sh -t $((seconds * 3 / 2 + 200)) -a "TORTURE_SECONDS=$seconds TORTURE_RACED=$raced" "$kernel" torture
