#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes a tarball of what is committed: build/callout-VERSION.tar.gz. It builds without git, and so
# do Debian's packages from it.
#
#   scripts/dist.sh
#
# Only VERSION has the version: debian/changelog, which dpkg reads it from, is made here, with the
# date of the commit.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "usage: dist.sh"
cd "$top"
# In another clone, say its build/, git would take what that has.
[ -e .git ] || die "this takes what is committed, and $top is no clone of the sources." \
	"Debian's packages come out of a tarball by dpkg-buildpackage -b -us -uc"
version=$(git show HEAD:VERSION)
maintainer=$(git show HEAD:debian/control | sed -n 's/^Maintainer: //p')
date=$(git show -s --format=%cD HEAD)
name=callout-$version
changelog="callout ($version) unstable; urgency=medium

  * What is new is in NEWS.

 -- $maintainer  $date
"
git archive --prefix="$name/" --add-virtual-file="$name/debian/changelog:$changelog" \
	-o "$build/$name.tar.gz" HEAD
echo "$build/$name.tar.gz"
