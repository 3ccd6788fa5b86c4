#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counts wordings that a reader stumbles over, in comments and documents, and fails if a folder has
# more of them than words.list allows, or less. CONTRIBUTING.md asks for plain sentences.
#
#   scripts/check/words.sh [all]   "all" prints each place, and the count of each folder

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
case $* in ""|all) ;; *) die "usage: words.sh [all]" ;; esac
cd "$top" || exit
find . \( -path ./.git -o -path ./.cache -o -name build -o -name target \) -prune -o -type f \
	\( -name '*.[ch]' -o -name '*.cc' -o -name '*.rs' -o -name '*.js' -o -name '*.py' \
	-o -name '*.sh' -o -name '*.bash' -o -name '*.awk' -o -name '*.pl' -o -name Makefile \
	-o -name Kbuild -o -name '*.md' -o -name '*.rst' -o -path './Documentation/man/*.[0-9]' \) \
	-printf '%P\0' | LC_ALL=C sort -z |
	xargs -0 awk -v "all=${1:-}" -f scripts/check/words.awk scripts/check/words.list
