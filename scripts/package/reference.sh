#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints what the directives kernel-doc of Documentation/api.rst stand for: a kernel's kernel-doc
# makes RST of the comments in the sources.
#
#   scripts/package/reference.sh KERNEL-DOC

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../environment.sh"
cd "$(dirname "$0")/../.."
[ $# -eq 1 ] || { echo "usage: reference.sh KERNEL-DOC" >&2; exit 1; }
kernel_doc=$1
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
# As in man9.sh.
export PYTHONDONTWRITEBYTECODE=1

mapfile -t files < <(sed -n 's~^\.\. kernel-doc:: ~~p' Documentation/api.rst)
for file in "${files[@]}"; do
	options=(-rst -sphinx-version 5.3.0)
	[[ $file != *.c ]] || options+=(-export)
	# static.sh has kernel-doc's warnings. The one of 6.1 warns without cause.
	"$kernel_doc" "${options[@]}" "$file" 2> "$errors" || {
		cat "$errors" >&2
		echo "reference.sh: kernel-doc failed for $file" >&2
		exit 1
	}
done
