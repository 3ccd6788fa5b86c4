#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Puts a manual page of section 9 for each function of the kernel API into a directory: a kernel's
# kernel-doc makes them out of the comments in the sources that Documentation/api.rst refers to.
#
#   scripts/package/man9.sh DIRECTORY KERNEL-DOC

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../environment.sh"
cd "$(dirname "$0")/../.."
[ $# -eq 2 ] || { echo "usage: man9.sh DIRECTORY KERNEL-DOC" >&2; exit 1; }
directory=$1
kernel_doc=$2
mkdir -p "$directory"

mapfile -t files < <(sed -n 's~^\.\. kernel-doc:: ~~p' Documentation/api.rst)
date=$(sed -n 's/^\.TH CALLOUT 9 \([0-9-]*\) .*/\1/p' Documentation/man/callout.9)
# static.sh has kernel-doc's warnings. The one of 6.1 warns without cause.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
# As the kernel's Makefile: the newer ones, in Python, leave nothing beside their sources.
export PYTHONDONTWRITEBYTECODE=1

# Of several files Linux 7.2's kernel-doc prints the first one's pages only.
print_pages() {
	local file

	for file in "${files[@]}"; do
		case $file in
		*.c) "$kernel_doc" -man -export "$file" ;;
		*) "$kernel_doc" -man "$file" ;;
		esac || return
	done
}

print_pages 2> "$errors" | awk -v directory="$directory" -v date="$date" '
	function finish() {
		if (page)
			printf ".SH SEE ALSO\n.BR callout (9)\n" > page
		close(page)
		page = ""
	}
	/^\.TH/ { finish() }
	/^\.SH NAME/ {
		getline
		# What is not of a function has its kind first: "struct callout \- ...".
		if ($2 != "\\-")
			next
		page = directory "/" $1 ".9"
		header = $1 ~ /^callout_work/ ? "callout_work" : "callout"
		# The licence in front belongs to the sources.
		print ".\\\" SPDX-License-Identifier: GPL-2.0" > page
		printf ".TH %s 9 %s \"callout\" \"Kernel Functions Manual\"\n",
			toupper($1), date > page
		print ".SH NAME" > page
	}
	# The section of newer kernel-docs refers to types.
	/^\.SH "SEE ALSO"/ { finish() }
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
sed -n '/^\/\*\*$/{n; s/^ \* \([A-Za-z_]*\)() - .*/\1/p}' "${files[@]}" | while read -r name; do
	[ -e "$directory/$name.9" ] || {
		echo "man9.sh: kernel-doc made no page for $name()" >&2
		exit 1
	}
done
