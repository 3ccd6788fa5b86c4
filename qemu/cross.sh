#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the program of the cross compiler that it is linked as, where kernel.sh has unpacked it:
# ../usr/bin/NAME. These programs look for shared libraries in /usr, as installed ones must. gcc
# finds its own parts, but libc.so, which tells the linker what to link, names files in /usr, too.

root=${0%/*}/..
name=${0##*/}
case $name in
*-gcc|*-gcc-[0-9]*) set -- --sysroot="$root" "$@" ;;
esac
export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu"
exec "$root/usr/bin/$name" "$@"
