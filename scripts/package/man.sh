#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts the manual pages into a directory, each section into its own below it: the pages
# of Documentation/man, a link for each further name of a page, and the pages of single functions:
# see man9.sh.
#
#   scripts/package/man.sh DIRECTORY [KERNEL-BUILD]
#
# KERNEL-BUILD is where the kernel's headers or sources are, whose scripts/kernel-doc makes the
# pages of single functions, unless these sources have them, as the tarball of dist.sh has.

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../environment.sh"
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: man.sh DIRECTORY [KERNEL-BUILD]" >&2; exit 1; }
directory=$1
kernel=${2:-}
made=Documentation/man/man9

for page in Documentation/man/*.[1-9]; do
	section=${page##*.}
	install -D -m 644 "$page" "$directory/man$section/${page##*/}"
	awk '/^\.SH NAME/ { getline; sub(/ \\-.*/, ""); gsub(/,/, "")
		for (i = 2; i <= NF; i++) print $i }' "$page" | while read -r name; do
		echo ".so man$section/${page##*/}" > "$directory/man$section/$name.$section"
	done
done

if [ -d $made ]; then
	install -D -m 644 -t "$directory/man9" $made/*
	exit
fi
# What a kernel was built in has links to its sources.
for kernel_doc in "$kernel/scripts/kernel-doc" "$kernel/source/scripts/kernel-doc"; do
	if [ -f "$kernel_doc" ]; then
		scripts/package/man9.sh "$directory/man9" "$kernel_doc"
		exit
	fi
done
echo "man.sh: $kernel has no scripts/kernel-doc: no pages of the functions" >&2
