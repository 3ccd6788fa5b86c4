#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts a manual page of section 9 for each function of the kernel API into a directory: a kernel's
# kernel-doc makes them out of the comments in the sources that Documentation/api.rst refers to.
#
#   scripts/man9.sh DIRECTORY KERNEL-DOC

set -euo pipefail

cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: man9.sh DIRECTORY KERNEL-DOC" >&2; exit 1; }
directory=$1
kernel_doc=$2
mkdir -p "$directory"

mapfile -t headers < <(sed -n 's~^\.\. kernel-doc:: \(.*\.h\)$~\1~p' Documentation/api.rst)
mapfile -t sources < <(sed -n 's~^\.\. kernel-doc:: \(.*\.c\)$~\1~p' Documentation/api.rst)
date=$(sed -n 's/^\.TH CALLOUT 9 \([0-9-]*\) .*/\1/p' Documentation/man/callout.9)
# static.sh has kernel-doc's warnings. The one of 6.1 warns without cause.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
{
	"$kernel_doc" -man "${headers[@]}" &&
		"$kernel_doc" -man -export "${sources[@]}"
} 2> "$errors" | awk -v directory="$directory" -v date="$date" '
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
	echo "man9.sh: kernel-doc failed" >&2
	exit 1
}
