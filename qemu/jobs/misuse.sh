#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: a module misuses callouts in several ways, each of which the kernel must report, and report
# nothing else. For the debug kernel. The misuses of callouts, or with boot.sh -a
# CALLOUT_ONLY=PATTERN the misuses that match: drain_own, timer_*. These boot apart, since in one
# boot lockdep reports once and debugobjects five times. Reports are read from the log and kept off
# the console, which must hold none.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

alarm='BUG: |WARNING: |ODEBUG: |Oops|KASAN|UBSAN|possible .*lock|suspicious RCU|INFO: |callout: '

# lines N EXPRESSION: the log has N such lines, or N or more if that is N-
lines() {
	count=$(grep -cE "$2" /tmp/log) || :
	case $1 in
	*-) [ "$count" -ge "${1%-}" ] ;;
	*) [ "$count" -eq "$1" ] ;;
	esac || { echo "# $count lines with: $2"; return 1; }
}

# On this kernel any handler may be slow.
nothing_but() { ! grep -E "$alarm" /tmp/log | grep -vE "$1|callout: .* took more than [0-9]+ ms"; }

# wanted MISUSE
wanted() {
	# shellcheck disable=SC2254 # a pattern
	case $1 in
	${CALLOUT_ONLY:-$1}) ;;
	*) return 1 ;;
	esac
	case ${CALLOUT_ONLY:-none}:$1 in
	none:drain_own|none:timer_*) return 1 ;;
	esac
}

# misuse WHAT: leaves the log in /tmp/log, and the number of slow handlers in $slow
misuse() {
	parameters="what=$1"
	dmesg -c > /dev/null
	insmod /lib/callout.ko
	module=callout_misuse
	case $1 in
	bsd_*)
		insmod /lib/callout_bsd.ko
		module=callout_misuse_bsd ;;
	esac
	check "done and put right" insmod "/lib/$module.ko" "what=$1"
	rmmod $module || :
	[ $module = callout_misuse ] || rmmod callout_bsd
	slow=$(awk '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "slow") column = i; next }
		{ n += $column }
		END { print n + 0 }' /sys/kernel/debug/callout/bases)
	rmmod callout
	dmesg > /tmp/log
}

# expect WHAT REPORT [COMPANION]: one line with the report, and no other alarm except its companion
expect() {
	wanted "$1" || return 0
	before=$failed
	misuse "$1"
	check "reported once" lines 1 "$2"
	check "nothing else reported" nothing_but "$2${3:+|$3}"
	[ "$failed" -eq "$before" ] || sed 's/^/# /' /tmp/log
}

echo 0 > /proc/sys/kernel/panic_on_warn
echo N > /sys/module/printk/parameters/ignore_loglevel
dmesg -n 1
# The kernel reports only once that the module taints it.
insmod /lib/callout.ko
rmmod callout

debugobjects='WARNING: .*debug_print_object'
context='WARNING: .*co_context_changed'
expect free 'ODEBUG: free active .*object type: callout hint: count_run' "$debugobjects"
expect init 'ODEBUG: init active .*object type: callout hint: count_run' "$debugobjects"
expect zeroed 'ODEBUG: assert_init not available .*object type: callout ' "$debugobjects"
expect garbage 'ODEBUG: assert_init not available .*object type: callout ' "$debugobjects"
# By each call that sets a callout; only the first is reported.
expect function 'callout: set without a function' 'WARNING: .*core/arm\.c:'
became='preempt_count [0-9a-f]{8} became [0-9a-f]{8}'
expect preempt "callout: disable_preemption.*: $became" "$context"
expect preempt_locked "callout: disable_preemption.*: $became" "$context"
expect preempt_timer "callout: disable_preemption.*: $became" "$context"
sleeps='BUG: sleeping function called from invalid context at'
expect atomic_barrier "$sleeps .*core/stop\.c:"
# The kernel reports it once a second.
! wanted atomic_work || sleep 2
expect atomic_work "$sleeps .*bsd/work_drain\.c:" "$sleeps .*workqueue\.c:"
expect lock 'callout: leak_lock.*: held [0-9]+ locks and now [0-9]+' "$context"
expect null 'callout: NULL instead of a callout' 'WARNING: .*core/debug\.c:'
expect nmi 'callout: called in an NMI' 'WARNING: .*core/debug\.c:'
expect unlocked 'callout: set or stopped without its lock' \
	'WARNING: .*core/debug\.c:'
expect bsd_destroy 'callout: destroyed while it is pending' 'WARNING: .*bsd/netbsd\.c:'
expect bsd_terminated 'callout: set after callout_terminate' 'WARNING: .*bsd/dragonfly\.c:'
expect bsd_clock 'callout: timeout not initialised, or for another clock' \
	'WARNING: .*bsd/openbsd\.c:'
expect bsd_zeroed 'callout: timeout not initialised, or for another clock' \
	'WARNING: .*bsd/openbsd\.c:'
timer='.*object type: callout_timer hint:'
expect timer_free "ODEBUG: free active $timer count_timer" "$debugobjects"
expect timer_init "ODEBUG: init active $timer count_timer" "$debugobjects"
expect timer_zeroed "ODEBUG: assert_init not available $timer" \
	"$debugobjects|WARNING: .*timer_never_prepared"
! wanted timer_zeroed || check "its function warns" lines 1 'WARNING: .*timer_never_prepared'
expect timer_irq 'WARNING: .*timers/stop\.c:'

# All thirty are counted, and few are in the log.
if wanted slow; then
	misuse slow
	check "slow handlers counted" [ "$slow" -ge 30 ]
	check "a slow handler named" lines 1- 'callout: be_slow .*took more than [0-9]+ ms'
	check "not each of them" [ "$(grep -c 'callout: be_slow' /tmp/log)" -lt 30 ]
fi

# The last, since lockdep is silent after its first report. That report raises the console's
# level, if there is one.
echo 0 > /proc/sys/kernel/printk
for last in drain drain_own timer_drain; do
	wanted $last || continue
	expect $last 'WARNING: possible circular locking dependency' \
		'BUG: sleeping function called from invalid context'
	check "its lock named" lines 1- 'lock:'
done
finish
