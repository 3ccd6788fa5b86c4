#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What install.sh installs, when it does not, and what uninstall.sh leaves, with empty files for
# what is built. The last line is "N passed, N failed".
#
#   scripts/install-check.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "usage: install-check.sh"
kernel=debian-6.12
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLOUT_BUILD=$work/build DESTDIR=$work/root
user=$work/build/user

mkdir -p "$work/build/$kernel/src" "$user/lib" "$work/bin"
touch "$work/build/$kernel/callout.ko" "$work/build/$kernel/src/Module.symvers" \
	"$user/calloutctl" "$user/lib/libcallout.a" "$user/lib/libcallout.so.1.0"
ln -s libcallout.so.1.0 "$user/lib/libcallout.so.1"
ln -s libcallout.so.1 "$user/lib/libcallout.so"
# A program that man.sh needs and the machine has not.
printf '#!/bin/sh\necho "no awk" >&2\nexit 127\n' > "$work/bin/awk"
chmod +x "$work/bin/awk"

install() {
	rm -rf "$DESTDIR"
	"$top/scripts/install.sh" $kernel
}

# installed: what is below DESTDIR but for DKMS's module
installed() { find "$DESTDIR" ! -type d ! -path '*/updates/dkms/*' | grep .; }

nothing_without_awk() {
	! PATH=$work/bin:$PATH install 2> "$work/said" && grep -qx "no awk" "$work/said" &&
		[ ! -e "$DESTDIR" ]
}

readable() {
	(umask 077 && install) && [ -e "$DESTDIR/usr/lib/libcallout.so.1" ] &&
		! find "$DESTDIR" ! -type l ! \( -perm -o=r -a \( ! -type d -o -perm -o=x \) \) |
		grep .
}

nothing_beside_dkms() {
	local release places

	places=$("$top/qemu/kernel.sh" -b $kernel) || return
	release=$(eval "$places" && echo "$KERNEL_RELEASE")
	rm -rf "$DESTDIR"
	mkdir -p "$DESTDIR/lib/modules/$release/updates/dkms"
	touch "$DESTDIR/lib/modules/$release/updates/dkms/callout.ko.xz"
	! "$top/scripts/install.sh" $kernel 2> "$work/said" && ! installed &&
		grep "DKMS has installed callout for $release" "$work/said"
}

# Of two kernels, and of an earlier version, which had one page more.
nothing_left() {
	local other=$DESTDIR/lib/modules/other/updates/callout.ko
	local old=$DESTDIR/usr/share/man/man9/old.9
	local list=$DESTDIR/usr/share/callout/installed

	install || return
	mkdir -p "${other%/*}"
	touch "$other" "$old"
	printf '%s\n' "${other#"$DESTDIR"}" "${old#"$DESTDIR"}" >> "$list"
	"$top/scripts/install.sh" $kernel && "$top/scripts/uninstall.sh" && ! installed &&
		[ ! -e "$DESTDIR/usr/src/callout" ] && [ ! -e "${list%/*}" ]
}

# Those that DKMS has installed since are in some of the places.
kept_beside_dkms() {
	install || return
	mkdir -p "$DESTDIR/lib/modules/another/updates/dkms"
	touch "$DESTDIR/lib/modules/another/updates/dkms/callout.ko"
	! "$top/scripts/uninstall.sh" 2> "$work/said" && [ -e "$DESTDIR/usr/bin/calloutctl" ] &&
		grep "DKMS has installed callout" "$work/said"
}

item "all may read it, whatever root's umask" readable
item "nothing if the manual pages cannot be made" nothing_without_awk
item "nothing beside DKMS's module" nothing_beside_dkms
item "uninstall.sh leaves nothing" nothing_left
item "and touches nothing while DKMS has a module" kept_beside_dkms
finish
