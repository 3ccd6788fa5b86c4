# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For jobs: runs programs that print TAP, makes tests of commands, and counts results. In /lib of
# the test machine.

# Seconds for one program, more than the harness has for its longest test. The boot has
# its own limit.
limit=3600
parameters=
passed=0
failed=0

# io_uring drops the files of a ring some time after its process has ended.
unload_module() {
	i=0
	until rmmod callout 2> /tmp/rmmod; do
		i=$((i + 1))
		[ "$i" -lt 60 ] || { cat /tmp/rmmod; return 1; }
		sleep 1
	done
}

# leaves_callouts: says that the next unload leaves callouts on purpose, see scripts/lib.sh.
leaves_callouts() { echo "callout-init: the next unload leaves callouts" > /dev/kmsg; }

# callouts_left: prints what callout.ko has said of callouts that were pending when it was unloaded,
# and fails if it has not
callouts_left() { dmesg | grep -E "callout: [0-9]+ callouts .*pending"; }

wrong() {
	failed=$((failed + 1))
	echo "$*" >> /run/reason
	echo "# $*"
}

# run PROGRAM [NOTE]
run() {
	name=${1##*/}${2:+ $2}
	echo "# $name"
	{ timeout -s KILL "$limit" "$1" || echo $? > /tmp/status; } 2>&1 | tee /tmp/tap
	awk -v why=/tmp/why -f /lib/ktap.awk /tmp/tap > /tmp/counts
	read -r good bad < /tmp/counts
	passed=$((passed + good))
	failed=$((failed + bad))
	[ ! -s /tmp/why ] || sed "s/^/$name: /" /tmp/why >> /run/reason
	[ $((good + bad)) -gt 0 ] || wrong "$name reported no result"
	if [ -s /tmp/status ] && [ "$bad" -eq 0 ]; then
		wrong "$name ended with status $(cat /tmp/status)"
	fi
	rm -f /tmp/status /tmp/why
}

# What the kernel says of its clocks and of itself where the host is busy.
busy='^(Clock|hrtimer|clocksource|sched_clock|tsc|TSC|sched|perf|random|workqueue)\>'

# run_silent PROGRAM [NOTE]: as run; and the kernel prints nothing else while it runs.
run_silent() {
	dmesg -c > /tmp/dmesg
	run "$@"
	dmesg -c | sed 's/^<[0-9]*>//; s/^\[[^]]*\] //' | grep -vE "$busy" > /tmp/dmesg ||
		return 0
	sed 's/^/# /' /tmp/dmesg
	wrong "${1##*/}: the kernel has printed: $(head -n 1 /tmp/dmesg)"
}

# sets SET...: the sets of parameters to load the module with, a line each: these, or the sets
# of boot.sh -a CALLOUT_SETS=, with + for a blank and ; between sets
sets() {
	if [ "${CALLOUT_SETS:-}" ]; then
		echo "$CALLOUT_SETS" | tr '+;' ' \n'
	else
		printf '%s\n' "$@"
	fi
}

# load_module: with $parameters
load_module() {
	# shellcheck disable=SC2086 # none, one or several
	insmod /lib/callout.ko $parameters
}

# load_kunit: KUnit's module, and callout_bsd.ko, which it uses. A commit that bisect.sh boots may
# have none.
load_kunit() {
	[ ! -e /lib/callout_bsd.ko ] || insmod /lib/callout_bsd.ko || return
	insmod /lib/callout_kunit.ko ${CALLOUT_STORM:+storm=$CALLOUT_STORM} \
		${CALLOUT_RACES:+races=$CALLOUT_RACES} \
		${CALLOUT_LITMUS:+litmus=$CALLOUT_LITMUS}
}

unload_kunit() {
	rmmod callout_kunit || return
	[ ! -e /sys/module/callout_bsd ] || rmmod callout_bsd
}

# watch_races: where there is KCSAN, reports data races in the facility's modules, not in the
# kernel's own code. The modules must be loaded, so races in their start are missed.
kcsan=/sys/kernel/debug/kcsan
watch_races() {
	[ -e $kcsan ] || return 0
	echo whitelist > $kcsan
	awk '$2 ~ /^[tT]$/ && $4 ~ /^\[callout/ { print substr($4, 2, length($4) - 2) ":" $3 }' \
		/proc/kallsyms | sort -u | while read -r function; do
		echo "!$function" > $kcsan
	done
	echo on > $kcsan
}

# end_races: before they are unloaded; prints what KCSAN has counted
end_races() {
	[ ! -e $kcsan ] || { echo off > $kcsan; head -n 12 $kcsan; }
}

# high_resolution: waits for high resolution timers, which do not come before the TSC is calibrated.
high_resolution() {
	sleep 2
	if ! grep -q 'hres_active *: 1' /proc/timer_list; then
		echo "no high resolution timers" | tee /run/reason
		exit 1
	fi
}

# quiet_watchdogs: turns the kernel's watchdogs off, whose instructions would be counted too.
quiet_watchdogs() {
	echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
	echo 0 > /proc/sys/kernel/watchdog
	echo 0 > /proc/sys/kernel/hung_task_timeout_secs
	watchdog=/sys/module/workqueue/parameters/watchdog_thresh
	[ ! -e $watchdog ] || echo 0 > $watchdog
}

# check NAME COMMAND...: a test of one command, with the module loaded with $parameters
check() {
	name=$1${parameters:+, $parameters}
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name"
	else
		wrong "$name"
		echo "not ok $((passed + failed)) $name"
	fi
}

# The job's last command.
finish() {
	echo "1..$((passed + failed))"
	echo "$passed" > /run/passed
	echo "$failed" > /run/failed
	[ "$passed" -gt 0 ] || { echo "no test ran" > /run/reason; return 1; }
	[ "$failed" -eq 0 ]
}
