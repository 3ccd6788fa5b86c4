# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# calloutctl top, and the width of what it and list print

# Its fields are pid, uid, outstanding, ..., files, comm.
top_tells() {
	calloutctl top "$@" > /tmp/out || return 1
	if ! awk -v pid="$pid" '
		$1 == pid && $3 == 2 && $NF == "calloutctl" { found = 1 }
		END { exit !found }' /tmp/out; then
		sed 's/^/# /' /tmp/out
		return 1
	fi
}

# at_most N ARGUMENT...: below its heading calloutctl top prints one line or more, and at most N
at_most() {
	most=$1
	shift
	calloutctl top "$@" > /tmp/out || return 1
	lines=$(($(wc -l < /tmp/out) - 1))
	[ "$lines" -ge 1 ] && [ "$lines" -le "$most" ]
}

# Each callout has an owner: the process by another name.
many_names=$python'
for name in itertools.count():
    ctypes.CDLL(None).prctl(15, b"%d" % name)    # PR_SET_NAME
    fd = lib.callout_dev_open(0)
    do(fd, 10**12)
    ctypes.CDLL(None).close(fd)
'

instance_goes() {
	for _ in $(seq 100); do
		[ "$(ls /sys/kernel/tracing/instances)" ] || return 0
		sleep 0.1
	done
	return 1
}

counts_too_many() {
	: > /tmp/err
	calloutctl top --kernel 200ms > /dev/null 2> /tmp/err &
	counter=$!
	python3 -c "$many_names" &
	many=$!
	until [ -s /tmp/err ]; do
		sleep 0.1
	done
	kill $many $counter
	wait $counter || :
	grep -qE "^calloutctl: [1-9][0-9]* events were lost: too many" /tmp/err ||
		{ sed 's/^/# /' /tmp/err; return 1; }
}

check_top() {
	calloutctl set -n 2 1h > /dev/null &
	pid=$!
	wait_outstanding 2 $pid
	check "top" top_tells
	check "top --processes" top_tells --processes
	check "top --json" json 1 calloutctl top --json
	calloutctl set -p 50ms -n 1000 50ms > /dev/null &
	periodic=$!
	check "top --kernel --json" json 1 calloutctl top --kernel --json
	# By now there are two processes with callouts.
	check "top -n" at_most 1 -n 1
	check_unwritable
	kill $periodic
	check "top: three times" tables 3 calloutctl top 50ms 3
	check "top --kernel: twice" tables 2 calloutctl top --kernel 100ms 2
	check "top: 0 times" fails 2 "bad number of times" calloutctl top 1s 0
	check "top: too long" \
		fails 2 "bad interval" timeout 10 calloutctl top 9223372036854775808ns
	check "top --processes --kernel" \
		fails 2 "either --processes or --kernel" calloutctl top --processes --kernel
	umount /sys/kernel/debug
	check "top without debugfs" top_tells
	mount -t debugfs debugfs /sys/kernel/debug
	umount /sys/kernel/tracing
	check "top --kernel without tracefs" fails 1 "There is no tracefs" calloutctl top --kernel
	mount -t tracefs tracefs /sys/kernel/tracing
	check "top --kernel: too many" counts_too_many
	check "top --kernel: nothing is left" instance_goes
	kill $pid
}

# Has a name, and a callout that fires each 50 ms; prints its process and descriptor.
named=$python'
PR_SET_NAME = 15
ctypes.CDLL(None).prctl(PR_SET_NAME, os.fsencode(sys.argv[1]))
fd = lib.callout_dev_open(0)
do(fd, 50 * 10**6, period=50 * 10**6)
print(os.getpid(), fd, flush=True)
while os.read(fd, 4096):
    pass
'

# Runs a command whose output is a terminal of so many columns, and copies it.
terminal='
import ctypes, os, struct, sys
terminal, output = os.openpty()
size = struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0)
assert not ctypes.CDLL(None).ioctl(output, 0x5414, size)    # TIOCSWINSZ
pid = os.fork()
if not pid:
    os.dup2(output, 1)
    os.execvp(sys.argv[2], sys.argv[2:])
os.close(output)
try:
    while True:
        os.write(1, os.read(terminal, 4096).replace(b"\r", b""))
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
'

# fits WIDTH HEADINGS COMMAND...: on a terminal of this width (0: unknown) it has these columns, two
# lines or more, and none that is longer
fits() {
	width=$1
	headings=$2
	shift 2
	if python3 -c "$terminal" "$width" "$@" > /tmp/out 2> /tmp/err &&
		awk -v width="$width" -v headings="$headings" '
			{ gsub(/\033\[[0-9;]*[A-Za-z]/, "") }
			NR == 1 { $1 = $1; named = $0 == headings }
			width && length > width { longer = 1 }
			END { exit !named || longer || NR < 2 }' /tmp/out; then
		return
	fi
	sed 's/^/# /' /tmp/out /tmp/err
	return 1
}

# styled PATTERN COMMAND...: on a terminal a line of its output matches, where ESC [ is a ^
styled() {
	pattern=$1
	shift
	python3 -c "$terminal" 80 "$@" > /tmp/raw 2> /tmp/err &&
		awk '{ gsub(/\033\[/, "^") } { print }' /tmp/raw > /tmp/out &&
		grep -qE "$pattern" /tmp/out && return
	sed 's/^/# /' /tmp/out /tmp/err
	return 1
}

# It overwrites the table: it clears each line's end and what is below, and not the terminal.
repaints() {
	styled '\^K$' calloutctl top 50ms 3 && ! grep -qF '^2J' /tmp/out &&
		[ "$(grep -c '\^J\^H\|\^J$' /tmp/out)" -ge 2 ]
}

# tables N COMMAND...: it ends by itself, after N tables
tables() {
	n=$1
	shift
	timeout 60 "$@" > /tmp/out && [ "$(grep -cE '^ *(pid|armed) ' /tmp/out)" -eq "$n" ]
}

# Runs a command on a terminal and presses keys, each after a line is printed; its status is not 0
# if the command does not bring back the settings of the terminal.
keys='
import ctypes, os, sys
def settings():
    termios = ctypes.create_string_buffer(128)
    assert not ctypes.CDLL(None).tcgetattr(0, termios)
    return termios.raw
pid, fd = os.forkpty()
if not pid:
    before = settings()
    if not os.fork():
        os.execvp(sys.argv[2], sys.argv[2:])
    status = os.waitstatus_to_exitcode(os.wait()[1])
    os._exit(status or settings() != before)
for key in sys.argv[1]:
    data = b""
    while b"\n" not in data:
        data = os.read(fd, 4096)
        os.write(1, data.replace(b"\r", b""))
    os.write(fd, key.encode())
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
'

# ends_by KEYS COMMAND...: these keys end it
ends_by() { timeout 60 python3 -c "$keys" "$@" > /tmp/out 2> /tmp/err; }

# first_sorted COLUMN PID: sorted by this column, a file of the process is the first
first_sorted() {
	calloutctl top -n 1 --sort "$1" > /tmp/out && awk -v pid="$2" '
		NR == 2 && $1 == pid { found = 1 } END { exit !found }' /tmp/out
}

check_keys() {
	# It has fired most; the other has most outstanding.
	hold python3 -c "$named" fires
	calloutctl set -n 20 1h > /dev/null &
	other=$!
	until first_sorted outstanding $other; do
		sleep 0.1
	done
	until first_sorted fired "$pid"; do
		sleep 0.1
	done
	check "top --sort" first_sorted fired "$pid"
	check "top --sort: no such column" \
		fails 2 "no column \"comm\" to sort by" calloutctl top --sort comm
	kill "$pid" $other
	check "top: q quits" ends_by q calloutctl top 1h
	check "top: s, then q" ends_by sq calloutctl top 1h
	check "top --kernel: q quits" ends_by q calloutctl top --kernel 100ms
	check "top: another key does not" ends_by xyq calloutctl top 1h
}

check_width() {
	hold python3 -c "$named" "a name of 15..."
	all="pid uid outstanding unread limit set reset cancelled withdrawn fired delivered files"
	check "top: a terminal of 145" fits 145 "$all comm" calloutctl top
	check "top: a terminal of 144" fits 144 "${all% *} comm" calloutctl top
	check "top: a terminal of 80" \
		fits 80 "pid uid outstanding unread limit set comm" calloutctl top
	check "top --processes: a terminal of 20" \
		fits 20 "comm" calloutctl top --processes
	check "top: a terminal of 5" fits 5 "comm" calloutctl top
	all="armed moved cancelled expired late_us"
	check "top --kernel: a terminal of 78" fits 78 "$all pid name" calloutctl top --kernel
	check "top --kernel: a terminal of 77" fits 77 "$all name" calloutctl top --kernel
	all="pid fd handle key clock left period slack cookie func"
	check "list: a terminal of 117" fits 117 "$all state" calloutctl list "$pid"
	check "list: a terminal of 80" \
		fits 80 "pid fd handle key clock left state" calloutctl list "$pid"
	check "list: a terminal without size" fits 0 "$all state" calloutctl list "$pid"
	all="fired wakeups false hops visits requeues late>1tick"
	check "stat: a terminal of 80" fits 80 "$all max_units" calloutctl stat 50ms 3
	check "stat: a terminal of 79" fits 79 "${all% *} max_units" calloutctl stat 50ms 3
	check "check: a terminal of 80" fits 80 "ok module is loaded" calloutctl check
	check "help: a terminal of 80" \
		fits 80 "usage: calloutctl COMMAND [ARGUMENTS]" calloutctl help
	check "top: bold headings" styled '^\^1m +pid .*\^0m$' calloutctl top
	check "list: bold headings" styled '^\^1m +pid .*\^0m$' calloutctl list "$pid"
	check "check: green" styled '^\^32mok +\^0m +module' calloutctl check
	check "top: NO_COLOR" styled '^ +pid' env NO_COLOR=1 calloutctl top
	check "check: NO_COLOR" styled '^ok +module' env NO_COLOR=1 calloutctl check
	check "top: a dumb terminal" styled '^ +pid' env TERM=dumb calloutctl top
	check "top: overwrites the table" repaints
	kill "$pid"
}

check_names() {
	hold python3 -c "$named" ""
	check "top --kernel: no name" prints " +[0-9]+ .* $pid " calloutctl top --kernel
	kill "$pid"
	hold python3 -c "$named" "$(printf '\r\v\f')"
	check "top --kernel: a name of white space" \
		prints " +[0-9]+ .* $pid [?]{3}" calloutctl top --kernel
	kill "$pid"
	hold python3 -c "$named" "$(printf 'a \\040\nb')"
	check "top: escaped" prints " +$pid .* a \\\\040[?]b" calloutctl top
	check "top --kernel: escaped" prints " +[0-9]+ .* $pid a \\\\040[?]b" \
		calloutctl top --kernel
	kill "$pid"
	# As UTF-8: an a with a dieresis, and a control character.
	hold python3 -c "$named" "$(printf 'm\303\244\302\233x')"
	check "top: beyond ASCII" prints " +$pid .* m[?]{4}x" calloutctl top
	check "top --json: beyond ASCII" \
		prints ".*\"pid\": $pid, "'.*"m\\u00c3\\u00a4\\u00c2\\u009bx"\}' \
		calloutctl top --json
	check "top --kernel: beyond ASCII" prints " +[0-9]+ .* $pid m[?]{4}x" \
		calloutctl top --kernel
	kill "$pid"
}
