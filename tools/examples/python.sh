#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
# Copies Debian's python3, the package callout and what idle_asyncio.py needs to a directory, for
# the test machine.
#
#   tools/examples/python.sh LIBRARIES DIRECTORY
#
# LIBRARIES has libcallout.so.1.

set -euo pipefail
examples=$(realpath "$(dirname "$0")")
package=$(realpath "$examples/../python")
libraries=$1
root=$2

# The modules and libraries that the example loads.
loaded() {
	LD_LIBRARY_PATH=$libraries PYTHONPATH=$package:$examples PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -c '
import os, sys
import idle_asyncio
idle_asyncio.callout.run(idle_asyncio.main(1))
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
for line in open("/proc/self/maps"):
    print(line.split()[-1])'
}

rm -rf "$root"
while read -r file; do
	install -D "$file" "$root$(realpath "$file")"
done < <(loaded | grep -E '^/usr/.*\.(py|so)|/python3' | xargs -r realpath | sort -u)
ldconfig -n "$root"/usr/lib/*-linux-gnu
mkdir -p "$root/bin" "$root/lib64"
cp "$root"/usr/lib/*/ld-linux-*.so.* "$root/lib64/"
cp -L "$libraries/libcallout.so.1" "$root/usr/lib/"
install -D -t "$root/usr/lib/python3/dist-packages/callout" "$package"/callout/*.py
cp "$examples/idle_asyncio.py" "$root/bin/idle_asyncio"
ln -sf "$(realpath /usr/bin/python3)" "$root/bin/python3"
