# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the scripts share. Sourced first; sets strict mode and
#
#   top     the top of the tree
#   build   the build directory: build/, or $CALLOUT_BUILD
#   log     where logs go: build/log/
#
# all absolute, and
#
#   cache   the cache of kernels, see qemu/kernel.sh
#
# and exports CALLOUT_BUILD.

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -ms -- "${CALLOUT_BUILD:-$top/build}")
for path in "$top" "$build"; do
	if ! plain_path "$path"; then
		echo "${0##*/}: $path has a blank, a comma, a colon or the like, which the" \
			"kernel's build cannot take" >&2
		exit 1
	fi
done
mkdir -p "$build/log"
export CALLOUT_BUILD=$build
log=$build/log
# shellcheck disable=SC2034 # for the scripts that source this
cache=${CALLOUT_CACHE:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/callout}
passed=0
failed=0

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# logged NAME COMMAND...: logs the output to NAME.log; if it fails, shows the end and exits.
logged() {
	local file=$log/$1.log

	shift
	if ! "$@" > "$file" 2>&1; then
		tail -n 40 "$file" >&2
		die "$* failed, see $file"
	fi
}

# logged_boot NAME ARGUMENTS...: as logged, for qemu/boot.sh; shows the console if it fails.
logged_boot() {
	local file=$log/$1.log

	shift
	if ! "$top/qemu/boot.sh" "$@" > "$file" 2>&1; then
		grep -a -A 70 '^boot.sh: ' "$file" >&2 || :
		die "boot.sh $* failed, see $file"
	fi
}

# make_foreign ARCHITECTURE: the programs for it, without the examples, whose libraries only this
# machine has
make_foreign() {
	local places cc out=$build/user-$1

	places=$("$top/qemu/kernel.sh" -b "$1") || return
	eval "$places"
	cc=${KERNEL_CROSS}gcc
	make -j"$(nproc)" -C "$top/tools" CC="$cc" AR="${KERNEL_CROSS}ar" O="$out" all &&
		make -j"$(nproc)" -C "$top/selftests" CC="$cc" O="$out" device
}

alarm='BUG:|WARNING:|Oops|Call [Tt]race|possible .*(deadlock|recursive)|INFO: (task|rcu)'
alarm="$alarm|unreferenced object|suspected memory leaks|UBSAN|KASAN: |general protection"
alarm="$alarm|Kernel panic|soft lockup|detected (expedited )?stall|ODEBUG|suspicious RCU"
alarm="$alarm|sleeping function called|scheduling while atomic|refcount_t:|nobody cared"
alarm="$alarm|huh, entered softirq|NOHZ tick-stop error|callout: dropped one of kind"
alarm="$alarm|callouts were still pending"

# unexpected: a filter that takes out what is no mistake. KUnit's file_without_kind has a callout
# dropped, and its result is the next. A job says that the next unload leaves callouts.
unexpected() {
	LC_ALL=C awk '
		/callout: dropped one of kind/ { dropped = dropped $0 "\n"; next }
		/(^|[^a-z])ok [0-9]+ / {
			if (!/ok [0-9]+ file_without_kind$/)
				printf "%s", dropped
			dropped = ""
		}
		/callout-init: the next unload leaves callouts/ { leaves = 1 }
		/callouts were still pending/ && leaves { leaves = 0; next }
		{ print }
		END { printf "%s", dropped }'
}

# alarms CONSOLE: prints the first lines there that no boot may have, whatever else it says. Not
# from the restart on: all has ended by then, and a PREEMPT_RT kernel at times warns of a task
# pushed to a stopped CPU. Not all that is printed is text.
alarms() {
	tr -d '\r\0' < "$1" | sed '/reboot: machine restart/,$d' | unexpected |
		grep -aE "$alarm" | head -n 5 || :
}

# verdict CONSOLE: what init said at the end of a boot: ok or fail, the tests that passed and that
# failed, and a reason; nothing if the machine did not come that far
verdict() { tr -d '\r\0' < "$1" | sed -n 's/^.*callout-verdict: //p' | tail -n 1; }

# half_patched CONSOLE: is the first alarm there an int3, and in its place another byte when the
# kernel showed the code? Then it was patching that place.
half_patched() {
	local first

	read -r first < <(alarms "$1") || :
	[[ $first == *'Oops: int3'* ]] &&
		tr -d '\r\0' < "$1" | LC_ALL=C awk '
			/Oops: int3/ { int3 = 1 }
			int3 && !code && /Code: / { code = $0 }
			END { exit !code || code ~ / cc </ }'
}

# rows FILE KIND: the lines of this kind that a job printed.
rows() { tr -d '\r' < "$1" | sed -n "s/^$2: //p"; }

# csv FILE COLUMN,... RESULTS KIND: makes a CSV file of the lines of this kind.
csv() {
	{
		echo "$2"
		rows "$3" "$4"
	} > "$1"
}

# want FILE FIELDS: exits unless exactly one row of the CSV file has these fields and a number next.
want() {
	awk -v row="$2," '
		index($0, row) == 1 && substr($0, length(row) + 1) ~ /^-?[0-9.]+(,|$)/ { n++ }
		END { exit n != 1 }' "$1" || die "$1 has no row $2, or several"
}

# item NAME COMMAND...: a TAP test that passes if the command succeeds; else its output is shown.
item() {
	local name=$1 start=$SECONDS said

	shift
	if said=$("$@" 2>&1); then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name # $((SECONDS - start)) s"
	else
		failed=$((failed + 1))
		printf '%s\n' "$said" | sed 's/^/# /'
		echo "not ok $((passed + failed)) $name # $((SECONDS - start)) s"
	fi
}

# The plan and the totals; fails if a test failed. A script's last command.
finish() {
	echo "1..$((passed + failed))"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
