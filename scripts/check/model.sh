#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks the models of selftests/model with spin: every interleaving of a few threads, and that
# each seeded bug is found. One TAP line each; the last line is "N passed, N failed".
#
#   scripts/check/model.sh              the configurations that take seconds, and the bugs
#   scripts/check/model.sh all          the others too
#   scripts/check/model.sh NAME...      these configurations, and their bugs
#
# What a run leaves is in build/model/FILE-NAME. If it failed, there, to see how:
#
#   spin -t -p -g FILE.pml        (in a directory with the trail and a copy, with -DCONFIG_NAME)

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
models=$top/selftests/model
# Of a configuration: MB, seconds of CPU time, steps from the beginning.
memory=1000
seconds=120
depth=200000

# FILE NAME: what each is about is in the file. Longer models are for "all".
configs="
	core stop, core twice, core drain, core shutdown, core async, core lock, core trylock,
	core move, core leave, core expiry, core hotplug, core hotplug_drain,
	core hotplug_trylock, core unload, core reuse,
	file slot, file cancels, file period, file wait, file close, file steal"
more="core drains, core leave_stop, core hotplug_back"

# FILE NAME BUG: ASSERTION, a part of it, that must fail
bugs="
	core stop stop_ignores_running: !(func
	core drain wait_no_attention: !(stuck)
	core lock stage_not_read: live
	core lock stage_not_over: (ret!=0)
	core move lock_no_retry: (node[n]
	core move move_one_lock: (node[n].list==at)
	core leave stop_leaves: (node[ln].list==b)
	core expiry search_not_repeated: !(lost)
	core hotplug evacuate_one_lock: (node[n].list==sb)
	core hotplug_drain evacuate_tasklet: !(base[at].shut_down)
	core unload kill_armed: shut_down
	core unload dead_programs: shut_down
	core reuse no_ran: (ret!=0)
	file slot handle_kept: (setting==mine)
	file cancels withdraw_unlocked: (unread==ready)
	file period attach_not_stale: ended
	file period repeat_not_read: ended
	file wait attach_not_woken: !(sleeps)
	file wait interrupted_leaves: !(sleeps)
	file close close_no_grace: !(file_freed)
	file steal steal_unserialised: violated got
	file steal steal_no_retry: (cpu"

# search FILE NAME [BUG]: logs a search to its end, or to the first error
search() {
	local dir=$build/model/$1-$2${3:+-$3}

	rm -rf "$dir"
	mkdir -p "$dir"
	cd "$dir"
	if ! {
		spin -a "-DCONFIG_$2" ${3:+"-DBUG_$3"} "$models/$1.pml" &&
			gcc -O1 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=$memory \
				-o pan pan.c
	} > spin.log 2>&1; then
		cat spin.log
		return 1
	fi
	(ulimit -t $seconds; ./pan -n -m$depth) > pan.log 2>&1 || :
}

states() { sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$build/model/$1-$2/pan.log"; }

# Passes if all states were searched, and no error was found.
searched() {
	local file=$build/model/$1-$2/pan.log

	if ! grep -q 'errors: 0$' "$file" ||
	   grep -qiE 'depth too small|out of memory|not completed|truncated' "$file"; then
		head -n 20 "$build/model/$1-$2/spin.log" "$file"
		return 1
	fi
}

# found FILE NAME BUG ASSERTION
found() {
	local file=$build/model/$1-$2-$3/pan.log

	if ! grep -E '^pan:[0-9]+: assertion violated' "$file" | grep -qF -- "$4"; then
		head -n 20 "$build/model/$1-$2-$3/spin.log" "$file"
		return 1
	fi
}

# The name of an item has the number of states, so a search comes before it.
check_config() {
	local said=

	said=$(search "$1" "$2" 2>&1) || :
	item "$1 $2: $(states "$1" "$2") states" searched "$1" "$2"
	[ ! "$said" ] || echo "# $said"
}

check_bug() {
	(search "$1" "$2" "$3") > /dev/null 2>&1 || :
	item "$1 $2, bug $3: found" found "$@"
}

# wanted NAME
wanted() { [[ " $chosen " = *" $1 "* ]]; }

scripts/setup.sh model
list="$configs, $more"
case ${1:-} in
'') chosen=$configs ;;
all) chosen=$list ;;
*) chosen="$*" ;;
esac
chosen=$(echo "$chosen" | tr ',\n\t' '   ')
while read -r file name; do
	[ ! "$name" ] || ! wanted "$name" || check_config "$file" "$name"
done < <(echo "$list" | tr '\n\t' '  ' | tr ',' '\n')
while read -r file name bug assertion; do
	[ ! "$name" ] || ! wanted "$name" ||
		check_bug "$file" "$name" "${bug%:}" "$assertion"
done <<< "$bugs"
finish
