#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the module built for a kernel, headers and symbols to build against it, libcallout,
# calloutctl and the manual pages.
#
#   [DESTDIR=DIRECTORY] [PREFIX=/usr] [LIBDIR=PREFIX/lib] scripts/install.sh -p | KERNEL
#
# With -p, for packages, all but the first three of these, which DKMS makes; the pages of functions
# are those of the tarball:
#
#   /lib/modules/RELEASE/updates/callout.ko
#   PREFIX/src/callout/include/linux/       headers for kernel code
#   PREFIX/src/callout/include/bsd/SYSTEM/  the same, by the names of a BSD
#   PREFIX/src/callout/RELEASE/Module.symvers
#
#   PREFIX/include/linux/callout.h          header for programs
#   PREFIX/include/libcallout.h
#   LIBDIR/libcallout.so.1, libcallout.so, libcallout.a, pkgconfig/libcallout.pc
#   PREFIX/bin/calloutctl, PREFIX/share/man/, PREFIX/share/bash-completion/completions/calloutctl
#   PREFIX/lib/udev/rules.d/60-callout.rules  opens the device to the group callout
#   PREFIX/lib/sysusers.d/callout.conf        systemd-sysusers creates that group
#   PREFIX/lib/modules-load.d/callout.conf    loads the module at boot
#
# With DESTDIR everything goes below that directory, and depmod, ldconfig, mandb and
# systemd-sysusers are not run.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -eq 1 ] || die "usage: install.sh -p | KERNEL"
package=
[ "$1" != -p ] || package=yes
# headers.sh and man.sh change the directory.
root=${DESTDIR:+$(realpath -m -- "$DESTDIR")}
prefix=$root${PREFIX:-/usr}
libdir=${LIBDIR:-${PREFIX:-/usr}/lib}

KERNEL_BUILD=
if [ "$package" ]; then
	[ -d "$top/Documentation/man/man9" ] || die "these sources are not of make dist"
else
	places=$("$top/qemu/kernel.sh" -b "$1")
	eval "$places"
fi

put() { install -D -m "$1" "$2" "$3"; }

if [ ! "$package" ]; then
	put 644 "$build/$1/callout.ko" "$root/lib/modules/$KERNEL_RELEASE/updates/callout.ko"
	"$top/scripts/headers.sh" "$prefix/src/callout/include"
	put 644 "$build/$1/src/Module.symvers" \
		"$prefix/src/callout/$KERNEL_RELEASE/Module.symvers"
fi
put 644 "$top/module/include/uapi/linux/callout.h" "$prefix/include/linux/callout.h"
put 644 "$top/tools/lib/libcallout.h" "$prefix/include/libcallout.h"
shared=$(readlink -f "$build/user/lib/libcallout.so")
put 644 "$shared" "$root$libdir/${shared##*/}"
put 644 "$build/user/lib/libcallout.a" "$root$libdir/libcallout.a"
cp -P "$build/user/lib/libcallout.so.1" "$build/user/lib/libcallout.so" "$root$libdir/"
mkdir -p "$root$libdir/pkgconfig"
sed -e "s|@PREFIX@|${PREFIX:-/usr}|; s|@LIBDIR@|$libdir|; s|@VERSION@|$(cat "$top/VERSION")|" \
	"$top/tools/lib/libcallout.pc.in" > "$root$libdir/pkgconfig/libcallout.pc"
put 755 "$build/user/calloutctl" "$prefix/bin/calloutctl"
put 644 "$top/tools/calloutctl.bash" "$prefix/share/bash-completion/completions/calloutctl"
"$top/scripts/man.sh" "$prefix/share/man" ${KERNEL_BUILD:+"$KERNEL_BUILD"}
put 644 "$top/udev/60-callout.rules" "$prefix/lib/udev/rules.d/60-callout.rules"
put 644 "$top/udev/callout.sysusers" "$prefix/lib/sysusers.d/callout.conf"
put 644 "$top/udev/callout.modules-load" "$prefix/lib/modules-load.d/callout.conf"
[ ! "$root" ] || exit 0
depmod "$KERNEL_RELEASE"
ldconfig
if command -v mandb > /dev/null; then
	# man finds the pages without its index too.
	mandb -q || :
fi
if command -v systemd-sysusers > /dev/null; then
	systemd-sysusers "$prefix/lib/sysusers.d/callout.conf"
fi
