#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: calloutctl, and the examples: loops with 100 000 timers on libcallout.

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

# calloutctl as a user who is not root
mkdir -p /etc
echo "somebody:x:12345:12345::/:/bin/sh" >> /etc/passwd
as_somebody() { start-stop-daemon -S -c somebody -x "$(command -v calloutctl)" -- "$@"; }

# watched PATTERN COMMANDS: a line that calloutctl watch prints for these
watched() { printf '%b' "$2" > /tmp/in; prints "$1" calloutctl watch < /tmp/in; }

# Sets a callout for an hour, and resets it to 10 ms.
reset() {
	rm -f /tmp/commands
	mkfifo /tmp/commands
	calloutctl watch < /tmp/commands > /tmp/out &
	exec 4> /tmp/commands
	echo "set 1h 5" >&4
	while ! grep -q handle /tmp/out; do
		sleep 0.1
	done
	echo "reset 10ms $(cut -d ' ' -f 3 /tmp/out)" >&4
	exec 4>&-
	wait $! && grep -q "^fired .* cookie 5 " /tmp/out
}

# It prints nothing, and takes a second or more.
sleeps() {
	start=$(cut -d ' ' -f 1 /proc/uptime)
	calloutctl sleep 1s > /tmp/out && [ ! -s /tmp/out ] || return 1
	awk -v start="$start" '{ exit $1 - start < 0.98 }' /proc/uptime
}

handle='0x[0-9a-f]+'
check_calloutctl() {
	check "calloutctl set" \
		prints "fired handle $handle cookie 7 due .* late .* ms" calloutctl set 20ms 7
	check "set -n" prints "fired handle $handle cookie 12 due .*" calloutctl set -n 3 20ms 10
	check "set -p" prints "fired .* overrun [0-9]+" calloutctl set -p 20ms -n 5 20ms
	check "set -c" prints "fired .*" calloutctl set -c boottime -s 5ms 20ms
	check "set -c realtime" prints "fired .*" calloutctl set -c realtime 20ms
	check "set --json" json 4 calloutctl set --json -n 2 20ms
	check "set --json: a large cookie" \
		prints '.*"event": "fired".*"cookie": "18446744073709551615".*' \
		calloutctl set --json 20ms 18446744073709551615
	check "info" prints "ABI version +3" calloutctl info
	check "info --json" json 1 calloutctl info --json
	check "stat" prints " *[0-9]+ .*" calloutctl stat 100ms 3
	check "stat --json" json 3 calloutctl stat --json 100ms 3
	check "not permitted" fails 1 "the group callout" as_somebody info
	chmod 666 /dev/callout
	check "info, not root" prints "set +0" as_somebody info
	check "info --json, not root" json 1 as_somebody info --json
	check "stat, not root" fails 1 "only root gets" as_somebody stat 100ms 3
	chmod 600 /dev/callout
	check "bench" prints "expire +[0-9]+ +[0-9]+ +[0-9]+" calloutctl bench -n 200
	check "bench --json" json 4 calloutctl bench --json -n 100
	check "watch: cancelled" watched cancelled 'timeout 1h 1 2\nuntimeout 1 2\n'
	check "watch: not outstanding" watched "not outstanding" 'unset 1\n'
	check "watch: fires" watched "fired .* cookie 5 .*" 'set 20ms 5\nset 10ms\n'
	check "watch: reset" reset
	check "watch: next" watched "next monotonic due .*" 'set 1h\nnext\nquit\n'
	check "watch: no next" watched "next boottime none" 'set 1h\nnext\nquit\n'
	check "watch: next of CLOCK_REALTIME" \
		watched "next realtime due .*" 'set -c realtime 1h\nnext\nquit\n'
	printf 'set 20ms 3\nnext\ninfo\n' > /tmp/in
	check "watch --json" json 5 calloutctl watch --json < /tmp/in
	check "no command" fails 2 "no command" calloutctl
	check "no such command" fails 2 "no command \"nonsense\"" calloutctl nonsense
	check "no such option" fails 2 "set: no option -x" calloutctl set -x 1s
	check "no such time" fails 2 "bad time \"1 year\"" calloutctl set "1 year"
	check "no such clock" fails 2 "bad clock" calloutctl set -c tai 1s
	check "no time" fails 2 "takes a time" calloutctl set
	check "too long" fails 1 "Invalid argument" calloutctl set 18446744073709551615ns
	check "no unit" fails 2 "bad time \"5\": it needs a unit: ns, us" calloutctl set 5
	check "no unit, a fraction" fails 2 "bad time \"1.5\": it needs a unit" calloutctl set 1.5
	check "no unit: slack" fails 2 "bad slack \"5\": it needs a unit" calloutctl set -s 5 1s
	check "no unit: stat" fails 2 "bad interval \"1\": it needs a unit" calloutctl stat 1
	check "no unit: top" fails 2 "bad interval \"1\": it needs a unit" calloutctl top 1
	check "no unit: demo" fails 2 "bad time \"1\": it needs a unit" calloutctl demo -t 1
	check "sleep" sleeps
	check "sleep: no time" fails 2 "sleep takes a time" calloutctl sleep
	check "sleep: no unit" fails 2 "bad time \"1\": it needs a unit" calloutctl sleep 1
	check "sleep: no option" fails 2 "sleep: no option -n" calloutctl sleep -n 1s
	check "sleep: too long" fails 1 "Invalid argument" calloutctl sleep 18446744073709551615ns
	check "0 has none" prints "fired .*" calloutctl set 0
	check "unset is of watch" fails 2 "no command \"unset\"" calloutctl unset 1
	check "--help" prints "usage: calloutctl COMMAND .*" calloutctl --help
	check "stat --help" prints "usage: calloutctl COMMAND .*" calloutctl stat --help
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

check_top() {
	calloutctl set -n 2 1h > /dev/null &
	pid=$!
	while ! grep -qx "outstanding:.2" /proc/$pid/fdinfo/* 2> /dev/null; do
		sleep 0.1
	done
	check "top" top_tells
	check "top -p" top_tells -p
	check "top --json" json 1 calloutctl top --json
	umount /sys/kernel/debug
	check "top without debugfs" top_tells
	mount -t debugfs debugfs /sys/kernel/debug
	kill $pid
}

check "not loaded" fails 1 "module is not loaded" calloutctl info
check "top, not loaded" fails 1 "/dev/callout: No such file" calloutctl top
for parameters in "tick_source=jiffies" "tick_source=hrtimer hz=1000"; do
	load_module
	check_calloutctl
	check_top
	for loop in ev uv event; do
		check "100 000 timers in a loop: $loop" idle_$loop
	done
	check "100 000 timers in a loop: asyncio" python3 /bin/idle_asyncio
	rmmod callout || wrong "the module did not unload"
done
echo "1..$((passed + failed))"
finish
