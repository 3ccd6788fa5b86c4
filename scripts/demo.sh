#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demonstration, on a fresh Debian machine: packages, build, boot, calloutctl.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
root=$build/user/root-demo

scripts/setup.sh demo
echo "Building the module for Debian's 6.12 kernel and calloutctl ..."
logged demo-modules scripts/build.sh debian-6.12
# For the old facility, a sorted list.
logged demo-modules scripts/build.sh debian-6.12+lab
mkdir -p "$root/lib/lab"
cp "$build/debian-6.12+lab/callout.ko" "$root/lib/lab/"
logged demo-tools make -C tools O="$build/user"
echo "Booting it with 4 emulated CPUs: times are emulated, too."
echo
qemu/boot.sh -t 150 debian-6.12 demo
