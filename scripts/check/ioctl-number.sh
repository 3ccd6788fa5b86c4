#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks that no other driver has the device's ioctls: their letter and numbers, in Linux's own list
# of these, Documentation/userspace-api/ioctl/ioctl-number.rst. Prints each entry that has one, and
# which kernel's list it has read.
#
#   scripts/check/ioctl-number.sh [HEADER [TREE]]
#
# HEADER: by default module/include/uapi/linux/callout.h.
# TREE: of Linux; by default the newest in the cache: linux-source-6.12, which is unpacked if it is
# not there, and the trees of Debian's suites if "make matrix" has fetched them.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -le 2 ] || die "usage: ioctl-number.sh [HEADER [TREE]]"
cd "$top"
header=${1:-module/include/uapi/linux/callout.h}
list=Documentation/userspace-api/ioctl/ioctl-number.rst

# What mainline has given away that the newest of Debian's sources does not list.
newer="0xF9  00-0F  uapi/misc/amd-apml.h"

# The version of the kernel in a tree.
version_of() {
	sed -nE 's/^(VERSION|PATCHLEVEL|SUBLEVEL) = ([0-9]+)$/\2/p' "$1/Makefile" | paste -sd .
}

# Prints version and path of the newest tree in the cache that has the list.
newest() {
	local tree

	qemu/kernel.sh -s > /dev/null || return
	for tree in "$cache"/linux-source-* "$cache"/suite-*/source-*; do
		[ ! -f "$tree/$list" ] || echo "$(version_of "$tree") $tree"
	done | sort -V | tail -n 1
}

tree=${2:-}
if [ ! "$tree" ]; then
	read -r _ tree < <(newest) || die "there is no source of Linux with a list of ioctls"
fi
[ -f "$tree/$list" ] || die "$tree has no $list"

letter=$(sed -nE 's/^#define CALLOUT_IOC_MAGIC\s+(0x[0-9A-F]{2})$/\1/p' "$header")
mapfile -t numbers < <(sed -nE 's/.*\<_IO[WR]*\(CALLOUT_IOC_MAGIC, ([0-9]+),.*/\1/p' "$header" |
	sort -n)
[[ $letter && ${#numbers[@]} -gt 0 ]] || die "$header has no letter, or no number"

{
	# The table has rows of "=" around its heading and at its end.
	sed -n '/^Code  Seq#/,$p' "$tree/$list" | sed -E '1,/^====/d; /^====/,$d'
	echo "$newer"
} | perl -e '
	my ($letter, $first, $last) = (hex shift, @ARGV);
	my ($n, $bad) = (0, 0);
	my $code = qr/(?:0x([0-9a-f]{2})|\x27(.)\x27)/i;
	my $range = qr/(all|[0-9a-f]{1,2})(?:-([0-9a-f]{2}))?/i;

	while (<STDIN>) {
		next if /^\s/;
		if (!/^$code\s+$range\s/) {
			print "not an entry: $_";
			$bad = 1;
			next;
		}
		$n++;
		next if (defined $1 ? hex $1 : ord $2) != $letter;
		my ($from, $to) = $3 eq "all" ? (0, 255) : (hex $3, hex($4 // $3));
		next if $from > $last || $to < $first;
		print "given away: $_";
		$bad = 1;
	}
	# Linux 2.6.12 had as many.
	if ($n < 100) {
		print "only $n entries\n";
		$bad = 1;
	}
	exit $bad' "$letter" "${numbers[0]}" "${numbers[-1]}" ||
	die "$letter ${numbers[0]}-${numbers[-1]}, by the list of Linux $(version_of "$tree")"
echo "ioctl-number.sh: $letter ${numbers[0]}-${numbers[-1]} is free in the list of Linux" \
	"$(version_of "$tree")"
