#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts the manual pages into a directory, each section into its own below it: those of
# Documentation/man, a link for each further name of a page, and a page of section 9 for each
# function of the kernel API, which the kernel's own kernel-doc makes out of the comments in the
# sources that Documentation/api.rst refers to.
#
#   scripts/man.sh DIRECTORY KERNEL-BUILD
#
# KERNEL-BUILD is where the kernel's headers or sources are, with scripts/kernel-doc.

set -euo pipefail

cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: man.sh DIRECTORY KERNEL-BUILD" >&2; exit 1; }
directory=$1

for page in Documentation/man/*.[1-9]; do
	section=${page##*.}
	install -D -m 644 "$page" "$directory/man$section/${page##*/}"
	awk '/^\.SH NAME/ { getline; sub(/ \\-.*/, ""); gsub(/,/, "")
		for (i = 2; i <= NF; i++) print $i }' "$page" | while read -r name; do
		echo ".so man$section/${page##*/}" > "$directory/man$section/$name.$section"
	done
done

# What a kernel was built in has links to its sources.
for kernel_doc in "$2/scripts/kernel-doc" "$2/source/scripts/kernel-doc" ""; do
	[ ! -f "$kernel_doc" ] || break
done
[ "$kernel_doc" ] || {
	echo "man.sh: $2 has no scripts/kernel-doc: no pages of the functions" >&2
	exit 0
}

mapfile -t headers < <(sed -n 's~^\.\. kernel-doc:: \(.*\.h\)$~\1~p' Documentation/api.rst)
mapfile -t sources < <(sed -n 's~^\.\. kernel-doc:: \(.*\.c\)$~\1~p' Documentation/api.rst)
date=$(sed -n 's/^\.TH CALLOUT 9 \([0-9-]*\) .*/\1/p' Documentation/man/callout.9)
# static.sh has kernel-doc's warnings. The one of 6.1 warns without cause.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
{
	"$kernel_doc" -man "${headers[@]}" &&
		"$kernel_doc" -man -export "${sources[@]}"
} 2> "$errors" | awk -v directory="$directory/man9" -v date="$date" '
	function finish() {
		if (page)
			printf ".SH SEE ALSO\n.BR callout (9)\n" > page
		close(page)
		page = ""
	}
	/^\.TH/ {
		finish()
		name = $2
		gsub(/"/, "", name)
		# "Kernel API" is the name of what is not of a function.
		if ($3 != 9)
			next
		page = directory "/" name ".9"
		header = name ~ /^callout_work/ ? "callout_work" : "callout"
		# The licence in front is that of the sources.
		print ".\\\" SPDX-License-Identifier: GPL-2.0" > page
		printf ".TH %s 9 %s \"callout\" \"Kernel Functions Manual\"\n",
			toupper(name), date > page
		next
	}
	!page { next }
	{ print > page }
	/^\.SH SYNOPSIS/ {
		print ".B #include <linux/" header ".h>" > page
		print ".PP" > page
	}
	END { finish() }' || {
	cat "$errors" >&2
	echo "man.sh: kernel-doc failed" >&2
	exit 1
}
