# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# calloutctl list

# Holds a file with callouts, and prints its process and descriptor.
holder=$python'
HOUR = 3600 * 10**9
fd = lib.callout_dev_open(0)
do(fd, HOUR, cookie=5)
do(fd, HOUR, cookie=6, period=HOUR)
do(fd, HOUR, op=TIMEOUT, func=0x1f, cookie=8)
do(fd, 2**63 - 1, flags=ABSTIME | EXACT, clockid=BOOTTIME, cookie=9)
do(fd, HOUR, flags=KEY, key=2**64 - 1, slack=10**6, cookie=11)
do(fd, 0, cookie=10)
select.select([fd], [], [])
print(os.getpid(), fd, flush=True)
time.sleep(10**6)
'

# without CALL ERROR COMMAND...: the call fails with this error, as a seccomp filter says
without() {
	python3 -c '
import ctypes, errno, os, struct, sys
number = {"pidfd_open": 434, "pidfd_getfd": 438}[sys.argv[1]]
code = ctypes.create_string_buffer(struct.pack("HBBI" * 4,
    0x20, 0, 0, 0,                    # load the number of the system call
    0x15, 0, 1, number,               # unless it is this one, skip
    0x06, 0, 0, 0x00050000 | getattr(errno, sys.argv[2]),
    0x06, 0, 0, 0x7fff0000))          # allow
program = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(code)))
prctl = ctypes.CDLL(None).prctl
assert not prctl(38, 1, 0, 0, 0) and not prctl(22, 2, program)
os.execvp(sys.argv[3], sys.argv[3:])' "$@"
}

# Gives the number 9 to the device and to /dev/null, by turns.
flicker=$python'
device, null = lib.callout_dev_open(0), os.open("/dev/null", os.O_RDONLY)
os.dup2(null, 9)
print(os.getpid(), device, flush=True)
while True:
    os.dup2(device, 9)
    os.dup2(null, 9)
'

# Has a file of FUSE, whose server has ended, as a descriptor before the device's.
orphan='
import ctypes, os
dead, fuse = os.open("/dev/null", os.O_RDONLY), os.open("/dev/fuse", os.O_RDWR)
os.mkdir("/tmp/orphan")
mount = ctypes.CDLL(None).mount
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fuse
assert not mount(b"orphan", b"/tmp/orphan", b"fuse", 0, options)
os.dup2(os.open("/tmp/orphan", os.O_PATH), dead)
os.close(fuse)
'

# Of what cannot be looked at, nothing is said.
lists_orphan() {
	hold python3 -c "$orphan$holder"
	fails 1 "/fd/[0-9]+: .* not connected" calloutctl list "$pid/3" && lists 7 "$pid"
	result=$?
	kill "$pid"
	wait "$pid"
	umount /tmp/orphan
	rmdir /tmp/orphan
	return $result
}

# Only the device is asked for its callouts.
lists_flicker() {
	hold python3 -c "$flicker"
	left=300
	while [ $left -gt 0 ] && calloutctl list "$pid" > /tmp/out 2>&1; do
		left=$((left - 1))
	done
	kill "$pid"
	[ $left -eq 0 ] || { sed 's/^/# /' /tmp/out; return 1; }
}

# lists N ARGUMENT...: calloutctl list prints N lines
lists() {
	lines=$1
	shift
	calloutctl list "$@" > /tmp/out && [ "$(wc -l < /tmp/out)" -eq "$lines" ]
}

# A user who is not root may list the processes that they may trace.
lists_own() {
	chmod 666 /dev/callout
	hold start-stop-daemon -S -c somebody -x "$(command -v python3)" -- -c "$holder"
	scope=/proc/sys/kernel/yama/ptrace_scope
	echo 0 > $scope
	prints " +$pid +$fd +$handle .* pending" as_somebody list "$pid" && echo 1 > $scope &&
		fails 1 "pidfd_getfd: Operation not permitted" as_somebody list "$pid" &&
		grep -q "^Only root may list" /tmp/err && lists 7 "$pid"
	result=$?
	kill "$pid"
	chmod 600 /dev/callout
	return $result
}

# Two processes have files, $pid and another one.
lists_all() {
	calloutctl set 1h 12 > /dev/null &
	other=$!
	wait_outstanding 1 $other
	lists 8 && grep -qE "^ +$pid +$fd " /tmp/out && grep -qE "^ +$other .* 12 " /tmp/out
}

# Processes of another user: $pid, and a shell that runs this job, but no threads of the kernel.
counts_hidden() {
	as_somebody list > /tmp/out 2> /tmp/err && [ ! -s /tmp/out ] || return 1
	hidden=$(sed -n 's/.* that you may not trace: //p' /tmp/err)
	[ "$hidden" -ge 2 ] && [ "$hidden" -lt "$(cat /proc/[0-9]*/comm | wc -l)" ]
}

prints_nothing() { "$@" > /tmp/out 2> /tmp/err && [ ! -s /tmp/out ] && [ ! -s /tmp/err ]; }

check_list() {
	hold python3 -c "$holder"
	hour='3[56][0-9]{2}\.[0-9]{3}s'
	check "list" lists 7 "$pid"
	check "list PID/FD" lists 7 "$pid/$fd"
	check "list /proc/PID/fd/FD" lists 7 "/proc/$pid/fd/$fd"
	check "list: a callout" \
		prints " +$pid +$fd +$handle +- +monotonic +$hour +0 +100.000us +5 +- pending" \
		calloutctl list "$pid"
	check "list: periodic" \
		prints " +$pid +$fd +$handle +- .* $hour +3600.000s +100.000us +6 +- pending" \
		calloutctl list "$pid"
	check "list: func" prints " +$pid +$fd +$handle .* +8 +0x1f pending" calloutctl list "$pid"
	boottime="$handle +- +boottime +92[0-9]{8}.[0-9]{3}s +0 +0 +9 +- pending"
	check "list: clock" prints " +$pid +$fd +$boottime" calloutctl list "$pid"
	check "list: key" \
		prints " +$pid +$fd +- +18446744073709551615 .* $hour +0 +1.000ms +11 +- pending" \
		calloutctl list "$pid"
	check "list: unread" prints " +$pid +$fd +$handle .* +0 +0 +100.000us +10 +- unread" \
		calloutctl list "$pid"
	check "list --json" json 6 calloutctl list --json "$pid"
	check "list --json: a type and a clock" \
		prints '.*"type": "timeout", "clock": "monotonic", .*"func": "0x1f", .*' \
		calloutctl list --json "$pid"
	check "list: all processes" lists_all
	check "list --json: all processes" json 7 calloutctl list --json
	# start-stop-daemon starts nothing that runs.
	kill "$other"
	wait "$other" || :
	check "list: processes that cannot be seen" counts_hidden
	check "list --json: a key" \
		prints '.*"key": "18446744073709551615", .*"state": "pending"\}' \
		calloutctl list --json "$pid"
	check "list --json: times" \
		prints '.*"due_ns": "9223372036854775807", "left_ns": "92[0-9]{17}", .*' \
		calloutctl list --json "$pid"
	check "list: another descriptor" \
		fails 1 "descriptor 1 of process $pid is not of /dev/callout" \
		calloutctl list "$pid/1"
	check "list: no such descriptor" fails 1 "/fd/999: No such file" calloutctl list "$pid/999"
	check "list: not permitted" fails 1 "/fd: Permission denied" as_somebody list "$pid"
	check "list PID/FD: not permitted" \
		fails 1 "/fd/$fd: Permission denied" as_somebody list "$pid/$fd"
	check "list: no pidfd_open" \
		fails 1 "list: the process: Function not implemented" \
		without pidfd_open ENOSYS calloutctl list "$pid"
	check "list: no pidfd_getfd" \
		fails 1 "pidfd_getfd: Function not implemented" \
		without pidfd_getfd ENOSYS calloutctl list "$pid"
	check "list: the process ends" \
		fails 1 "process $pid has no descriptor" \
		without pidfd_getfd ESRCH calloutctl list "$pid"
	check "list PID/FD: the process ends" \
		fails 1 "pidfd_getfd: No such process" \
		without pidfd_getfd ESRCH calloutctl list "$pid/$fd"
	kill "$pid"
	check "list: not permitted to trace" lists_own
	check "list: a number that changes its file" lists_flicker
	# In 6.1 it is a module.
	! grep -qw fuse /proc/filesystems ||
		check "list: a file that cannot be looked at" lists_orphan
	check "list: no descriptor" fails 1 "process $$ has no descriptor" calloutctl list $$
	check "list: no such process" fails 1 "the process: No such process" calloutctl list 4194304
	check "list: two processes" fails 2 "list takes one process" calloutctl list 1 2
	wait "$pid" || :
	check "list: no process has a file" prints_nothing calloutctl list
	for target in 0 x -1 1/ 1/x 1/2/3 /proc/1 /proc/1/2 99999999999 1/99999999999; do
		check "list: bad process $target" fails 2 "list: (bad process|no option)" \
			calloutctl list "$target"
	done

	calloutctl set -n 1000 1h > /dev/null &
	pid=$!
	wait_outstanding 1000 $pid
	check "list: a thousand" lists 1001 "$pid"
	kill "$pid"
}
