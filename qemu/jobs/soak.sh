#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the torture, and all the while the fuzzer and programs of the device in turn, for
# SOAK_SECONDS (600). Two lines a minute say what became of the callouts, and of the memory.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh
# shellcheck source=qemu/memory.sh
. /lib/memory.sh

seconds=${SOAK_SECONDS:-600}
seed=${SOAK_SEED:-0}
programs="device_stress device_life device_alarm libcallout_timers device_list device_period"

# run_one COMMAND...: notes in /run/good or /run/bad how it ended.
run_one() {
	if "$@" > /tmp/one.out 2>&1; then
		echo "$*" >> /run/good
	else
		echo "$*" >> /run/bad
		sed 's/^/# /' /tmp/one.out
	fi
}

# Until /run/end exists. Not the fuzzer with the programs: it changes the user's limit.
run_programs() {
	while [ ! -e /run/end ]; do
		for program in $programs; do
			[ -e /run/end ] || run_one "/selftests/$program"
		done
		seed=$((seed + 1))
		[ -e /run/end ] || run_one fuzz -s $seed -t 120
	done
}

lines_of() { if [ -e "$1" ]; then wc -l < "$1"; else echo 0; fi; }

all_passed() { [ -e /run/good ] && [ ! -e /run/bad ]; }

kilobytes() { awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo; }

# What calloutctl stat prints each minute says how many fired, and how late they were.
memory() {
	echo "# minute $1: $(free_pages) pages free, $(kilobytes Slab) kB in slabs," \
		"$(kilobytes Percpu) kB per CPU, $(lines_of /run/good) programs passed"
}

parameters="tick_source=hrtimer hz=10000"
load_module
chmod 666 /dev/callout
uffd=/proc/sys/vm/unprivileged_userfaultfd
[ ! -e $uffd ] || echo 1 > $uffd
echo 1 > /sys/kernel/rcu_expedited
dmesg -c > /dev/null
insmod /lib/callout_torture.ko threads=4
watch_races
run_programs &
runner=$!
minutes=$(((seconds + 59) / 60))
calloutctl stat 60s $((minutes - 1)) | sed 's/^/# /' &
for minute in $(seq $minutes); do
	sleep 60
	memory "$minute"
done
touch /run/end
wait $runner
end_races
parameters=
check "$(lines_of /run/good) runs of programs passed, and no other" all_passed
check "the torture ends" rmmod callout_torture
dmesg | grep 'callout-torture: ' | sed 's/^\[[^]]*\] //'
check "its verdict" eval "dmesg | grep -q 'callout-torture: SUCCESS'"
check "unload" unload_module
finish
