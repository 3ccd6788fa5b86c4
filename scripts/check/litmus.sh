#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks selftests/litmus: that each "Pairs with" of module/ has a litmus test, and that what a test
# says must not be is impossible in the kernel's memory model, and possible without each barrier
# that it says it needs.
#
# By scripts/check/litmus.py; and by herd7 too where it is installed, which is no Debian package.
# One TAP line each; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"

# Of each such comment, the file and the function that it is in, or else before: as often as there
# are comments.
pairings() {
	awk '
		FNR == 1 { body = 0; name = ""; wanted = 0 }
		/^[A-Za-z_].*\(/ && !/;$/ {
			name = $0
			sub(/\(.*/, "", name)
			sub(/.*[ *]/, "", name)
		}
		/^{/ {
			body = 1
			for (; wanted; wanted--)
				print FILENAME, name
		}
		/^}/ { body = 0 }
		/[Pp]airs with/ {
			if (body)
				print FILENAME, name
			else
				wanted++
		}' module/*.[ch] module/*/*.[ch] | sort
}

# Prints the barriers that no test names, and what a test names and is no barrier. A function with
# two is named twice, by one test or by two.
all_have_tests() {
	sed -nE 's/^ \* (module\/[^ ]+ [a-z_]+)$/\1/p' selftests/litmus/*.litmus | sort |
		diff <(pairings) -
}

# Linux's own tests, as far as litmus.py knows what is in them, have the result that they say.
agrees() {
	local tests=()

	mapfile -t tests < <(grep -LE 'spin_is_locked|rcu_read_lock|^\s*\*[a-z0-9]+ =' \
		"$linux/tools/memory-model/litmus-tests"/*.litmus)
	[ ${#tests[@]} -gt 30 ] && python3 scripts/check/litmus.py "${tests[@]}"
}

herd() {
	(cd "$linux/tools/memory-model" && herd7 -conf linux-kernel.cfg "$top/$1") |
		tee /dev/stderr | grep -q '^Observation .* Never '
}

linux=$(qemu/kernel.sh -s)
item "each pairing has a litmus test" all_have_tests
item "results of Linux's litmus tests" agrees
for file in selftests/litmus/*.litmus; do
	item "${file##*/}" python3 scripts/check/litmus.py "$file"
	! command -v herd7 > /dev/null || item "${file##*/}, herd7" herd "$file"
done
finish
