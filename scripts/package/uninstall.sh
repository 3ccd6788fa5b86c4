#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Removes what install.sh has installed, for all kernels: the files in its list. The group stays.
#
#   [DESTDIR=DIRECTORY] [PREFIX=/usr] scripts/package/uninstall.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: uninstall.sh"
root=${DESTDIR:+$(realpath -m -- "$DESTDIR")}
prefix=$root${PREFIX:-/usr}
list=$prefix/share/callout/installed
[ -r "$list" ] || die "make install has installed nothing here: there is no $list"
# Its headers, and what else the packages have, are in the places of these by now.
if compgen -G "$root/lib/modules/*/updates/dkms/callout.ko*" > /dev/null; then
	die "DKMS has installed callout: remove that first"
fi
mapfile -t releases < <(sed -n 's~^/lib/modules/\(.*\)/updates/callout\.ko$~\1~p' "$list")
while read -r file; do
	rm -f "$root$file"
done < "$list"
# DKMS, removed before, may have taken the first away.
find "$prefix/src/callout" "$prefix/share/callout" "$prefix/share/doc/callout" \
	-depth -type d -empty -delete 2> /dev/null || :
[ ! "$root" ] || exit 0
for release in "${releases[@]}"; do
	# That kernel may be gone.
	depmod "$release" || :
done
ldconfig
if command -v mandb > /dev/null; then
	mandb -q || :
fi
