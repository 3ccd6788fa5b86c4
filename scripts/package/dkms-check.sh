#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# DKMS builds and installs this tree for Debian's 6.12 kernel, in its own directories, and
# clients are built against what it leaves. The last line is "N passed, N failed".
#
#   scripts/package/dkms-check.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: dkms-check.sh"
places=$("$top/qemu/kernel.sh" -b debian-6.12)
eval "$places"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(cat "$top/VERSION")
prefix=$work/usr/src
callout=$prefix/callout

# What git knows of, as in a release: no build directory.
mkdir -p "$work/lib/modules/$KERNEL_RELEASE" "$work/var" "$prefix/callout-$version"
git -C "$top" ls-files -z | (cd "$top" && xargs -0 cp --parents -t "$prefix/callout-$version")

run_dkms() {
	dkms --dkmstree "$work/var" --sourcetree "$prefix" --installtree "$work/lib/modules" \
		--kernelsourcedir "$KERNEL_BUILD" --no-depmod -k "$KERNEL_RELEASE" "$@" \
		"callout/$version"
}

dkms_add() {
	dkms --dkmstree "$work/var" --sourcetree "$prefix" --installtree "$work/lib/modules" \
		add "callout/$version"
}

build_clients() {
	local client

	for client in client tcp bsd; do
		rm -rf "${work:?}/$client"
		cp -r "$top/selftests/modules/$client" "$work/$client"
		make --no-print-directory -C "$KERNEL_BUILD" M="$work/$client" \
			CALLOUT="$callout" \
			KBUILD_EXTRA_SYMBOLS="$callout/$KERNEL_RELEASE/Module.symvers" modules ||
			return 1
	done
	[ -e "$work/bsd/callout_openbsd.ko" ]
}

# modpost finds each symbol that a client needs, with its version.
complete() {
	! grep -q 'undefined!' "$1" && grep -q 'callout_reset' "$callout/$2/Module.symvers"
}

# The kernels that dkms.conf names, however they write what follows the second number.
kernels() {
	local release pattern

	pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' "$top/dkms.conf")
	for release in 6.1.0-56-amd64 6.12.117+deb12-amd64 6.19-rc1 7.3+deb14 7.3~rc1-amd64 7.3; do
		[[ $release =~ $pattern ]] || return 1
	done
	for release in 5.10.0-8-amd64 6.0.12 16.1.0 7.4.0-amd64 7.30+deb14 7.10.1; do
		! [[ $release =~ $pattern ]] || return 1
	done
}

# has MODULE
has() { find "$work/lib/modules/$KERNEL_RELEASE" -name "$1.ko*" | grep -q .; }
has_both() { has callout && has callout_bsd; }
gone() { ! has 'callout*' && [ ! -e "$callout" ]; }

# Strict mode is off in the functions: item tests their status.
clients() {
	build_clients > "$work/clients.log" 2>&1 || { cat "$work/clients.log"; return 1; }
	complete "$work/clients.log" "$KERNEL_RELEASE"
}

item "kernels" kernels
item "add" dkms_add
item "build" run_dkms build
item "install" run_dkms install
item "the modules" has_both
item "clients built against it" clients
item "remove" run_dkms remove
item "nothing is left" gone
finish
