# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# What calloutctl prints, compared; processes that have callouts.

handle='0x[0-9a-f]+'

# prints PATTERN COMMAND...: it succeeds, and a whole line of its output matches the pattern
prints() {
	pattern=$1
	shift
	"$@" > /tmp/out 2> /tmp/err || { sed 's/^/# /' /tmp/err; return 1; }
	grep -qxE "$pattern" /tmp/out || { sed 's/^/# /' /tmp/out; return 1; }
}

# fails STATUS PATTERN COMMAND...: it ends with this status and a message on standard error
fails() {
	status=$1
	pattern=$2
	shift 2
	code=0
	"$@" > /tmp/out 2> /tmp/err || code=$?
	[ "$code" -eq "$status" ] || { echo "# status $code"; return 1; }
	if [ -s /tmp/out ] || ! grep -qE "$pattern" /tmp/err; then
		sed 's/^/# /' /tmp/out /tmp/err
		return 1
	fi
}

# json N COMMAND...: N lines or more, each one an object of members as calloutctl writes them
json() {
	lines=$1
	shift
	"$@" > /tmp/out || return 1
	value='([0-9]+(\.[0-9]+)?|true|false|"([^"\\]|\\.)*"|\[[0-9, ]*\])'
	member="\"[a-z_0-9]+\": $value"
	! grep -vxE "\{$member(, $member)*\}" /tmp/out && [ "$(wc -l < /tmp/out)" -ge "$lines" ]
}

# calloutctl as a user who is not root
mkdir -p /etc
echo "somebody:x:12345:12345::/:/bin/sh" >> /etc/passwd
as_somebody() { start-stop-daemon -S -c somebody -x "$(command -v calloutctl)" -- "$@"; }

# wait_outstanding COUNT PID: waits until the process has COUNT callouts in a file
wait_outstanding() {
	while ! grep -qx "outstanding:.$1" /proc/"$2"/fdinfo/* 2> /dev/null; do
		sleep 0.1
	done
}

# do() sets a callout that its arguments describe, as members of struct callout_op.
python='
import ctypes, itertools, os, select, struct, sys, time
lib = ctypes.CDLL("libcallout.so.1")
SET, TIMEOUT, ABSTIME, KEY, EXACT, BOOTTIME = 1, 4, 1, 2, 32, 7
def do(fd, time, op=SET, flags=0, clockid=1, period=0, slack=0, key=0, cookie=0, func=0):
    packed = struct.pack("IIiiQQQQQQ", op, flags, clockid, 0,
                         time, period, slack, key, cookie, func)
    assert lib.callout_dev_do(fd, ctypes.create_string_buffer(packed)) == 0
'

# hold COMMAND...: runs it as a holder
hold() {
	: > /tmp/holder
	"$@" > /tmp/holder &
	while ! read -r pid fd < /tmp/holder; do
		sleep 0.1
	done
}
