#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration, from a fresh Debian machine to the table: packages, build, boot, calloutctl.

set -euo pipefail

cd "$(dirname "$0")/.."
mkdir -p build/log

# Quiet unless it fails.
quietly() {
	local log=build/log/demo-$1.log

	shift
	"$@" > "$log" 2>&1 || { tail -n 40 "$log" >&2; echo "demo.sh: $* failed, see $log" >&2; exit 1; }
}

scripts/setup.sh demo
echo "Building the module for Debian's 6.12 kernel and calloutctl ..."
quietly modules scripts/build.sh debian-6.12
quietly tools make -C tools O="$PWD/build/user"
echo "Booting it with 4 CPUs, emulated: times are those of the emulated machine."
echo
qemu/boot.sh -t 150 debian-6.12 demo
