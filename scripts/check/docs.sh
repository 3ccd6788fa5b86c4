#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the site, and tries its page that runs the schemes in a headless Chromium: a thousand timers
# by a seed, compared with what the same C says natively, the keyboard alone, 360 and 1200 pixels.
#
#   scripts/check/docs.sh [SEED]
#
# One TAP line each; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -le 1 ] || die "usage: docs.sh [SEED]"
seed=${1:-$RANDOM}
cd "$top"
scripts/setup.sh docs-check
scripts/package/docs.sh
logged wheel-compare make -C tools/wheel-page O="$build/wheel-page" "$build/wheel-page/compare"
selftests/wheel-page/walk.py "$build/docs/wheel.html" "$build/wheel-page/compare" "$seed"
