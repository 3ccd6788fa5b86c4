#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds Debian's packages of what is committed, in build/deb/, and has lintian judge them: its
# errors and warnings fail.
#
#   scripts/package/deb.sh
#
# They are built from the tarball of dist.sh, alone.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: deb.sh"
tarball=$("$top/scripts/package/dist.sh")
"$top/scripts/setup.sh" deb
tree=$build/deb/$(basename "$tarball" .tar.gz)
rm -rf "$build/deb"
mkdir -p "$build/deb"
tar -C "$build/deb" -xf "$tarball"
cd "$tree"
logged deb dpkg-buildpackage -b -us -uc
logged lintian lintian --fail-on error,warning ../*.changes
cat "$log/lintian.log"
mkdir ../debug
# With DEB_BUILD_OPTIONS=noautodbgsym there are none.
find .. -maxdepth 1 -name '*-dbgsym_*.deb' -exec mv -t ../debug {} +
ls "$build"/deb/*.deb
