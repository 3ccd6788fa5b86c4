#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What "make install" builds, what install.sh installs, when it does not, and what uninstall.sh
# leaves, with empty files for what is built. The last line is "N passed, N failed".
#
#   scripts/package/install-check.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: install-check.sh"
kernel=debian-6.12
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLOUT_BUILD=$work/build DESTDIR=$work/root
user=$work/build/user

mkdir -p "$work/build/$kernel/src" "$user/lib" "$work/bin/running"
touch "$work/build/$kernel"/{callout,callout_bsd}.ko "$work/build/$kernel/src/Module.symvers" \
	"$user/calloutctl" "$user/lib/libcallout.a" "$user/lib/libcallout.so.1.0"
ln -s libcallout.so.1.0 "$user/lib/libcallout.so.1"
ln -s libcallout.so.1 "$user/lib/libcallout.so"
# A program that man.sh needs and the machine has not.
printf '#!/bin/sh\necho "no awk" >&2\nexit 127\n' > "$work/bin/awk"
chmod +x "$work/bin/awk"

install() {
	rm -rf "$DESTDIR"
	"$top/scripts/package/install.sh" $kernel
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
	! "$top/scripts/package/install.sh" $kernel 2> "$work/said" && ! installed &&
		grep "DKMS has installed callout for $release" "$work/said"
}

# Each file that a manual page names is installed.
documents_of_pages() {
	local name

	install || return
	grep -hoE '[a-z-]+\.rst|idle_[a-z]+\.c' "$top"/Documentation/man/*.[1-9] | sort -u |
		while read -r name; do
			find "$DESTDIR/usr/share/doc/callout" -name "$name" | grep . || exit
		done
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
	"$top/scripts/package/install.sh" $kernel && "$top/scripts/package/uninstall.sh" &&
		! installed && [ ! -e "$DESTDIR/usr/src/callout" ] && [ ! -e "${list%/*}" ] &&
		[ ! -e "$DESTDIR/usr/share/doc/callout" ]
}

# Modules that DKMS has installed since are in some of the places.
kept_beside_dkms() {
	install || return
	mkdir -p "$DESTDIR/lib/modules/another/updates/dkms"
	touch "$DESTDIR/lib/modules/another/updates/dkms/callout.ko"
	! "$top/scripts/package/uninstall.sh" 2> "$work/said" &&
		[ -e "$DESTDIR/usr/bin/calloutctl" ] &&
		grep "DKMS has installed callout" "$work/said"
}

# made ARGUMENT...: the kernels that make install builds modules for
made() {
	env -u KERNEL make -n --no-print-directory -C "$top" install "$@" |
		sed -n 's~^scripts/build.sh ~~p'
}

running_by_default() {
	[ "$(made)" = running ] && [ "$(made KERNEL=$kernel)" = $kernel ]
}

# as_running CONFIG COMMAND...: while a kernel that has no module runs, or with CONFIG, one whose
# headers say so. What is mounted ends with it.
as_running() {
	local headers=$work/modules/0-none/build root=

	[ "$(id -u)" -eq 0 ] || root=-r
	rm -rf "$work/modules" "$work/build/running"
	mkdir -p "$work/modules"
	printf '#!/bin/sh\necho 0-none\n' > "$work/bin/running/uname"
	chmod +x "$work/bin/running/uname"
	if [ "$1" ]; then
		mkdir -p "$headers"
		echo "$1" > "$headers/.config"
		# shellcheck disable=SC2016 # for make
		printf 'modules:\n\t@echo "LLVM=$(LLVM) tests=$(CONFIG_CALLOUT_SELFTESTS)"\n%s\n' \
			'	@: > $(M)/modules.order' > "$headers/Makefile"
	fi
	# shellcheck disable=SC2016 # the inner shell's
	WORK=$work unshare $root -m sh -ec '
		mount --bind "$WORK/modules" /lib/modules
		PATH=$WORK/bin/running:$PATH exec "$@"' sh "${@:2}" 2>&1 | tee "$work/said"
}

# builds CONFIG ARGUMENTS: for a running kernel with this, kbuild gets these
builds() {
	as_running "$1" "$top/scripts/build.sh" running && grep -qx "$2" "$work/said"
}

says_what_lacks() {
	! as_running "" "$top/scripts/build.sh" running &&
		[ "$(wc -l < "$work/said")" -eq 1 ] &&
		grep 'no headers of 0-none.* install linux-headers-0-none' "$work/said"
}

says_which_kernels() {
	! "$top/scripts/build.sh" none 2> "$work/said" && [ "$(wc -l < "$work/said")" -eq 1 ] &&
		grep 'there is no kernel "none": debian-6.1|debian-6.12|' "$work/said"
}

says_what_is_there() { install > "$work/said" && tail -n 1 "$work/said" | grep " is in $DESTDIR"; }

item "make install is for the running kernel, or KERNEL" running_by_default
item "without the tests' modules" builds CONFIG_CC_IS_GCC=y "LLVM= tests="
item "with clang for a kernel of clang's" builds CONFIG_CC_IS_CLANG=y "LLVM=1 tests="
item "without headers it says what to install" says_what_lacks
item "for another name which kernels there are" says_which_kernels
item "it says what is installed" says_what_is_there
item "all may read it, whatever root's umask" readable
item "the documents and examples that its manual pages name" documents_of_pages
item "nothing if the manual pages cannot be made" nothing_without_awk
item "nothing beside DKMS's module" nothing_beside_dkms
item "uninstall.sh leaves nothing" nothing_left
item "and touches nothing while DKMS has a module" kept_beside_dkms
finish
