#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts the facility into a kernel tree, Linux 6.10 or later, to be built and tested there as any
# other part of it. A second run brings what has changed here since, and writes no other file.
#
#   scripts/package/intree.sh LINUX
#
#   kernel/callout/                     the facility, Kconfig and .kunitconfig
#   kernel/callout/kunit/               its KUnit tests
#   kernel/callout/bsd/                 headers by the names of a BSD
#   include/{linux,trace/events,uapi/linux}/callout*.h
#   Documentation/ABI/testing/*callout
#   tools/testing/selftests/callout/    the tests of the device and of libcallout
#
# and a line for these in kernel/Makefile, init/Kconfig and tools/testing/selftests/Makefile, and an
# entry in MAINTAINERS. Files are replaced, never written into: LINUX can be a copy by hard links.

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../environment.sh"

die() { echo "intree.sh: $*" >&2; exit 1; }

[ $# -eq 1 ] || die "usage: intree.sh LINUX"
linux=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
main=kernel/callout
tests=tools/testing/selftests/callout

number() { sed -n "s/^$1 = \([0-9][0-9]*\)$/\1/p" "$linux/Makefile"; }

check_tree() {
	local file version level

	for file in Makefile Kbuild MAINTAINERS kernel/Makefile init/Kconfig \
		    tools/testing/selftests/{Makefile,lib.mk}; do
		[ -r "$linux/$file" ] || die "$linux is no Linux source: it has no $file"
	done
	version=$(number VERSION)
	level=$(number PATCHLEVEL)
	[[ $version && $level ]] ||
		die "$linux/Makefile does not say which version of Linux it is of"
	# Before, $(src) was not a path to find headers with.
	[ $((version * 1000 + level)) -ge 6010 ] ||
		die "$linux is Linux $version.$level; the facility can be in 6.10 and later"
	[ -w "$linux" ] || die "$linux cannot be written to"
}

# put DIRECTORY FILE...
put() { install -D -m 644 -t "$new/$1" "${@:2}"; }
put_as() { install -D -m 644 "$2" "$new/$1"; }

# Out of tree, the Kbuild files say where the headers are and which options are set.
makefile() {
	sed -e '/^# For the fuzzer/,/^$/d' -e '/-DCONFIG_CALLOUT_/d' -e "s~-I\$(src)/include ~~" \
		-e "s~-I\$(src)/../module/include ~~; s~\$(src)/../module~\$(src)/..~" \
		-e "s~\$(src)/../VERSION~\$(src)/VERSION~g" "$1"
}

put_facility() {
	local folder header

	put $main "$top"/module/*.[ch] "$top/Kconfig" "$top/VERSION"
	for folder in "$top"/{module,kunit}/*/ "$top"/kunit/timers/cases/; do
		folder=${folder#"$top/"}
		[ "$folder" != module/include/ ] || continue
		put "$main/${folder#module/}" "$top/$folder"*.[ch]
	done
	put include/linux "$top"/module/include/linux/*.h
	put include/uapi/linux "$top"/module/include/uapi/linux/*.h
	put include/trace/events "$top"/module/include/trace/events/*.h
	put Documentation/ABI/testing "$top"/Documentation/ABI/testing/*
	for header in "$top"/module/include/bsd/*/sys/*.h; do
		put "$main/$(dirname "${header#"$top"/module/include/}")" "$header"
	done
	{
		makefile "$top/module/Kbuild"
		echo
		grep ' kunit/$\|	kunit/$' "$top/Kbuild"
	} > "$new/$main/Makefile"
	makefile "$top/kunit/Kbuild" > "$new/$main/kunit/Makefile"
	# Coverage stays here, which defines a function of kernel/kcov.c, and only the fuzzer wants
	# it; and the modules that upset their kernel.
	sed -i '/^config CALLOUT_COVER$/,$d' "$new/$main/Kconfig"
	rm "$new/$main/probe/cover.c"
	cat > "$new/$main/.kunitconfig" <<-EOT
		# SPDX-License-Identifier: GPL-2.0
		CONFIG_KUNIT=y
		CONFIG_DEBUG_FS=y
		CONFIG_HIGH_RES_TIMERS=y
		CONFIG_NO_HZ_IDLE=y
		CONFIG_CALLOUT=y
		CONFIG_CALLOUT_BSD=y
		CONFIG_CALLOUT_LAB=y
		CONFIG_CALLOUT_KUNIT_TEST=y
	EOT
}

put_tests() {
	local file

	put $tests "$top"/selftests/lib/*.h
	for file in "$top"/selftests/device/*.c; do
		put_as "$tests/device_${file##*/}" "$file"
	done
	for file in "$top"/selftests/library/*.c; do
		put_as "$tests/libcallout_${file##*/}" "$file"
	done
	sed -i 's,^#include "lib/,#include ",' "$new/$tests"/*.c
	put $tests/libcallout "$top"/tools/lib/*.[ch] "$top"/tools/loops/callout_uring.h
	cat > "$new/$tests/Makefile" <<-'EOT'
		# SPDX-License-Identifier: GPL-2.0
		# Tests of /dev/callout, and of libcallout, whose sources are built into its tests

		CFLAGS += -O2 -g -std=gnu11 -Wall -D__SANE_USERSPACE_TYPES__ -pthread
		CFLAGS += -I$(CURDIR)/libcallout -I$(CURDIR)/.. $(KHDR_INCLUDES)

		LIBRARY_TESTS := $(basename $(wildcard libcallout_*.c))

		TEST_GEN_PROGS := $(basename $(wildcard device_*.c)) $(LIBRARY_TESTS)

		LOCAL_HDRS += $(wildcard *.h libcallout/*.h)

		include ../lib.mk

		$(addprefix $(OUTPUT)/,$(LIBRARY_TESTS)): $(wildcard libcallout/*.c)
	EOT
	cat > "$new/$tests/config" <<-EOT
		CONFIG_CALLOUT=m
		CONFIG_DEBUG_FS=y
		CONFIG_IO_URING=y
		CONFIG_TIME_NS=y
	EOT
	echo "timeout=600" > "$new/$tests/settings"
	{
		echo "# SPDX-License-Identifier: GPL-2.0"
		(cd "$new/$tests" && printf '%s\n' *.c | sed 's/\.c$//')
	} > "$new/$tests/.gitignore"
}

# Whoever takes it into a tree may become its maintainer.
maintainers() {
	cat <<-EOT
		CALLOUT FACILITY
		S:	Orphan
		F:	Documentation/ABI/testing/*callout
		F:	include/linux/callout*.h
		F:	include/trace/events/callout.h
		F:	include/uapi/linux/callout.h
		F:	kernel/callout/
		F:	tools/testing/selftests/callout/
	EOT
}

# edit FILE PROGRAM [ASSIGNMENT]...: makes a new version of a file; the program fails if it cannot.
edit() {
	mkdir -p "$(dirname "$new/$1")"
	awk "${@:3}" "$2" "$linux/$1" > "$new/$1" || die "$linux/$1 has no place to add to"
}

# A line is removed and added again, so that there is one.
edit_files() {
	# shellcheck disable=SC2016 # awk's own variables
	local after='
		$0 == line { next }
		{ print }
		$0 == place && !found { print line; found = 1 }
		END { exit !found }'

	edit kernel/Makefile "$after" -v place="obj-y += time/" \
		-v line="obj-\$(CONFIG_CALLOUT) += callout/"
	edit init/Kconfig "$after" -v place='source "kernel/time/Kconfig"' \
		-v line='source "kernel/callout/Kconfig"'
	# Sorted by name.
	# shellcheck disable=SC2016
	edit tools/testing/selftests/Makefile '
		$0 == line { next }
		/^TARGETS \+= / && $0 > line && !found { print line; found = 1 }
		{ print }
		END { exit !found }' -v line="TARGETS += callout"
	maintainers > "$new/entry"
	# Sorted by title, but for some: before the first title above ours of which the next is
	# above it too. An empty line ends an entry.
	# shellcheck disable=SC2016
	edit MAINTAINERS '
		BEGIN {
			while ((getline line < entry) > 0)
				text = text line "\n"
			title = substr(text, 1, index(text, "\n") - 1)
		}
		list && $0 == title { old = 1 }
		old { old = !/^$/; next }
		list && !found && /^[A-Z0-9]/ && !/^[A-Z]:/ {
			found = held && $0 > title
			if (found)
				print text
			printf "%s", held
			held = ""
			above = !found && $0 > title
		}
		above { held = held $0 "\n"; next }
		/^Maintainers List/ { list = 1 }
		{ print }
		END {
			if (held)
				print text
			printf "%s", held
			exit !found && !held
		}' -v entry="$new/entry"
	rm "$new/entry"
}

# All is made in its own directory first: what fails leaves LINUX as it was.
install_new() {
	local file

	cd "$linux"
	find "$new" -type f -printf '%P\n' | while read -r file; do
		! cmp -s "$new/$file" "$file" || continue
		mkdir -p "$(dirname "$file")"
		cp "$new/$file" "$file.partial"
		mv -f "$file.partial" "$file"
	done
	# What an earlier version had.
	find $main $tests include -name '*.[ch]' ! -name '*.mod.c' \
		\( -path "$main/*" -o -path "$tests/*" -o -path 'include/*linux/callout*' \) |
		while read -r file; do
			[ -e "$new/$file" ] || rm -f "$file"
		done
}

check_tree
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
put_facility
put_tests
edit_files
install_new
