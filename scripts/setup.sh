#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs missing Debian packages, and nothing else.
#
#   scripts/setup.sh demo    to build for Debian's 6.12 kernel and boot it
#   scripts/setup.sh rt      the same for Debian's 6.12 kernel with PREEMPT_RT
#   scripts/setup.sh all     for most checks (the default); the others run it for themselves
#   scripts/setup.sh lab     for the laboratory: User Mode Linux and pictures
#   scripts/setup.sh fuzz-user   for the fuzzers in user space
#   scripts/setup.sh model   for the models
#   scripts/setup.sh dist    for the tarball
#   scripts/setup.sh deb     for Debian's packages
#   scripts/setup.sh matrix  for kernels of other suites
#   scripts/setup.sh system  for a whole system
#   scripts/setup.sh arm64   for kernels of that architecture
#   scripts/setup.sh s390x   for a kernel of that architecture
#   scripts/setup.sh riscv64 for a kernel of that architecture
#   scripts/setup.sh gdb     for the debugger
#   scripts/setup.sh runtimes   for the tests of other event loops
#   scripts/setup.sh docs    for the documents as HTML
#   scripts/setup.sh docs-check   to look at these in a browser
#   scripts/setup.sh rust    for the Rust crate
#   scripts/setup.sh criu    for processes that move

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/environment.sh"

demo="make gcc libc6-dev binutils linux-headers-6.12-amd64 qemu-system-x86 busybox-static cpio"
kernel="linux-source-6.12 flex bison bc libelf-dev xz-utils perl"
all="$demo $kernel linux-headers-amd64 linux-headers-6.12-rt-amd64 clang lld llvm sparse"
all="$all shellcheck gcc-multilib libev-dev libuv1-dev libevent-dev liburing-dev python3 pkgconf"
all="$all groff-base python3-pip python3-setuptools python3-wheel"
all="$all man-db python3-docutils dkms iproute2 wireguard-tools kmod spin valgrind musl-tools"
lab="$demo $kernel gnuplot-nox bsdextrautils"
dist="linux-headers-amd64 perl linux-source-6.12 xz-utils make clang lld libclang-rt-dev-wasm64"
dist="$dist binaryen"
docs="python3-sphinx python3-myst-parser furo mandoc"
fuzz="make libc6-dev binutils clang llvm libclang-rt-dev $kernel"

case ${1:-all} in
demo) wanted=$demo ;;
rt) wanted="$demo linux-headers-6.12-rt-amd64" ;;
all) wanted=$all ;;
lab) wanted=$lab ;;
fuzz-user) wanted=$fuzz ;;
model) wanted="gcc libc6-dev spin" ;;
dist) wanted=$dist ;;
deb) wanted="build-essential debhelper dh-dkms dh-python lintian criu $docs $dist" ;;
matrix) wanted="mmdebstrap" ;;
system) wanted="mmdebstrap ovmf" ;;
arm64) wanted="$demo $kernel qemu-system-arm" ;;
s390x) wanted="$demo $kernel qemu-system-misc" ;;
riscv64) wanted="$demo $kernel qemu-system-misc opensbi bzip2" ;;
gdb) wanted="$demo $kernel gdb" ;;
rust)
	wanted="$demo valgrind cargo rustc rust-clippy rustfmt librust-mio-dev"
	wanted="$wanted librust-tokio-dev" ;;
runtimes) wanted="make gcc libc6-dev libuv1-dev python3 libpython3.11-testsuite dpkg-dev" ;;
criu) wanted="$demo $kernel criu" ;;
docs) wanted="$docs $dist" ;;
docs-check) wanted="$docs $dist gcc libc6-dev python3 chromium fonts-dejavu-core" ;;
*)
	names="demo|rt|all|lab|fuzz-user|model|dist|deb|matrix|system|arm64|s390x|riscv64|gdb"
	names="$names|runtimes|docs|docs-check|rust|criu"
	echo "usage: setup.sh [$names]" >&2
	exit 1 ;;
esac

missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || :
	[ "$status" = installed ] || missing="$missing $package"
done
[ "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "setup.sh: these packages are missing, and only root can install them:$missing" >&2
	exit 1
fi
echo "setup.sh: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of package names
if ! { apt-get -q update && apt-get -q -y install --no-remove --no-install-recommends $missing; } \
	> "$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "setup.sh: the packages could not be installed" >&2
	exit 1
fi
