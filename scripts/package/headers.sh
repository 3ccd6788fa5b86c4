#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the headers for kernel code, for install.sh and dkms.sh.
#
#   scripts/package/headers.sh DIRECTORY
#
#   DIRECTORY/linux/                  the facility's own
#   DIRECTORY/bsd/SYSTEM/sys/         by the names of a BSD

set -euo pipefail
[ $# -eq 1 ] || { echo "usage: headers.sh DIRECTORY" >&2; exit 1; }
# Not as $CDPATH says. DKMS runs this, without environment.sh.
cd "$(realpath "$(dirname "$0")/../../module/include")"
for header in linux/*.h bsd/*/sys/*.h; do
	install -D -m 644 "$header" "$1/$header"
done
