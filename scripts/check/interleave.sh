#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots the KUnit kernel and runs loads on it while CPUs wait for each other at each pair of the
# points, see module/probe/point.h, that the load passes.
#
#   scripts/check/interleave.sh [LOAD...]    all loads of qemu/jobs/interleave.sh, or these
#
# Fails as the loads do, and without arguments if a point was not passed.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
scripts/setup.sh all
logged build-interleave scripts/build.sh interleave
logged programs make -C selftests O="$build/user"
loads=$*
exec qemu/boot.sh -t 1800 ${loads:+-a "INTERLEAVE=${loads// /+}"} interleave interleave
