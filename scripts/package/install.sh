#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the modules built for a kernel, headers and symbols to build against it, libcallout,
# calloutctl and the manual pages.
#
#   [DESTDIR=DIRECTORY] [PREFIX=/usr] [LIBDIR=PREFIX/lib] scripts/package/install.sh -p | KERNEL
#
# With -p, for packages, all but the first four of these, which DKMS makes, and the documents, which
# are in packages by debian/; the pages of functions come from the tarball:
#
#   /lib/modules/RELEASE/updates/callout.ko, callout_bsd.ko
#   PREFIX/src/callout/include/linux/       headers for kernel code
#   PREFIX/src/callout/include/bsd/SYSTEM/  the same, by the names of a BSD
#   PREFIX/src/callout/RELEASE/Module.symvers
#
#   PREFIX/include/linux/callout.h          header for programs
#   PREFIX/include/libcallout.h
#   LIBDIR/libcallout.so.1, libcallout.so, libcallout.a, pkgconfig/libcallout.pc
#   PREFIX/bin/calloutctl, PREFIX/share/man/
#   PREFIX/share/bash-completion/, zsh/, fish/  its completions
#   PREFIX/share/doc/callout/               README.md, NEWS, documents, examples
#   PREFIX/lib/udev/rules.d/60-callout.rules  opens the device to the group callout
#   PREFIX/lib/sysusers.d/callout.conf        systemd-sysusers creates that group
#   PREFIX/lib/modules-load.d/callout.conf    loads the module at boot
#
# Without -p, PREFIX/share/callout/installed lists all that, for uninstall.sh: what was installed
# for other kernels, too.
#
# With DESTDIR everything goes below that directory, and depmod, ldconfig, mandb, systemd-sysusers
# and udevadm are not run. All is put into its own directory first: if something is missing,
# as python3 for a newer kernel-doc, nothing is installed.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 1 ] || die "usage: install.sh -p | KERNEL"
package=
[ "$1" != -p ] || package=yes
root=${DESTDIR:+$(realpath -m -- "$DESTDIR")}
prefix=${PREFIX:-/usr}
libdir=${LIBDIR:-$prefix/lib}

KERNEL_BUILD=
if [ "$package" ]; then
	[ -d "$top/Documentation/man/man9" ] || die "these sources are not of make dist"
else
	places=$("$top/qemu/kernel.sh" -b "$1")
	eval "$places"
	# depmod may take either of two.
	if compgen -G "$root/lib/modules/$KERNEL_RELEASE/updates/dkms/callout.ko*" > /dev/null; then
		die "DKMS has installed callout for $KERNEL_RELEASE: remove that first"
	fi
fi
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

# put MODE FILE PATH
put() { install -D -m "$1" "$2" "$new$3"; }

if [ ! "$package" ]; then
	for module in callout callout_bsd; do
		put 644 "$build/$1/$module.ko" "/lib/modules/$KERNEL_RELEASE/updates/$module.ko"
	done
	"$top/scripts/package/headers.sh" "$new$prefix/src/callout/include"
	put 644 "$build/$1/src/Module.symvers" "$prefix/src/callout/$KERNEL_RELEASE/Module.symvers"
fi
make -s -C "$top/tools" O="$build/user" DESTDIR="$new" PREFIX="$prefix" LIBDIR="$libdir" install
put 755 "$build/user/calloutctl" "$prefix/bin/calloutctl"
put 644 "$top/tools/calloutctl.bash" "$prefix/share/bash-completion/completions/calloutctl"
# Debian's zsh looks for files of packages elsewhere than below /usr/local.
functions=site-functions
[ "$prefix" != /usr ] || functions=vendor-completions
put 644 "$top/tools/calloutctl.zsh" "$prefix/share/zsh/$functions/_calloutctl"
put 644 "$top/tools/calloutctl.fish" "$prefix/share/fish/vendor_completions.d/calloutctl.fish"
"$top/scripts/package/man.sh" "$new$prefix/share/man" ${KERNEL_BUILD:+"$KERNEL_BUILD"}
put 644 "$top/udev/60-callout.rules" "$prefix/lib/udev/rules.d/60-callout.rules"
put 644 "$top/udev/callout.sysusers" "$prefix/lib/sysusers.d/callout.conf"
put 644 "$top/udev/callout.modules-load" "$prefix/lib/modules-load.d/callout.conf"

if [ ! "$package" ]; then
	documents=$prefix/share/doc/callout
	for file in "$top"/{README.md,NEWS,Documentation/*.rst,tools/examples/idle*}; do
		put 644 "$file" "$documents/${file#"$top/"}"
	done
	list=$prefix/share/callout/installed
	mkdir -p "$new${list%/*}"
	{
		echo "$list"
		find "$new" ! -type d -printf '/%P\n'
		cat "$root$list" 2> /dev/null || :
	} | LC_ALL=C sort -u > "$new$list"
fi

# The group that the udev rule names, before the rule.
if [ ! "$root" ] && command -v systemd-sysusers > /dev/null; then
	systemd-sysusers "$top/udev/callout.sysusers"
fi
# A directory there may be a link, as /lib is.
find "$new" ! -type d -printf '/%P\n' | while read -r file; do
	mkdir -p "$root${file%/*}"
	cp -d --preserve=mode --remove-destination "$new$file" "$root$file"
done
if [ "$root" ]; then
	[ "$package" ] || echo "callout for $KERNEL_RELEASE is in $root"
	exit
fi
depmod "$KERNEL_RELEASE"
ldconfig
if command -v mandb > /dev/null; then
	# man finds the pages without its index too.
	mandb -q || :
fi
if command -v udevadm > /dev/null; then
	# In a chroot no udev runs.
	udevadm control --reload 2> /dev/null || :
fi
loaded=
! grep -q '^callout ' /proc/modules || loaded="modprobe -r callout; "
! grep -q '^callout_bsd ' /proc/modules || loaded="modprobe -r callout_bsd; "
if [ "$KERNEL_RELEASE" = "$(uname -r)" ]; then
	echo "callout is installed for $KERNEL_RELEASE; next: ${loaded}modprobe callout"
else
	echo "callout is installed for $KERNEL_RELEASE, and not for $(uname -r), which is running"
fi
