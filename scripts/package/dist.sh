#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes a tarball of what is committed: build/callout-VERSION.tar.gz. It builds without git, and so
# do Debian's packages from it.
#
#   scripts/package/dist.sh
#
# Four things are made here: debian/changelog, with the date of the commit, since only VERSION has
# the version; since not each kernel's headers have a kernel-doc, Documentation/man/man9, the
# pages of single functions, and Documentation/reference.inc, the end of api.rst; and
# Documentation/wheel.html, tools/wheel-page, since it needs Linux's source and a compiler for it.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
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
made=(--add-virtual-file="$name/debian/changelog:$changelog")
scripts/setup.sh dist
places=$(qemu/kernel.sh -b debian-6.1)
eval "$places"
[ -f "$KERNEL_BUILD/scripts/kernel-doc" ] ||
	die "$KERNEL_BUILD has no scripts/kernel-doc; the headers of Debian 12 and 13 have one"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive HEAD | tar -C "$work" -x
"$work/scripts/package/man9.sh" "$work/pages" "$KERNEL_BUILD/scripts/kernel-doc"
for page in "$work"/pages/*; do
	made+=(--add-virtual-file="$name/Documentation/man/man9/${page##*/}:$(cat "$page")"$'\n')
done
(cd "$work" && scripts/package/reference.sh "$KERNEL_BUILD/scripts/kernel-doc") \
	> "$work/reference.inc"
logged wheel-page make -C "$work/tools/wheel-page" O="$work/wheel-page"
git archive --prefix="$name/Documentation/" --add-file="$work/reference.inc" \
	--add-file="$work/wheel-page/wheel.html" \
	--prefix="$name/" "${made[@]}" -o "$build/$name.tar.gz" HEAD
echo "$build/$name.tar.gz"
