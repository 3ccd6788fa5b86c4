#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds selftests/modules/client, tcp and bsd and selftests/installed as a user would: against
# installed files, and nothing else of this tree.
#
#   scripts/check/installed.sh KERNEL
#
# After build.sh KERNEL and the programs. Installs into build/KERNEL/installed; leaves
# their modules in build/KERNEL/, and build/user/installed_wait.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 1 ] || die "usage: installed.sh KERNEL"
out=$build/$1

places=$("$top/qemu/kernel.sh" -b "$1")
eval "$places"
rm -rf "$out/installed"
# DESTDIR may be relative.
(cd "$out" && DESTDIR=installed "$top/scripts/package/install.sh" "$1")
callout=$out/installed/usr/src/callout

# sysusers.d creates the group that the udev rule names, and modules-load.d names the module.
lib=$out/installed/usr/lib
rules=$lib/udev/rules.d/60-callout.rules
group=$(sed -n 's/^KERNEL=="callout".* GROUP="\([a-z]*\)".*/\1/p' "$rules")
if ! [ "$group" ] || ! grep -qx "g $group -" "$lib/sysusers.d/callout.conf"; then
	die "nothing creates the group \"$group\" of the udev rule"
fi
if ! grep -qx callout "$lib/modules-load.d/callout.conf"; then
	die "nothing loads the module"
fi

for client in client tcp bsd; do
	rm -rf "${out:?}/$client"
	cp -r "$top/selftests/modules/$client" "$out/$client"
	make --no-print-directory -C "$KERNEL_BUILD" M="$out/$client" CALLOUT="$callout" W=1 \
		KBUILD_EXTRA_SYMBOLS="$callout/$KERNEL_RELEASE/Module.symvers" modules
	# In one step: another boot may be copying the old one.
	mv "$out/$client"/callout_*.ko "$out/"
done
# What modprobe loads with each.
for system in freebsd:callout netbsd:callout,callout_bsd openbsd:callout,callout_bsd \
	      dragonfly:callout,callout_bsd; do
	module=$out/callout_${system%:*}.ko
	depends=$(modinfo -F depends "$module" | tr , '\n' | sort | paste -sd ,)
	[ "$depends" = "${system#*:}" ] || die "$module depends on: $depends"
done

# The program, static for the test machine. The shared library must be found, have its version and
# have all symbols.
export PKG_CONFIG_LIBDIR=$out/installed/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$out/installed
library() { pkg-config "$@" libcallout; }

warnings=(-Wall -Wextra -Werror)
cp "$top/selftests/installed/wait.c" "$out/wait.c"
# shellcheck disable=SC2046 # flags
cc "${warnings[@]}" -o "$out/wait-shared" "$out/wait.c" $(library --cflags --libs)
# shellcheck disable=SC2046
cc "${warnings[@]}" -static -o "$out/wait-static" "$out/wait.c" $(library --static --cflags --libs)
mv "$out/wait-static" "$build/user/installed_wait"
# The headers need no more than the manual page says, and warn in no program.
# shellcheck disable=SC2046
cc "${warnings[@]}" -std=c99 -Wpedantic -D_POSIX_C_SOURCE=199309L -fsyntax-only \
	-include libcallout.h $(library --cflags) -x c /dev/null
# Programs that build its sources in have no more either.
# shellcheck disable=SC2046
cc "${warnings[@]}" -std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only $(library --cflags) \
	"$top"/tools/lib/*.c
# shellcheck disable=SC2046
for std in c99 c11; do
	if cc -std=$std -fsyntax-only -include libcallout.h $(library --cflags) -x c /dev/null \
		2> "$out/std" || ! grep -q "error: .*define _POSIX_C_SOURCE" "$out/std"; then
		die "libcallout.h does not say what it lacks with -std=$std"
	fi
done
# shellcheck disable=SC2046
clang "${warnings[@]}" -std=c++11 -Wpedantic -fsyntax-only -include libcallout.h \
	$(library --cflags) -x c++ /dev/null
readelf -d "$out/wait-shared" | grep -q 'NEEDED.*\[libcallout\.so\.1\]'
LD_LIBRARY_PATH=$out/installed/usr/lib ldd -r "$out/wait-shared" > "$out/wait-shared.ldd"
if grep -E 'not found|undefined' "$out/wait-shared.ldd"; then
	die "the shared library is not complete"
fi
# The static library takes no name that a program may have for itself.
nm -g --defined-only "$out/installed/usr/lib/libcallout.a" > "$out/names"
grep -q ' T callout_ctx_turn$' "$out/names"
if grep -E '^[0-9a-f]+ . ' "$out/names" | grep -v ' callout_'; then
	die "names of libcallout.a without its prefix"
fi
