#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes a tarball of what is committed: build/callout-VERSION.tar.gz. It builds without git.
#
#   scripts/dist.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "usage: dist.sh"
cd "$top"
name=callout-$(git show HEAD:VERSION)
git archive --prefix="$name/" -o "$build/$name.tar.gz" HEAD
echo "$build/$name.tar.gz"
