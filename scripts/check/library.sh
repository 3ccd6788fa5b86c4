#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libcallout on this machine, without the module and without a virtual machine.
#
#   scripts/check/library.sh
#
# The tests of contexts on timerfds, under the address, undefined behaviour and thread sanitizers
# and under valgrind; the library and its headers by each compiler that is here, and in each version
# of C and C++; what make -C tools installs, and by it the examples on a timerfd; the Python
# package. One TAP line a program, a compiler, a version of a language; the last line is
# "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
out=$build/library
rm -rf "$out"
mkdir -p "$out"

harness=$(qemu/kernel.sh -s)/tools/testing/selftests
tests="contexts epoll failures lazy timers order clocks fallback threads"
include=(-Imodule/include/uapi -Itools/lib -Itools/loops)
# Tests of the device.
not_here=(-V device -V device_oneshot -V device_edge -V device_and_timerfd -F global)

# compile DIRECTORY TESTS OPTION...: the tests, with the library in them
compile() {
	local dir=$out/$1 tests=$2 name flags

	shift 2
	mkdir -p "$dir"
	flags=(-D_GNU_SOURCE -D__SANE_USERSPACE_TYPES__ -DFAKE_SETTINGS=1 "${include[@]}"
		-Iselftests -isystem "$harness" -O1 -g -std=gnu11 -Wall -Wextra -Werror
		-Wno-unused-parameter -pthread "$@")
	for name in tools/lib/*.c; do
		gcc "${flags[@]}" -c -o "$dir/$(basename "$name" .c).o" "$name" || return
	done
	for name in $tests; do
		gcc "${flags[@]}" -o "$dir/$name" "selftests/library/$name.c" "$dir"/*.o ||
			return
	done
}

# run DIRECTORY NAME COMMAND...: fails if a test does, is skipped, or none is run
run() {
	local log=$out/$1-$2.log

	if "${@:3}" "$out/$1/$2" "${not_here[@]}" > "$log" 2>&1 &&
	   grep -q '^# Totals: pass:[1-9]' "$log" && ! grep -q '# SKIP' "$log"; then
		return
	fi
	cat "$log"
	return 1
}

# header NAME COMPILER OPTION... FILE: with the options of a program that adds few
header() {
	"${@:2}" "${include[@]}" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -include "$1.h"
}

# loops COMPILER OPTION... FILE: the headers for loops
loops() {
	local name

	for name in libev libuv libevent uring; do
		header callout_$name "$@" || return
	done
}
posix=-D_POSIX_C_SOURCE=199309L

# library COMPILER: the static and the shared library, by the Makefile. Debian's musl has no
# headers of Linux.
library() {
	local headers=

	[ "$1" != musl-gcc ] ||
		headers="-idirafter /usr/include -idirafter /usr/include/$(gcc -dumpmachine)"
	CPPFLAGS=$headers make -s -C tools CC="$1" O="$out/$1" library
}

# What strict modes lack is said.
says_what_lacks() {
	! header libcallout "$1" -std="$2" -x c /dev/null 2> "$out/lacks" &&
		grep -q 'error: .*define _POSIX_C_SOURCE' "$out/lacks"
}

# A program that knows pkg-config and nothing else of the tree.
installed() {
	make -s -C tools O="$out/gcc" DESTDIR="$root" PREFIX=/opt/callout install || return
	mkdir -p "$dir"
	cp selftests/installed/*.c tools/examples/idle* "$dir/"
	# shellcheck disable=SC2046 # flags
	(cd "$dir" &&
		gcc -Wall -Wextra -Werror -o shared wait.c \
			$(pkg-config --cflags --libs libcallout) &&
		gcc -static -o static wait.c $(pkg-config --static --cflags --libs libcallout)) ||
		return
	"$dir/shared" && "$dir/static"
}

# installed_loop NAME [LIBRARY]: an example, in the same way. A turn or a flush that fails counts.
installed_loop() {
	local flags fails

	read -r -a flags < <(pkg-config --cflags --libs libcallout)
	flags=(-Wall -Wextra -Werror "$1.c" idle.c "${flags[@]}" "${@:2}")
	(cd "$dir" && gcc -o "$1" "${flags[@]}") && "$dir/$1" 1000 1 || return
	for fails in turn flush; do
		(cd "$dir" && gcc -o "$1_fails" -Wl,--wrap=callout_ctx_$fails fails.c \
			"${flags[@]}") || return
		! timeout 60 "$dir/$1_fails" 1000 1 2> "$out/failed" &&
			grep -q "the callout: No space" "$out/failed" || return
	done
}

# A handler runs the loop again.
installed_nested() {
	local flags

	read -r -a flags < <(pkg-config --cflags --libs libcallout)
	(cd "$dir" && gcc -Wall -Wextra -Werror -o nested_ev nested_ev.c "${flags[@]}" -lev) &&
		"$dir/nested_ev"
}

# The example of io_uring needs the device.
installed_uring() {
	local flags

	read -r -a flags < <(pkg-config --cflags --libs libcallout)
	(cd "$dir" && gcc -Wall -Wextra -Werror -o idle_uring idle_uring.c "${flags[@]}" -luring) ||
		return
	! "$dir/idle_uring" 10 1 2> "$out/no_device" && grep -q "load the module" "$out/no_device"
}

# setuptools leaves files where it builds.
wheel() {
	local pip=(/usr/bin/python3 -m pip -q --disable-pip-version-check)

	mkdir -p "$out/wheel" && cp -rL tools/python "$out/wheel/source" &&
		"${pip[@]}" wheel --no-index --no-deps --no-build-isolation -w "$out/wheel" \
			"$out/wheel/source" &&
		"${pip[@]}" install --no-index --no-deps --root-user-action=ignore \
			--target "$site" "$out/wheel"/callout-*.whl
}

compile address "$tests" -fsanitize=address,undefined -fno-sanitize-recover=all
for name in $tests; do
	item "$name, address and undefined behaviour" run address "$name" env
done
threads="timers threads"
compile thread "$threads" -fsanitize=thread
for name in $threads; do
	item "$name, data races" run thread "$name" env
done
plain="contexts failures fallback clocks"
compile plain "$plain"
for name in $plain; do
	item "$name, valgrind" run plain "$name" \
		valgrind -q --error-exitcode=9 --leak-check=full
done

for cc in gcc clang musl-gcc aarch64-linux-gnu-gcc s390x-linux-gnu-gcc; do
	command -v "$cc" > /dev/null || continue
	item "the library by $cc" library "$cc"
done
for std in c99 c11 c17 c2x; do
	item "the header in $std" header libcallout gcc -std=$std $posix -x c /dev/null
	item "the header in $std, clang" \
		header libcallout clang -std=$std $posix -x c /dev/null
	item "the header in $std without POSIX" says_what_lacks gcc $std
	item "the headers for loops in $std" \
		loops gcc -std=$std -D_POSIX_C_SOURCE=200112L -x c /dev/null
done
for std in c++11 c++14 c++17 c++20 c++2b; do
	item "the header in $std, clang" header libcallout clang -std=$std -x c++ /dev/null
	item "the headers for loops in $std, clang" loops clang -std=$std -x c++ /dev/null
	! command -v g++ > /dev/null ||
		item "the header in $std" header libcallout g++ -std=$std -x c++ /dev/null
done
root=$out/root
site=$out/wheel/site
dir=$out/alone
export PKG_CONFIG_LIBDIR=$root/opt/callout/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=$root/opt/callout/lib
item "installed alone" installed
item "installed alone, idle_epoll" installed_loop idle_epoll
item "installed alone, idle_ev" installed_loop idle_ev -lev
item "installed alone, nested_ev" installed_nested
item "installed alone, idle_uv" installed_loop idle_uv -luv
item "installed alone, idle_event" installed_loop idle_event -levent_core
item "installed alone, idle_uring" installed_uring
export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1
item "a wheel" wheel
item "Python" /usr/bin/python3 -W error -m unittest discover -s tools/python/tests
item "idle_asyncio" /usr/bin/python3 tools/examples/idle_asyncio.py 2000
finish
