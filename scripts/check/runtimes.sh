#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tests that other event loops have for their timers, unmodified, on libcallout.
#
#   scripts/check/runtimes.sh
#
# libuv's, of Debian's source package, with uv_timer_t made of callout_libuv.h and a context: see
# selftests/runtimes/uv_timer.c. A timer of libuv's own may be early, and one of libcallout may not.
# CPython's tests of asyncio, all, on callout.EventLoop; Debian has them as a package.
#
# All on this machine, without the module. One TAP line a test of libuv's, and one for all of
# CPython's; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=qemu/archive.sh
. "$(dirname "$0")/../../qemu/archive.sh"
[ $# -eq 0 ] || die "usage: runtimes.sh"
cd "$top"
scripts/setup.sh runtimes
out=$build/runtimes
uv=$cache/libuv1
rm -rf "$out"
mkdir -p "$out"

# unpack_source PACKAGE DIRECTORY: of the suite that setup.sh installs from
unpack_source() {
	local lists=$out/apt options

	mkdir -p "$lists/partial"
	echo "$(debian_archive deb-src) bookworm main" > "$out/sources.list"
	options=(-q -o "Dir::Etc::sourcelist=$out/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::lists=$lists" -o APT::Sandbox::User=root)
	apt-get "${options[@]}" update &&
		(cd "$out" && apt-get "${options[@]}" source "$1") &&
		mkdir -p "${2%/*}" && rm -rf "$2" && mv "$out/$1"-*/ "$2"
}

# compile FILE: one of libuv's tests, or of selftests/runtimes, which has no warnings
compile() {
	local warnings=(-w)

	[[ $1 != selftests/* ]] || warnings=(-Wall -Wextra -Wno-unused-parameter -Werror)
	gcc -D_GNU_SOURCE -O1 -g "${warnings[@]}" -Imodule/include/uapi -Itools/lib -Itools/loops \
		-I"$uv/include" -I"$uv/src" -I"$uv/test" -c -o "$out/$(basename "$1" .c).o" "$1"
}

build_uv() {
	local file own=("$out/uv_main.o")

	make -s -C tools O="$out" library || return
	for file in selftests/runtimes/*.c "$uv"/test/test-{timer*,ref}.c; do
		compile "$file" || return
	done
	for file in "$uv"/test/test-{timer*,ref}.c; do
		own+=("$out/$(basename "$file" .c).o")
	done
	gcc -rdynamic -o "$out/own" "${own[@]}" -luv_a -pthread -ldl -lrt &&
		gcc -rdynamic -o "$out/callout" "${own[@]}" "$out/uv_timer.o" \
			"$out/lib/libcallout.a" -luv_a -pthread -ldl -lrt
}

some_early() { [ "$("$out/own" early)" -gt 0 ]; }

none_early() { [ "$("$out/callout" early)" -eq 0 ]; }

cpython() {
	LD_LIBRARY_PATH=$out/lib PYTHONPATH=tools/python PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 tools/python/tests/cpython.py
}

[ -d "$uv" ] || logged libuv-source unpack_source libuv1 "$uv"
logged libuv build_uv
while read -r name; do
	item "libuv: $name" timeout 60 "$out/callout" "$name"
done < <(sed -nE 's/^TEST_IMPL\((timer[a-z0-9_]*)\).*/\1/p' "$uv"/test/test-{timer*,ref}.c)
item "libuv: its own timers are early" some_early
item "libuv: these are not" none_early
item "CPython: test_asyncio" cpython
echo "# libev: not run, its sources have no tests"
echo "# libevent: not run, its tests set timers by event_add(), which has them in its own heap"
finish
