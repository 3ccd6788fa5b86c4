#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The time limits of qemu/boot.sh: a guest that prints may exceed its limit, a silent guest may not,
# and no guest takes more than four times its limit. And an alarm on the console that follows a byte
# which is no text. TAP; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top"
limit=20

# boot GUEST SECONDS OUTCOME: what boot.sh must report about a guest that takes this long
boot() {
	qemu/boot.sh -t $limit -a "LIMITS=$1 LIMITS_SECONDS=$2" debian-6.12 limits 2>&1 |
		tee "$log/limits-boot.log" || :
	grep -q "$3" "$log/limits-boot.log"
}

scripts/setup.sh demo
item "a guest that prints may exceed the limit" \
	boot prints $((limit * 3 / 2)) "limits: ok, 1 passed"
item "a silent guest may not" \
	boot silent $((limit * 3)) "FAILED: no end after $limit seconds, and nothing printed"
item "a guest that prints may not exceed four times the limit" \
	boot prints $((limit * 8)) "FAILED: no end after $((limit * 4)) seconds"
item "an alarm behind a NUL is seen" \
	boot alarms 1 "FAILED: the kernel's console says: .*WARNING: none"
finish
