#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots the debug kernel, and runs the torture, the fuzzer and programs of the device on it for
# hours.
#
#   scripts/check/soak.sh SECONDS [KERNEL]
#
# Fails if the console alarms, if the torture, the fuzzer or a program fails, if the module does not
# unload, or if memory has leaked.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
[ $# -ge 1 ] || die "usage: soak.sh SECONDS [KERNEL]"
seconds=$1
kernel=${2:-debug}

scripts/setup.sh all
logged "build-$kernel" scripts/build.sh "$kernel"
logged build-programs make -j"$(nproc)" -C tools O="$build/user" all
logged build-tests make -j"$(nproc)" -C selftests O="$build/user"
exec qemu/boot.sh -t $((seconds * 2 + 900)) -a "SOAK_SECONDS=$seconds SOAK_SEED=$RANDOM" \
	"$kernel" soak
