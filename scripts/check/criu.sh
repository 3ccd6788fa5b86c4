#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Processes with callouts that move: dumped by CRIU in one boot, restored in another.
#
#   scripts/check/criu.sh
#
# Debian's criu, with the plugin of tools/criu, on Debian's 6.12 kernel in QEMU. One TAP line a
# boot; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: criu.sh"
cd "$top"
scripts/setup.sh criu
kernel=debian-6.12
root=$build/user/root-criu
out=$build/criu
rm -rf "$out" "$root"
mkdir -p "$out/more"

# Fills the root for the job: the process that moves, the plugin, criu with its libraries, and
# modules of Debian's kernel, in the order of their names, without which criu ends.
fill_root() {
	local file places module n=0

	places=$(qemu/kernel.sh -m $kernel) || return
	eval "$places"
	make -s -C tools O="$build/user" criu &&
		make -s -C tools O="$build/user" DESTDIR="$root" install-criu &&
		make -s -C selftests O="$build/user" criu || return
	while read -r file; do
		install -D "$file" "$root$(realpath "$file")"
	done < <(echo /usr/sbin/criu; ldd /usr/sbin/criu | grep -oE '/[^ ]+')
	ldconfig -n "$root"/usr/lib/*-linux-gnu
	mkdir -p "$root/lib" "$root/lib64"
	for module in crypto/crc32c_generic lib/libcrc32c net/netfilter/{nfnetlink,nf_tables}; do
		n=$((n + 1))
		xz -dc "$KERNEL_MODULES/$module.ko.xz" > "$root/lib/criu-$n.ko" || return
	done
	cp "$root"/usr/lib/*/ld-linux-*.so.* "$root/lib64/"
}

# boot PART OPTION...
boot() {
	qemu/boot.sh -t 600 -n "criu-$1" -a "CALLOUT_CRIU=$1" "${@:2}" $kernel criu
}

# The images of the first boot, if it has come to its end.
restore() { tar -x -C "$out/more" -f "$out/images.tar" && boot restore -d "$out/more"; }

logged "build-criu" fill_root
item "processes with callouts are dumped" boot dump -o "$out/images.tar"
item "they are restored in another boot" restore
finish
