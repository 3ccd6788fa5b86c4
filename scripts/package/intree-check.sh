#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The facility in a kernel tree: intree.sh puts it into a copy of Debian's 6.12 source, kunit.py
# builds that for User Mode Linux, with the facility in the kernel, and runs the KUnit tests, and
# kselftest's Makefile builds the tests of the device. The last line is "N passed, N failed".
#
#   scripts/package/intree-check.sh [SUITE]   all suites, or this pattern of kunit.py
#
# The copy, of links, and what is built from it stay in the cache of kernels, in intree/, for a
# quick second run.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -le 1 ] || die "usage: intree-check.sh [SUITE]"
suites=("$@")
dir=$cache/intree
mkdir -p "$dir"
exec 9> "$dir/lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source_dir=$(readlink -f "$("$top/qemu/kernel.sh" -s)")
linux=$dir/${source_dir##*/}

# By links if it is on the same file system. Nothing writes into a file of the copy: intree.sh
# replaces files, and builds have their own directories.
if [ ! -d "$linux" ]; then
	rm -rf "$dir"/linux-source-*
	cp -al "$source_dir" "$linux.partial" 2> /dev/null ||
		{ rm -rf "$linux.partial"; cp -a "$source_dir" "$linux.partial"; }
	mv "$linux.partial" "$linux"
fi

put_in() { "$top/scripts/package/intree.sh" "$linux"; }

# What the facility is in.
places() {
	(cd "$linux" && find kernel/callout tools/testing/selftests/callout include/*/callout* \
		include/*/*/callout* Documentation/ABI/testing/*callout* MAINTAINERS init/Kconfig \
		kernel/Makefile tools/testing/selftests/Makefile \
		-type f -printf '%p %i %T@\n' | LC_ALL=C sort)
}

# occurs NUMBER FILE LINE
occurs() {
	[ "$(grep -cxF -- "$3" "$linux/$2")" = "$1" ] || { echo "$2: not $1 times $3"; return 1; }
}

entries() {
	occurs 1 kernel/Makefile "obj-\$(CONFIG_CALLOUT) += callout/" &&
		occurs 1 init/Kconfig 'source "kernel/callout/Kconfig"' &&
		occurs 1 tools/testing/selftests/Makefile "TARGETS += callout" &&
		occurs 1 MAINTAINERS "CALLOUT FACILITY" &&
		occurs 1 MAINTAINERS "F:	kernel/callout/" && in_order && complete_entry
}

# The entry is among its neighbours: one of Debian's 6.12 is far from where it belongs.
in_order() {
	awk '
		/^[A-Z0-9]/ && !/^[A-Z]:/ { title[++n] = $0 }
		$0 == "CALLOUT FACILITY" { at = n }
		END {
			ordered = title[at - 1] < title[at] && title[at] < title[at + 1] &&
				title[at] < title[at + 2]
			if (!ordered)
				print "MAINTAINERS: before " title[at + 1]
			exit !ordered
		}' "$linux/MAINTAINERS"
}

# Of the other entries of Debian's 6.12 some are not.
complete_entry() {
	(cd "$linux" && scripts/get_maintainer.pl --self-test=sections) > "$work/sections" &&
		! grep 'CALLOUT FACILITY' "$work/sections"
}

# The kernel has its own __sanitizer_cov_trace_pc().
no_coverage() { ! grep -riE 'cover\.o|_COVER\>|__sanitizer_cov' "$linux/kernel/callout"; }

again() {
	places > "$work/before"
	put_in || return
	places > "$work/after"
	diff "$work/before" "$work/after" && entries
}

# A line that is there twice, an old entry, a source too many, and a missing source.
updates() {
	local old=$linux/kernel/callout/old.c file

	for file in kernel/Makefile MAINTAINERS; do
		cp "$linux/$file" "$work/saved"
		case $file in
		MAINTAINERS) sed '/^CALLOUT FACILITY$/a F:	old/' "$work/saved" ;;
		*) cat "$work/saved" - <<< "obj-\$(CONFIG_CALLOUT) += callout/" ;;
		esac > "$linux/$file.new"
		mv "$linux/$file.new" "$linux/$file"
	done
	touch "$old"
	rm "$linux/kernel/callout/core/arm.c"
	put_in && entries && occurs 0 MAINTAINERS "F:	old/" && [ ! -e "$old" ] &&
		cmp "$top/module/core/arm.c" "$linux/kernel/callout/core/arm.c"
}

# refuses MESSAGE TREE: fails, says why, and leaves the tree as it is.
refuses() {
	local status=0

	find "$2" -type f -printf '%p %i %T@\n' 2> /dev/null | sort > "$work/before"
	"$top/scripts/package/intree.sh" "$2" 2> "$work/said" || status=$?
	find "$2" -type f -printf '%p %i %T@\n' 2> /dev/null | sort > "$work/after"
	cat "$work/said"
	[ $status -ne 0 ] && grep -qF "$1" "$work/said" && diff "$work/before" "$work/after"
}

# A tree that has only what intree.sh reads, with the change of sed $2 in the file $1.
changed_tree() {
	rm -rf "$work/tree"
	mkdir "$work/tree"
	(cd "$source_dir" && cp --parents Makefile Kbuild MAINTAINERS kernel/Makefile init/Kconfig \
		tools/testing/selftests/{Makefile,lib.mk} "$work/tree")
	sed -i "$2" "$work/tree/$1"
}

refuses_wrong_trees() {
	refuses "is no Linux source" "$work/nowhere" || return
	refuses "is no Linux source" "$top/tools" || return
	changed_tree Makefile 's/^PATCHLEVEL = .*/PATCHLEVEL = 9/'
	refuses "6.10 and later" "$work/tree" || return
	changed_tree kernel/Makefile '/time/d'
	refuses "kernel/Makefile has no place" "$work/tree" || return
	changed_tree MAINTAINERS '/^Maintainers List/d'
	refuses "MAINTAINERS has no place" "$work/tree"
}

# kunit COMMAND...: of kunit.py, on the kernel in uml/. User Mode Linux saves fewer registers than
# newer machines have: see uml-ptrace.c. kunit.py prints the compiler's warnings. The kernel's own
# are in test.log.
kunit() {
	local status=0 said=$log/intree-kunit.log

	gcc -O2 -Wall -Werror -shared -fPIC -o "$work/ptrace.so" "$top/qemu/uml-ptrace.c" || return
	rm -f "$dir/uml/test.log"
	LD_PRELOAD=$work/ptrace.so tools/testing/kunit/kunit.py "$1" --build_dir="$dir/uml" \
		--timeout=1200 "${@:2}" < /dev/null > "$said" 2>&1 || status=$?
	if [ $status -ne 0 ]; then
		grep -aE -B 8 '\[FAILED\]|\[ERROR\]' "$said" || tail -n 40 "$said"
		return 1
	fi
	! grep -aE 'warning:|WARNING:' "$said" || return
	# kunit.py reads results there, and ignores the rest.
	cp "$dir/uml/test.log" "$log/intree-kunit.console" || return
	said=$(alarms "$log/intree-kunit.console")
	[ -z "$said" ] || { echo "the kernel says: $said"; return 1; }
}

# Without what is large, on by default and of no use here.
run_kunit() {
	local option less=(--kconfig_add CONFIG_EXPERT=y)

	for option in BLOCK USB_SUPPORT HID_SUPPORT INPUT VIRTIO_MENU VIRTIO_UML \
		      UML_PCI_OVER_VIRTIO FORTIFY_SOURCE AIO COREDUMP SWAP; do
		less+=(--kconfig_add "CONFIG_$option=n")
	done
	kunit run --kunitconfig=kernel/callout/.kunitconfig --jobs="$(nproc)" "${less[@]}" \
		"${suites[@]}"
}

boots() { kunit exec callout_boot; }

# The bases have defaults then, and drivers their callouts; the kernel says what is wrong.
wrong_parameters() {
	local parameter

	for parameter in tick_source=sundial hz=3 device_hz=2000000 scheme=none; do
		kunit exec --kernel_args="callout.$parameter" callout_boot || return
		grep -a 'wrong parameters: those of the bases' "$log/intree-kunit.console" ||
			return
	done
}

build_selftests() {
	local user=$dir/user said=$log/intree-selftests.log name

	{
		make -s O="$user" headers &&
			make -s -C tools/testing/selftests TARGETS=callout O="$user" -j"$(nproc)"
	} > "$said" 2>&1 || { tail -n 40 "$said"; return 1; }
	! grep -E 'warning:|WARNING:' "$said" || return
	# A program of an earlier run shows nothing.
	for name in $(make -s -C "$top/selftests" names | grep -v _compat32); do
		if [ ! -e "$linux/tools/testing/selftests/callout/$name.c" ] ||
		   ! grep -qx "$name" "$linux/tools/testing/selftests/callout/.gitignore" ||
		   [ ! -x "$user/kselftest/callout/$name" ]; then
			echo "no $name"
			return 1
		fi
	done
}

untouched() { [ -z "$(find "$source_dir" -type f -newer "$work/begin")" ]; }

touch "$work/begin"
item "put into a tree" put_in
item "nothing that the kernel defines too" no_coverage
item "the second time changes nothing" again
item "an older one is brought up to date" updates
item "what is no tree for it is refused" refuses_wrong_trees
cd "$linux"
item "built in without a warning, and KUnit's tests" run_kunit
grep -aE 'Testing complete' "$log/intree-kunit.log" | sed 's/^/# /' || :
item "callouts before there are drivers" boots
item "wrong parameters of what is built in" wrong_parameters
item "the tests of the device, by kselftest's Makefile" build_selftests
item "the source that was copied is as it was" untouched
finish
