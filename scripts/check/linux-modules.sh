#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds modules out of linux-source-6.12 that nobody here wrote, with one line added to each: the
# include that makes its timers callouts. The bridge needs more: see adapt_bridge.
#
#   scripts/check/linux-modules.sh KERNEL [callout|linux]
#
# callout: as said, the default; linux: as they are, which is what the tests are tried on.
#
# After build.sh KERNEL. Leaves in build/KERNEL/clients/root/, for the job "clients":
#
#   lib/clients/TIMERS/*.ko     the modules
#   lib/clients/wanted          the names of Debian's modules that they need
#   lib/modules/RELEASE/        these
#   sbin/, lib*/                ip, tc, bridge and wg, with their libraries

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
timers=${2:-callout}
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	die "usage: linux-modules.sh KERNEL [callout|linux]"
fi
case $timers in
callout|linux) ;;
*) die "there are no timers of $timers" ;;
esac

# A client: its directory in the kernel's tree, the file that gets the line, its objects unless its
# own Makefile names them.
clients=(
	"drivers/net/wireguard peer.h"
	"net/bridge br_private.h"
	"net/sched sch_sfq.c sch_sfq.o"
	"drivers/gpu/drm/vgem vgem_fence.c"
)

places=$("$top/qemu/kernel.sh" -m "$1")
eval "$places"
linux=$("$top/qemu/kernel.sh" -s)
out=$build/$1/clients
tree=$out/$timers
root=$out/root
mkdir -p "$tree" "$root/lib/clients/$timers"
exec 8> "$out/lock"
flock 8

# replace FILE: by standard input, unless it has that already, so that make compiles nothing twice.
replace() {
	cat > "$1.partial"
	if [ -L "$1" ] || ! cmp -s "$1" "$1.partial"; then
		mv -f "$1.partial" "$1"
	fi
	rm -f "$1.partial"
}

# with_include FILE: the file, with the line after its last include
with_include() {
	awk '
		{ line[NR] = $0 }
		/^#include / { last = NR }
		END {
			for (i = 1; i <= NR; i++) {
				print line[i]
				if (i == last)
					print "#include <linux/callout_timer.h>"
			}
		}' "$1"
}

# The bridge passes the timer of a delayed work, which stays the kernel's, to its own function,
# which takes a struct timer_list, which is a callout: gcc refuses that. So the bridge has that
# function's work done where it is called.
adapt_bridge() {
	local from=$linux/net/bridge to=$tree/net/bridge file
	local timer='br->gc_work\.timer'

	for file in br_ioctl.c br_netlink.c br_sysfs_br.c; do
		sed "s/br_timer_value(&$timer)/(timer_pending(\&$timer) ? \
		     jiffies_delta_to_clock_t($timer.expires - jiffies) : 0)/" \
			"$from/$file" | replace "$to/$file"
	done
}

# copy DIRECTORY FILE [OBJECT]: links to the client's sources, at the same place in a tree of its
# own, since headers of the kernel's include some by that.
copy() {
	local from=$linux/$1 to=$tree/$1

	mkdir -p "$to"
	if [ $# -eq 3 ]; then
		echo "obj-m := $3" | replace "$to/Kbuild"
	else
		find "$from" -type f -name '*.[ch]' -printf '%P\n' | grep -vxF "$2" |
			while read -r file; do
				mkdir -p "$(dirname "$to/$file")"
				[ -e "$to/$file" ] || ln -sf "$from/$file" "$to/$file"
			done
		ln -sf "$from/Makefile" "$to/"
	fi
	if [ "$timers" = linux ]; then
		ln -sf "$from/$2" "$to/"
		return
	fi
	with_include "$from/$2" | replace "$to/$2"
	[ "$1" != net/bridge ] || adapt_bridge
}

# Headers of the kernel's that include ../../../net/bridge/br_private.h: links to them are found
# first, and from there the bridge's own.
link_headers() {
	local header

	for header in trace/events/bridge.h net/netfilter/br_netfilter.h; do
		mkdir -p "$(dirname "$tree/include/$header")"
		ln -sf "$linux/include/$header" "$tree/include/$header"
	done
}

# Without CONFIG_NETFILTER= the bridge's Makefile has modules for netfilter made too.
make_in() {
	make --no-print-directory -C "$KERNEL_BUILD" -j"$(nproc)" M="$tree/$1" CONFIG_NETFILTER= \
		NOSTDINC_FLAGS="-nostdinc -I$tree/include" KCFLAGS="-I$top/module/include" \
		KBUILD_EXTRA_SYMBOLS="$build/$2/src/Module.symvers" "${@:3}"
}

# A header of the kernel's that sees the new name has a structure of another layout than the kernel.
# Its calls, which _Generic dispatches, are right.
headers_are_the_kernels() {
	awk -v ours="^$tree/|^$top/module/include/" '
		/^# [0-9]+ "/ { split($0, part, "\""); file = part[2]; next }
		file !~ ours && /struct callout_timer/ {
			line = $0
			gsub(/struct callout_timer *\* *:/, "", line)
			if (line ~ /struct callout_timer/) {
				print FILENAME ": " file ": " line
				bad = 1
			}
		}
		END { exit bad }' "$@"
}

# Nothing of the client's is left that calls the kernel's timers.
timers_are_callouts() {
	nm -u "$1" > "$1.undefined"
	grep -qw callout_timer_mod "$1.undefined" &&
		! grep -wE '(mod|add|del)_timer(_[a-z]+)*|timer_(delete|shutdown)(_[a-z]+)*' \
			"$1.undefined"
}

# build_client KERNEL DIRECTORY FILE [OBJECT]
build_client() {
	local files module

	copy "${@:2}"
	make_in "$2" "$1" modules
	if [ "$timers" = callout ]; then
		mapfile -t files < <(cd "$tree/$2" && find . -name '*.o' ! -name '*.mod.o' |
			sed 's|^\./||; s/o$/i/' | while read -r file; do
				[ ! -e "$tree/$2/${file%i}c" ] || echo "$file"
			done)
		make_in "$2" "$1" "${files[@]}"
		headers_are_the_kernels "${files[@]/#/$tree/$2/}" ||
			die "a header of the kernel's is included after linux/callout_timer.h"
	fi
	for module in "$tree/$2"/*.ko; do
		[ "${module##*/}" != br_netfilter.ko ] || continue
		[ "$timers" = linux ] || timers_are_callouts "$module" ||
			die "${module##*/} has the kernel's timers"
		strip --strip-debug -o "$tree/stripped" "$module"
		mv "$tree/stripped" "$root/lib/clients/$timers/${module##*/}"
	done
}

# needs MODULE...: the names of the modules that these need
needs() { modinfo -F depends "$@" | tr , '\n' | grep . | grep -vx callout; }

# copy_module NAME FILE: Debian's
copy_module() {
	local file

	file=$(find "$KERNEL_MODULES" -name "${1//_/[-_]}.ko*" | head -n 1)
	[ "$file" ] || die "Debian's kernel has no module $1"
	case $file in
	*.xz) xz -dc "$file" > "$2.partial" ;;
	*) cp "$file" "$2.partial" ;;
	esac
	strip --strip-debug "$2.partial"
	mv "$2.partial" "$2"
}

# The modules of Debian that the tests need, the clients need and these need, in that order.
copy_modules() {
	local name target=$root/lib/modules/$KERNEL_RELEASE/kernel todo=(veth) done=" "

	mapfile -t -O 1 todo < <(needs "$root/lib/clients/$timers"/*.ko | sort -u)
	mkdir -p "$target"
	while [ ${#todo[@]} -gt 0 ]; do
		name=${todo[0]}
		todo=("${todo[@]:1}")
		[[ $done != *" $name "* ]] || continue
		done="$done$name "
		[ -e "$target/$name.ko" ] || copy_module "$name" "$target/$name.ko"
		mapfile -t -O ${#todo[@]} todo < <(needs "$target/$name.ko")
	done
	echo "$done" | replace "$root/lib/clients/wanted"
	# Without these files depmod warns.
	touch "${target%/*}"/modules.{order,builtin,builtin.modinfo}
	depmod -b "$root" "$KERNEL_RELEASE"
}

# copy_program NAME: with its libraries
copy_program() {
	local file program

	program=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1") ||
		die "$1 is missing; run scripts/setup.sh"
	install -D "$program" "$root/sbin/$1"
	ldd "$program" | grep -o '/[^ ]*' | while read -r file; do
		[ -e "$root$file" ] || install -D "$file" "$root$file"
	done
}

link_headers
for client in "${clients[@]}"; do
	read -r -a words <<< "$client"
	# The kernels built here have no graphics.
	[ "$KERNEL_MODULES" ] || [[ ${words[0]} != drivers/gpu/* ]] || continue
	build_client "$1" "${words[@]}"
done
if [ "$KERNEL_MODULES" ]; then
	copy_modules
fi
for program in ip tc bridge wg; do
	copy_program $program
done
