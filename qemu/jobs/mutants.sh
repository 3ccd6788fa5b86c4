#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: runs checks on mutants of a sample, as the lines of /lib/plan say: MUTANT PARAMETERS CHECK...
# with + between parameters. A check is a suite of KUnit, a program, or job_ and the name of another
# job, which loads the module as it wants; and behind : how many results and how many skipped cases
# it has. It fails too if the kernel says what /lib/alarm has. A mutant is killed, too, if kmemleak
# finds something when the module is unloaded.
#
# Prints what it is about to do, and of each mutant "survived MUTANT", or "killed MUTANT CHECK" and
# ends: who knows in what state the kernel is. Of mutant 0, none, it prints what each check reaches
# and counts, and continues.

# shellcheck source=qemu/faults.sh
. /lib/faults.sh
[ ! -d /sys/kernel/debug/failslab ] || configure_faults

# What the kernel has printed since the last call, as it is on the console.
log() { dmesg -c | sed 's/^<[0-9]*>//; s/^\[[^]]*\] //' > /tmp/log; }

suite() {
	printf %s "$1" > /sys/module/kunit/parameters/filter_glob
	insmod /lib/callout_bsd.ko && insmod /lib/callout_kunit.ko &&
		rmmod callout_kunit callout_bsd || return
	log
	cp /tmp/log /tmp/said
}

# More than its longest case may take.
program() {
	rm -f /tmp/reached
	CALLOUT_MUTANT=$mutant CALLOUT_REACHED=/tmp/reached timeout -s KILL 600 "$1" \
		> /tmp/said 2>&1 || return
	log
}

# With fewer rounds, one set of parameters where there are several, and no misuse that needs time to
# pass. The jobs misuse and faults expect alarms, and read the log themselves.
job() {
	rmmod callout || return
	UNLOADS=16 CALLOUT_SETS=tick_source=jiffies CALLOUT_ONLY='[!dst]*' FAULTS=faults_load \
	TORTURE_SECONDS=20 TORTURE_RACED=0 \
		timeout -s KILL 600 sh -eu "/lib/jobs/$1.sh" < /dev/null > /tmp/said 2>&1 || return
	log
	case $1 in
	misuse|faults) : > /tmp/log ;;
	esac
	load
}

# KUnit's file_without_kind has a callout dropped, and a job says when it leaves callouts.
alarmed() {
	awk '/next unload leaves callouts/ { leaves = 1 }
		/callouts were still pending/ && leaves { leaves = 0; next }
		!/callout: dropped one of kind/' /tmp/log | grep -aE -f /lib/alarm > /tmp/alarm &&
		sed 's/^/alarm: /' /tmp/alarm | head -n 1
}

# kmemleak ignores objects younger than five seconds, and needs two scans to be sure. It is off if
# it could not allocate.
leaks=/sys/kernel/debug/kmemleak
leaked() {
	[ -e $leaks ] && sleep 6 && echo scan > $leaks && sleep 1 && echo scan > $leaks || return
	sed -n 's/^/alarm: /p' $leaks > /tmp/alarm
	[ -s /tmp/alarm ] && head -n 1 /tmp/alarm
}

# shellcheck disable=SC2046 # several
load() { insmod /lib/callout.ko $(echo "$parameters" | tr + " "); }

# check NAME: sets counted
check() {
	: > /tmp/log
	: > /tmp/said
	case $1 in
	callout_*) suite "$1" ;;
	job_*) job "${1#job_}" ;;
	*) program "$1" ;;
	esac || return
	counted=$(grep -c '^ *ok ' /tmp/said):$(grep -c '# SKIP' /tmp/said)
	[ "$counted" != 0:0 ] && ! grep -q '^ *not ok ' /tmp/said && ! alarmed
}

of_module=/sys/module/mutant/parameters

# What has run since the last call, of the module's mutants or of the library's.
reached() {
	if [ -e $of_module/reached ]; then
		cat $of_module/reached
	elif [ -e /tmp/reached ]; then
		tr '\0\1' 01 < /tmp/reached
	fi
}

killed() {
	grep '^ *not ok ' /tmp/said | head -n 3
	echo "killed $mutant $1"
	exit 0
}

: > /tmp/said
[ ! -e /lib/mutant.ko ] || insmod /lib/mutant.ko
if [ -e $leaks ]; then
	echo scan=off > $leaks
	echo clear > $leaks
fi
log
while read -r mutant parameters checks <&3; do
	echo "run $mutant insmod"
	[ ! -e $of_module ] || echo "$mutant" > $of_module/mutant
	load || killed insmod
	[ "$mutant" != 0 ] || echo "reached insmod 0:0 $(reached)"
	for token in $checks; do
		name=${token%%:*}
		echo "run $mutant $name"
		if ! check "$name"; then
			killed "$name"
		elif [ "$mutant" = 0 ]; then
			echo "reached $name $counted $(reached)"
		elif [ "$token" != "$name:$counted" ]; then
			echo "counts: $counted"
			killed "$name"
		fi
	done
	echo "run $mutant rmmod"
	: > /tmp/said
	rmmod callout || killed rmmod
	log
	if alarmed || leaked; then
		killed rmmod
	fi
	echo "survived $mutant"
done 3< /lib/plan
