#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: calloutctl, and the examples: loops with 100 000 timers on libcallout, a server by io_uring.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

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

# counts_late COMMAND...: what it writes of lateness has one count or more that is not 0
counts_late() {
	"$@" > /tmp/out || return 1
	grep -qE '"late": \[[0-9, ]*[1-9]' /tmp/out || { sed 's/^/# /' /tmp/out; return 1; }
}

# limits_count MOST COMMAND...: its last argument, a count, is 1 to MOST
limits_count() {
	most=$1
	shift
	for count in 0 $((most + 1)); do
		fails 2 "it is 1 to $most" "$@" "$count" || return 1
	done
}

# Its second line counts from the first on, apart from max_units, which is no less.
stat_keeps_max_units() {
	calloutctl stat --json 100ms 2 > /tmp/out || return 1
	sed 's/.*"max_units": \([0-9]*\).*/\1/' /tmp/out > /tmp/units
	{ read -r first && read -r second; } < /tmp/units || return 1
	[ "$first" -gt 0 ] && [ "$second" -ge "$first" ]
}

# calloutctl as a user who is not root
mkdir -p /etc
echo "somebody:x:12345:12345::/:/bin/sh" >> /etc/passwd
as_somebody() { start-stop-daemon -S -c somebody -x "$(command -v calloutctl)" -- "$@"; }

# watched PATTERN COMMANDS: a line that calloutctl shell prints for these
watched() { printf '%b' "$2" > /tmp/in; prints "$1" calloutctl shell < /tmp/in; }

# complains PATTERN COMMANDS: of these, calloutctl shell refuses one with such a message
complains() { printf '%b' "$2" | calloutctl shell 2>&1 | grep -qE "$1"; }

# With standard input closed, calloutctl shell neither reads commands nor waits.
shell_closed() { timeout 10 calloutctl shell <&-; }

# Sets a callout for an hour, and moves it to 10 ms.
moves() {
	rm -f /tmp/commands
	mkfifo /tmp/commands
	calloutctl shell < /tmp/commands > /tmp/out &
	exec 4> /tmp/commands
	echo "set 1h 5" >&4
	while ! grep -q handle /tmp/out; do
		sleep 0.1
	done
	echo "move 10ms $(cut -d ' ' -f 3 /tmp/out)" >&4
	exec 4>&-
	wait $! && grep -q "^fired .* cookie 5 " /tmp/out
}

# It prints nothing, and takes a second or more.
sleeps() {
	start=$(cut -d ' ' -f 1 /proc/uptime)
	calloutctl sleep 1s > /tmp/out && [ ! -s /tmp/out ] || return 1
	awk -v start="$start" '{ exit $1 - start < 0.98 }' /proc/uptime
}

# Where the kernel has no commands of io_uring, it says so. device_basic knows such kernels.
uring_example() {
	if calloutctl info | grep -qE '^features +0$'; then
		fails 1 "Linux 6.12 and later" idle_uring
	else
		idle_uring
	fi
}

# unwritable COMMAND...: it ends at the first line that it cannot write, on a full disk or for a
# reader that has gone, and says so
unwritable() {
	rm -f /tmp/gone
	mkfifo /tmp/gone
	exec 5<> /tmp/gone
	exec 6> /tmp/gone 5<&- 7> /dev/full
	for out in 6 7; do
		code=0
		(
			trap '' PIPE
			exec timeout 300 "$@" >&$out
		) < /tmp/in 2> /tmp/err || code=$?
		if [ $code -ne 1 ] ||
			[ "$(cat /tmp/err)" != "calloutctl: cannot write the output" ]; then
			sed "s/^/# status $code: /" /tmp/err
			exec 6>&- 7>&-
			return 1
		fi
	done
	exec 6>&- 7>&-
}

# wait_outstanding COUNT PID: waits until the process has COUNT callouts in a file
wait_outstanding() {
	while ! grep -qx "outstanding:.$1" /proc/"$2"/fdinfo/* 2> /dev/null; do
		sleep 0.1
	done
}

# The times of another run are a column of the table, a curve of the chart and a line below it.
fig9_compares() {
	calloutctl fig9 -w /tmp/earlier > /dev/null &&
		calloutctl fig9 --compare /tmp/earlier > /tmp/out &&
		grep -qx ' *n *handle *hash *earlier  ns for a pair' /tmp/out &&
		grep -qx ' *# /tmp/earlier' /tmp/out &&
		[ "$(grep -c ' *line fitted: ' /tmp/out)" = 3 ]
}

# Each command that prints, as text and as JSON; the process has callouts.
check_unwritable() {
	printf 'set -p 20ms 20ms\n' > /tmp/in
	for json in "" --json; do
		for command in "set 20ms" "set -p 20ms -n 100000 20ms" "set -n 10000 1h" shell \
			info "stat 100ms" top "top 100ms" "top --processes 100ms" \
			"top --kernel 100ms" "list $pid" "bench -n 10"; do
			name=${command%% *}
			# shellcheck disable=SC2086 # its arguments
			check "cannot be written: $command $json" \
				unwritable calloutctl $name $json ${command#"$name"}
		done
	done
	for command in "demo -n 100 -t 200ms" fig9 help check; do
		# shellcheck disable=SC2086 # its arguments
		check "cannot be written: $command" unwritable calloutctl $command
	done
}

handle='0x[0-9a-f]+'

# The help of a command has one usage, and describes no other command.
one_usage() {
	calloutctl "$1" --help > /tmp/out && grep '^ \{0,9\}[^ ]' /tmp/out > /tmp/usage &&
		[ "$(wc -l < /tmp/usage)" -eq 1 ]
}

# An event in CLOCK_REALTIME, whose time in nanoseconds is above 2^53, has this clock and the exact
# time.
exact() {
	now=$(date +%s)
	echo "set -a -c realtime ${now}000000001ns 3" > /tmp/in
	prints "fired handle $handle cookie 3 clock realtime due $now\.000000001" \
		calloutctl shell < /tmp/in || return 1
	members='"clock": "realtime", "due_ns": "'$now'000000001", "fired_ns": "[0-9]+"'
	prints ".*\"event\": \"fired\", .*$members, .*" calloutctl shell --json < /tmp/in
}

# A callout that is set with a slack of 0 is exact.
sets_exact() {
	calloutctl set -s 0 1h > /dev/null &
	kept=$!
	wait_outstanding 1 $kept
	prints '.*"slack_ns": "0", .*' calloutctl list --json $kept
	result=$?
	kill $kept
	return $result
}

check_calloutctl() {
	check "calloutctl set" \
		prints "fired handle $handle cookie 7 clock monotonic due .* late .* ms" \
		calloutctl set 20ms 7
	check "set -c: not late by another clock" \
		prints "fired handle $handle cookie 0 clock boottime due [0-9.]+" \
		calloutctl set -c boottime 20ms
	check "set -s 0: exact" sets_exact
	check "set -n" prints "fired handle $handle cookie 12 .*" calloutctl set -n 3 20ms 10
	check "set -p" prints "fired .* overrun [0-9]+" calloutctl set -p 20ms -n 5 20ms
	check "set -c" prints "fired .*" calloutctl set -c boottime -s 5ms 20ms
	check "set -c realtime" prints "fired .*" calloutctl set -c realtime 20ms
	check "set: a fraction of an hour" \
		prints "fired .* due 0\.000000032( .*)?" calloutctl set -a 0.000000000009h
	check "set --json" json 4 calloutctl set --json -n 2 20ms
	check "set --json: a large cookie" \
		prints '.*"event": "fired".*"cookie": "18446744073709551615".*' \
		calloutctl set --json 20ms 18446744073709551615
	check "info" prints "tick ns +[1-9][0-9]*" calloutctl info
	check "info --json" json 1 calloutctl info --json
	check "info --json: programs' callouts are among the late" \
		counts_late calloutctl info --json
	check "stat" prints " *[0-9]+ .*" calloutctl stat 100ms 3
	check "stat: the longest interval" \
		prints " *[0-9]+ .*" calloutctl stat 9223372036854775807ns 1
	check "stat: too long" \
		fails 2 "bad interval \"9223372036854775808ns\"" \
		calloutctl stat 9223372036854775808ns 1
	check "stat: units" prints ".* late>1tick +max_units" calloutctl stat 100ms 1
	check "info: clocks" prints "clock +boottime" calloutctl info
	check "info: units" prints "  late from 2 ticks +[0-9]+" calloutctl info
	check "stat --json" json 3 calloutctl stat --json 100ms 3
	check "stat: max_units counts from the load on" stat_keeps_max_units
	check "stat: its count is limited" limits_count 4294967295 calloutctl stat 100ms
	check "set: its count is limited" limits_count 4294967295 calloutctl set -n
	check "top: its count is limited" limits_count 1000000 calloutctl top -n
	check "bench: its count is limited" limits_count 1000000 calloutctl bench -n
	check "not permitted" fails 1 "the group callout" as_somebody info
	check "top --kernel, not permitted" fails 1 "the group callout" as_somebody top --kernel
	chmod 666 /dev/callout
	check "info, not root" prints "outstanding +0" as_somebody info
	check "info --json, not root" json 1 as_somebody info --json
	check "stat, not root" fails 1 "only root gets" as_somebody stat 100ms 3
	chmod 600 /dev/callout
	check "bench" prints "expire +[0-9]+ +[0-9]+ +[0-9]+" calloutctl bench -n 200
	check "bench --json" json 4 calloutctl bench --json -n 100
	check "shell: cancelled" watched cancelled 'timeout 1h 1 2\nuntimeout 1 2\n'
	check "shell: not outstanding" watched "not outstanding" 'cancel 1\n'
	check "shell: fires" watched "fired .* cookie 5 .*" 'set 20ms 5\nset 10ms\n'
	check "shell: events in CLOCK_REALTIME" exact
	check "shell: move" moves
	check "shell: move, no such callout" watched "not outstanding" 'move 1s 1\n'
	for option in "-c boottime" "-p 1s" "-s 1s"; do
		check "shell: move keeps what $option sets" \
			complains "move: no option ${option% *}" "move $option 1s 1\\n"
	done
	check "shell: move, no handle" complains "move takes a time and a handle" 'move 1s\n'
	check "shell: move, no such handle" complains 'move: bad handle "abc"' 'move 1s abc\n'
	check "shell: no such command" \
		complains 'no command "foo": they are set, .*, quit' 'foo 1\n'
	check "shell: move, no unit" complains 'move: bad time "5": it needs' 'move 5 1\n'
	check "shell: no standard input" fails 1 "standard input is closed" shell_closed
	for clock in boottime-alarm realtime-alarm; do
		check "shell: $clock" \
			watched "fired handle $handle cookie 0 clock $clock due .*" \
			"set -c $clock 20ms\\n"
	done
	printf 'set 20ms 3\ninfo\n' > /tmp/in
	check "shell --json" json 3 calloutctl shell --json < /tmp/in
	check "no command" fails 2 "no command" calloutctl
	check "no such command" fails 2 "no command \"nonsense\"" calloutctl nonsense
	check "no such command, --help" \
		fails 2 "no command \"nonsense\"" calloutctl nonsense --help
	check "no such option" fails 2 "set: no option -x" calloutctl set -x 1s
	check "no such time" fails 2 "bad time \"1 year\"" calloutctl set "1 year"
	check "no such clock" fails 2 "bad clock" calloutctl set -c tai 1s
	check "no time" fails 2 "takes a time" calloutctl set
	check "too long" fails 1 "Invalid argument" calloutctl set 18446744073709551615ns
	check "no unit" fails 2 "bad time \"5\": it needs a unit: ns, us" calloutctl set 5
	check "no unit, a fraction" fails 2 "bad time \"1.5\": it needs a unit" calloutctl set 1.5
	check "no unit: slack" fails 2 "bad slack \"5\": it needs a unit" calloutctl set -s 5 1s
	check "0 as period" fails 2 "bad period \"0\": it is at least 1 ns" calloutctl set -p 0 1s
	check "0 as interval" fails 2 "bad interval \"0s\": it is at least 1 ns" calloutctl stat 0s
	check "no unit: stat" fails 2 "bad interval \"1\": it needs a unit" calloutctl stat 1
	check "no unit: top" fails 2 "bad interval \"1\": it needs a unit" calloutctl top 1
	check "no unit: demo" fails 2 "bad time \"1\": it needs a unit" calloutctl demo -t 1
	check "sleep" sleeps
	check "sleep: no time" fails 2 "sleep takes a time" calloutctl sleep
	check "sleep: no unit" fails 2 "bad time \"1\": it needs a unit" calloutctl sleep 1
	check "sleep: no option" fails 2 "sleep: no option -n" calloutctl sleep -n 1s
	check "sleep: too long" fails 1 "Invalid argument" calloutctl sleep 18446744073709551615ns
	check "0 has none" prints "fired .*" calloutctl set 0
	check "cancel is of shell" fails 2 "no command \"cancel\"" calloutctl cancel 1
	check "--version" prints "calloutctl [0-9.]+" calloutctl --version
	check "-V" prints "calloutctl [0-9.]+" calloutctl -V
	check "--help" prints "usage: calloutctl COMMAND .*" calloutctl --help
	for command in set sleep shell check info stat top list bench demo fig9 help; do
		for help in "$command --help" "$command -h" "help $command"; do
			# shellcheck disable=SC2086 # words
			check "$help" prints "usage: calloutctl $command( .*)?" calloutctl $help
		done
		check "$command --help: of no other" one_usage $command
	done
	check "help, no such command" fails 2 "no command \"foo\"" calloutctl help foo
	check "help, no name" fails 2 "no command \"\"" calloutctl help ""
	check "help of two" fails 2 "help takes a command" calloutctl help set sleep
	check "set: long options" \
		prints "fired handle $handle cookie 4 clock boottime due .* overrun [0-9]+" \
		calloutctl set --count 2 --clock boottime --period=20ms --slack 1ms 20ms 4
	check "set --absolute" prints "fired .* due 0\.000000032( .*)?" \
		calloutctl set --absolute 32ns
	check "set -j" json 2 calloutctl set -j 20ms
	check "set: a value is missing" fails 2 "set: --count needs a value" calloutctl set --count
	check "set: no value" fails 2 "set: --json takes no value" calloutctl set --json=1 1s
	check "set: no such long option" fails 2 "set: no option --kernel" calloutctl set --kernel
	check "fig9 --write, --compare" fig9_compares
	check "fig9: no file" fails 1 "/tmp/none: No such file" calloutctl fig9 -c /tmp/none
	head -n 3 /tmp/earlier > /tmp/short
	check "fig9: a short file" fails 1 "no time for n = 300" calloutctl fig9 -c /tmp/short
	check "fig9: a directory" fails 1 "/tmp: Is a directory" calloutctl fig9 -w /tmp
	check "demo: long options" fails 2 "bad time \"1\"" \
		calloutctl demo --count 10 --seed 3 --time 1
}

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
			NR == 1 { $1 = $1; named = $0 == headings }
			width && length > width { longer = 1 }
			END { exit !named || longer || NR < 2 }' /tmp/out; then
		return
	fi
	sed 's/^/# /' /tmp/out /tmp/err
	return 1
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

# Of a module that is loaded between two lines, stat counts what it has done.
stat_reloads() {
	calloutctl stat 2s 2 > /tmp/out 2> /tmp/err &
	stat=$!
	until [ "$(wc -l < /tmp/out)" -ge 2 ]; do
		sleep 0.1
	done
	kill -STOP $stat
	unload_module && load_module
	kill -CONT $stat
	wait $stat && awk '
		{ for (i = 1; i <= NF; i++) wrapped += length($i) > 15 }
		END { exit NR != 3 || wrapped }' /tmp/out && return
	sed 's/^/# /' /tmp/out /tmp/err
	return 1
}

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

# hold COMMAND...: runs it as a holder
hold() {
	: > /tmp/holder
	"$@" > /tmp/holder &
	while ! read -r pid fd < /tmp/holder; do
		sleep 0.1
	done
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
	kill $other
	wait $other || :
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

# wrongs PATTERN COMMAND...: calloutctl check ends with status 1 and prints such a line
wrongs() {
	pattern=$1
	shift
	! "$@" check > /tmp/out && grep -qE "$pattern" /tmp/out && return
	sed 's/^/# /' /tmp/out
	return 1
}

# Without the device, or the right to open it, and with it; what is missing is said.
check_check() {
	check "check" prints "ok +callout +of 1 ms fired [0-9.]+ ms late" calloutctl check
	check "check: module" prints "ok +module +is loaded" calloutctl check
	check "check: tick" prints "ok +tick +[0-9.]+ ms" calloutctl check
	check "check: no arguments" fails 2 "check takes no arguments" calloutctl check 1
	check "check: no group" wrongs "There is no group callout" as_somebody
	echo "callout:x:12346:" >> /etc/group
	check "check: the device is not the group's" wrongs "is not the group's" as_somebody
	chgrp 12346 /dev/callout
	chmod 660 /dev/callout
	check "check: not in the group" wrongs "usermod -aG callout" as_somebody
	chmod 666 /dev/callout
	check "check: not root" prints "ok +callout .*" as_somebody check
	chgrp 0 /dev/callout
	chmod 600 /dev/callout
	sed -i '/^callout:/d' /etc/group
	mv /dev/callout /dev/callout.away
	check "check: no device" wrongs "^wrong +device .*No such file" calloutctl
	: > /dev/callout
	check "check: a file for a device" wrongs "^wrong +device .*not a device" calloutctl
	mv /dev/callout.away /dev/callout
}

check "not loaded" fails 1 "load the module, as root" calloutctl info
check "check, not loaded" wrongs "modprobe callout" calloutctl
check "top, not loaded" fails 1 "/dev/callout: No such file" calloutctl top
check "top --kernel, not loaded" fails 1 "load the module, as root" calloutctl top --kernel
check "list, not loaded" fails 1 "/dev/callout: No such file" calloutctl list 1
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=1000"; do
	load_module
	check_check
	check_calloutctl
	check_top
	check_names
	check_width
	check_keys
	check_list
	check "stat: the module is loaded again" stat_reloads
	for loop in epoll ev uv event; do
		check "100 000 timers in a loop: $loop" idle_$loop
	done
	check "100 000 timers in a loop: asyncio" python3 /bin/idle_asyncio
	check "idle timeouts as commands of io_uring" uring_example
	rmmod callout || wrong "the module did not unload"
done
echo "1..$((passed + failed))"
finish
