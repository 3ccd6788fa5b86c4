#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The time limits of qemu/boot.sh: a guest that prints may take longer than its limit, a silent one may not, and no guest
# takes more than four times its limit. TAP; the last line is "N passed, N failed".

set -euo pipefail

cd "$(dirname "$0")/.."
build=${CALLOUT_BUILD:-$PWD/build}
log=$build/log/limits.log
mkdir -p "$build/log"
limit=20
passed=0
failed=0

# item NAME GUEST SECONDS WHAT-THE-LOG-SAYS
item() {
	qemu/boot.sh -t $limit -a "LIMITS=$2 LIMITS_SECONDS=$3" debian-6.12 limits > "$log" 2>&1 || :
	if grep -q "$4" "$log"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $1"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$log"
		echo "not ok $((passed + failed)) $1"
	fi
}

scripts/setup.sh demo
item "one that prints is waited for" prints $((limit * 3 / 2)) "limits: ok, 1 passed"
item "one that is silent is not" silent $((limit * 3)) "FAILED: no end after $limit seconds, and nothing printed"
item "one that prints is not waited for without end" prints $((limit * 8)) "FAILED: no end after $((limit * 4)) seconds"
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
