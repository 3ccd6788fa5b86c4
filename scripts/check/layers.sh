#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks that knowledge runs down only: that no file in module/ includes a header or has a name of a
# layer that its own may not use, comments included. Prints each violation.
#
#   scripts/check/layers.sh [TABLE]
#
# A layer is a folder of module/, or module/ itself: ".". The table, Documentation/layers.csv by
# default, has from top to bottom each layer, its headers in module/include/ (names and patterns),
# the layers that it may use, and what it is. A row without a layer is an exception: file, name,
# reason. Each layer that may be used and each exception must be needed. The name * stands for those
# that the file declares and that are not the facility's, by their prefix.
#
# Names are what a header declares (macros, structs, enumerators, functions, variables), functions
# in .c files, and file names. Members of structs are not looked for.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
table=${1:-Documentation/layers.csv}
mapfile -t files < <(find module -name '*.[ch]' | LC_ALL=C sort)
awk -f scripts/check/layers.awk "$table" "${files[@]}" pass=2 "${files[@]}"
