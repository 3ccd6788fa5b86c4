#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the modules for one kernel, out of tree, into build/KERNEL/.
#
#   scripts/build.sh KERNEL [make arguments, such as W=1 C=2]
#
# CALLOUT_BUILD names another directory than build/.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { echo "usage: build.sh KERNEL [make arguments]" >&2; exit 1; }
kernel=$1
shift

# Links to the sources, so that no kernel's objects meet another's and the source tree stays clean.
farm() {
	local part

	mkdir -p "$out/src"
	find "$out/src" -xtype l -delete
	for part in Kbuild Kconfig module kunit selftests/modules; do
		[ -e "$top/$part" ] || continue
		mkdir -p "$(dirname "$out/src/$part")"
		cp -as --remove-destination -T "$top/$part" "$out/src/$part"
	done
}

places=$("$top/qemu/kernel.sh" -b "$kernel")
eval "$places"
out=${CALLOUT_BUILD:-$top/build}
mkdir -p "$out/$kernel"
out=$(cd "$out/$kernel" && pwd)
farm

set -- CONFIG_CALLOUT=m CONFIG_CALLOUT_SELFTESTS=m "$@"
case $kernel in
clang) set -- LLVM=1 CONFIG_CALLOUT_KUNIT_TEST=m "$@" ;;
uml) set -- ARCH=um CONFIG_CALLOUT_LAB=m "$@" ;;
kunit) set -- CONFIG_CALLOUT_LAB=m CONFIG_CALLOUT_KUNIT_TEST=m "$@" ;;
debug) set -- CONFIG_CALLOUT_KUNIT_TEST=m "$@" ;;
esac
rm -f "$out"/*.ko
make --no-print-directory -C "$KERNEL_BUILD" -j"$(nproc)" M="$out/src" "$@" modules
sed 's/\.o$/.ko/' "$out/src/modules.order" | while read -r module; do
	case $module in
	/*) cp "$module" "$out/" ;;
	*) cp "$out/src/$module" "$out/" ;;
	esac
done
