#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the modules for one kernel, out of tree, into build/KERNEL/: with W=1, except for User Mode
# Linux and the running kernel, and with sparse for kunit and fuzz, which together have every file.
# static.sh runs kernel-doc, once.
#
#   scripts/build.sh KERNEL [make arguments]
#
# make compiles only changed files, so an incremental build repeats no warning. A build that warned,
# was interrupted or had other arguments is therefore followed by a clean one: build/KERNEL/clean
# exists, and holds the arguments, if and only if every object was compiled with them and without a
# warning.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=qemu/machines.sh
. "$top/qemu/machines.sh"
[ $# -ge 1 ] || die "usage: build.sh KERNEL [make arguments]"
kernel=$1
shift

# Links to the sources: objects of different kernels stay apart, and the source tree stays clean.
farm() {
	local part

	mkdir -p "$out/src"
	find "$out/src" -xtype l -delete
	for part in Kbuild Kconfig VERSION module kunit selftests/modules; do
		[ -e "$top/$part" ] || continue
		mkdir -p "$(dirname "$out/src/$part")"
		cp -as --remove-destination -T "$top/$part" "$out/src/$part"
	done
}

places=$("$top/qemu/kernel.sh" -b "$kernel")
eval "$places"
if [ "$kernel" = running ] && [ ! -e "$KERNEL_BUILD/Makefile" ]; then
	die "no headers of $KERNEL_RELEASE, the running kernel, in $KERNEL_BUILD: install" \
		"linux-headers-$KERNEL_RELEASE, or what has them elsewhere (kernel-devel," \
		"linux-headers); KERNEL= names another kernel"
fi
machine_of "$kernel"
# The facility is part of these.
case $kernel in replaced|replaced-debug) exit ;; esac
out=$build/$kernel
mkdir -p "$out"
exec 8> "$out/lock"
flock 8

# What is installed, and no more.
tests=m
[ "$kernel" != running ] || tests=
# Coverage ends with callout.ko, which has the function that notes it.
bsd=m
[ "$kernel" != fuzz ] || bsd=
set -- CONFIG_CALLOUT=m CONFIG_CALLOUT_BSD=$bsd CONFIG_CALLOUT_SELFTESTS=$tests cmd_checkdoc= "$@"
case $kernel in
clang) set -- LLVM=1 CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_KUNIT_TEST=m W=1 "$@" ;;
uml-debug)
	set -- ARCH=um CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_DEBUG=y CONFIG_CALLOUT_KUNIT_TEST=m \
		"$@" ;;
uml|uml-*) set -- ARCH=um CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_LAB_BENCH=m "$@" ;;
kunit|gdb|kunit-*)
	[ ! "$foreign" ] || set -- ARCH="$arch" CROSS_COMPILE="$KERNEL_CROSS" "$@"
	# sparse does not know what the kernel calls riscv64's instructions.
	[ "$foreign" = riscv64 ] || set -- C=1 CF=-D__CHECK_ENDIAN__ "$@"
	set -- CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_LAB_BENCH=m CONFIG_CALLOUT_KUNIT_TEST=m W=1 \
		"$@" ;;
debug)
	set -- CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_DEBUG=y CONFIG_CALLOUT_KUNIT_TEST=m W=1 \
		"$@" ;;
interleave)
	set -- CONFIG_CALLOUT_LAB=y CONFIG_CALLOUT_DEBUG=y CONFIG_CALLOUT_POINTS=y \
		CONFIG_CALLOUT_KUNIT_TEST=m W=1 "$@" ;;
fuzz)
	set -- CONFIG_CALLOUT_SELFTESTS= CONFIG_CALLOUT_DEBUG=y CONFIG_CALLOUT_COVER=y W=1 C=1 \
		CF=-D__CHECK_ENDIAN__ "$@" ;;
*+lab) set -- CONFIG_CALLOUT_LAB=y W=1 "$@" ;;
running)
	# gcc does not know the options of a kernel of clang's.
	! grep -qsx CONFIG_CC_IS_CLANG=y "$KERNEL_BUILD"/{.config,include/config/auto.conf} ||
		set -- LLVM=1 "$@" ;;
*)
	# Headers of Debian 12's 6.1 do not know that their compiler is for another architecture.
	[ ! "$foreign" ] || set -- CROSS_COMPILE="$gnu-" "$@"
	set -- W=1 "$@" ;;
esac

arguments="$KERNEL_BUILD $*"
[ "$(cat "$out/clean" 2>/dev/null)" = "$arguments" ] || rm -rf "$out/src"
rm -f "$out/clean"
farm
# In a root file system that has the kernel's compiler the two trees are where they are here.
inside() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -ec '
		for dir in "$TOP" "$OUT"; do
			mkdir -p "$ROOT$dir"
			mount --bind "$dir" "$ROOT$dir"
		done
		mount -t proc proc "$ROOT/proc"
		exec chroot "$ROOT" "$@"' sh "$@"
}
# The headers of another architecture name its compiler without a directory.
[ ! "$KERNEL_CROSS" ] || PATH=${KERNEL_CROSS%/*}:$PATH
[ ! "$KERNEL_ROOT" ] || export TOP="$top" OUT="$out" ROOT="$KERNEL_ROOT"
${KERNEL_ROOT:+inside} make --no-print-directory -C "$KERNEL_BUILD" -j"$(nproc)" M="$out/src" "$@" \
	modules 2>&1 | tee "$out/build.log"
# make itself warns about its jobserver.
if ! grep -v '^make' "$out/build.log" | grep -E 'warning:|WARNING:|error:' > "$out/warnings"; then
	echo "$arguments" > "$out/clean"
fi

# Each replaces the old one in one step: another boot may be copying it.
sed 's/\.o$/.ko/' "$out/src/modules.order" | while read -r module; do
	case $module in
	/*) ;;
	*) module=$out/src/$module ;;
	esac
	cmp -s "$module" "$out/${module##*/}" && continue
	cp "$module" "$out/${module##*/}.partial"
	mv "$out/${module##*/}.partial" "$out/${module##*/}"
done
# What an earlier build has made, and this one has not, goes. Others keep theirs here: installed.sh,
# and whoever has a module to try in the test machine.
sed -E 's~.*/~~; s/\.k?o$/.ko/' "$out/src/modules.order" | LC_ALL=C sort > "$out/made.new"
touch "$out/made"
LC_ALL=C comm -23 "$out/made" "$out/made.new" | (cd "$out" && xargs -r rm -f)
mv "$out/made.new" "$out/made"
