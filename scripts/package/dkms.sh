#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What DKMS runs, see dkms.conf: it keeps the symbols of the module that it builds, to build clients
# against, and installs them and the headers where "make install" does.
#
#   scripts/package/dkms.sh build DIRECTORY        in the tree that was built: keeps Module.symvers
#   scripts/package/dkms.sh install DIRECTORY PREFIX RELEASE
#   scripts/package/dkms.sh remove PREFIX RELEASE
#
# DIRECTORY is where DKMS keeps what it has built for this kernel, PREFIX is /usr/src.

set -euo pipefail
case $1 in
build) install -D -m 644 Module.symvers "$2/Module.symvers" ;;
install)
	scripts/package/headers.sh "$3/callout/include"
	install -D -m 644 "$2/Module.symvers" "$3/callout/$4/Module.symvers" ;;
remove)
	[ "$3" ]
	rm -rf "$2/callout/${3:?}"
	# With the symbols of the last kernel the headers go.
	if ! find "$2/callout" -mindepth 2 -name Module.symvers 2>/dev/null | grep -q .; then
		rm -rf "$2/callout"
	fi ;;
*) echo "usage: see dkms.conf" >&2; exit 1 ;;
esac
