# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# calloutctl: set, sleep, shell, info, stat, bench, fig9, demo and help.

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
		fails 2 "it is 1 to $most" timeout 10 "$@" "$count" || return 1
	done
}

# Its second line counts from the first on, apart from max_units, which is no less.
stat_keeps_max_units() {
	calloutctl stat --json 100ms 2 > /tmp/out || return 1
	sed 's/.*"max_units": \([0-9]*\).*/\1/' /tmp/out > /tmp/units
	{ read -r first && read -r second; } < /tmp/units || return 1
	[ "$first" -gt 0 ] && [ "$second" -ge "$first" ]
}

# watched PATTERN COMMANDS: a line that calloutctl shell prints for these
watched() { printf '%b' "$2" > /tmp/in; prints "$1" calloutctl shell < /tmp/in; }

# complains PATTERN COMMANDS: of these, calloutctl shell refuses one with such a message
complains() { printf '%b' "$2" | calloutctl shell 2>&1 | grep -qE "$1"; }

# With standard input closed, calloutctl shell neither reads commands nor waits.
shell_closed() { timeout 10 calloutctl shell <&-; }

# handled SET COMMAND: calloutctl shell sets a callout, and then does this with its handle
handled() {
	rm -f /tmp/commands
	mkfifo /tmp/commands
	calloutctl shell < /tmp/commands > /tmp/out &
	exec 4> /tmp/commands
	echo "$1" >&4
	while ! grep -q handle /tmp/out; do
		sleep 0.1
	done
	echo "$2 $(cut -d ' ' -f 3 /tmp/out)" >&4
	exec 4>&-
	wait $!
}

# Sets a callout for an hour, and moves it to 10 ms.
moves() { handled "set 1h 5" "move 10ms" && grep -q "^fired .* cookie 5 " /tmp/out; }

cancels() { handled "set 1h" cancel && grep -qxE "cancelled handle $handle" /tmp/out; }

# Of a wrong line calloutctl shell says one line: what is wrong with it, or how the command is used.
complains_once() {
	printf '%s\n' "$1" | calloutctl shell 2> /tmp/err && [ "$(wc -l < /tmp/err)" -eq 1 ]
}

# It prints nothing, and takes a second or more.
sleeps() {
	start=$(cut -d ' ' -f 1 /proc/uptime)
	calloutctl sleep 1s > /tmp/out && [ ! -s /tmp/out ] || return 1
	awk -v start="$start" '{ exit $1 - start < 0.98 }' /proc/uptime
}

# Where the kernel has no commands of io_uring, it says so. device_basic knows such kernels.
uring_example() {
	if calloutctl info | grep -qE '^features +none$'; then
		fails 1 "Linux 6.12 and later" idle_uring
	else
		idle_uring
	fi
}

# The times of another run are a column of the table, a curve of the chart and a line below it.
fig9_compares() {
	calloutctl fig9 -w /tmp/earlier > /dev/null &&
		calloutctl fig9 --compare /tmp/earlier > /tmp/out &&
		grep -qx ' *n *handle *hash *earlier  ns for a pair' /tmp/out &&
		grep -qx ' *# /tmp/earlier' /tmp/out &&
		[ "$(grep -c ' *line fitted: ' /tmp/out)" = 3 ]
}

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

# A file that is full names the parameter that is its limit.
names_limit() {
	limits=/sys/module/callout/parameters/max_per_file
	was=$(cat $limits)
	echo 3 > $limits
	code=0
	calloutctl set -n 4 1h > /tmp/out 2> /tmp/err || code=$?
	printf 'set 1h\nset 1h\nset 1h\nset 1h\nquit\n' | calloutctl shell > /tmp/out 2>> /tmp/err
	echo "$was" > $limits
	[ $code -eq 1 ] && [ "$(grep -cxF \
		"calloutctl: set: No space left on device (max_per_file=3)" /tmp/err)" -eq 2 ]
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
	check "info" prints "tick +[1-9][0-9.]*[mu]?s" calloutctl info
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
	check "info: clocks" prints "clocks +monotonic boottime realtime.*" calloutctl info
	check "info: headings" prints "this file:" calloutctl info
	check "info: lateness" prints "  late from 0 ticks +[0-9]+ +[0-9.]+% #*" calloutctl info
	check "info --json: from how many ticks" \
		prints '.*"late_from": \[0, 1, 2, 4, .* 32768\], "late": .*' calloutctl info --json
	check "stat --json" json 3 calloutctl stat --json 100ms 3
	check "stat: max_units counts from the load on" stat_keeps_max_units
	check "stat: its count is limited" limits_count 4294967295 calloutctl stat 100ms
	check "set: its count is limited" limits_count 4294967295 calloutctl set -n
	check "top: its count is limited" limits_count 1000000 calloutctl top -n
	check "bench: its count is limited" limits_count 1000000 calloutctl bench -n
	check "not permitted" fails 1 "the group callout" as_somebody info
	check "top --kernel, not permitted" fails 1 "the group callout" as_somebody top --kernel
	chmod 666 /dev/callout
	check "info, not root" prints "  outstanding +0" as_somebody info
	check "info --json, not root" json 1 as_somebody info --json
	check "stat, not root" fails 1 "only root gets" as_somebody stat 100ms 3
	chmod 600 /dev/callout
	check "bench" prints "expire +[0-9]+ +[0-9]+ +[0-9]+" calloutctl bench -n 200
	check "bench --json" json 4 calloutctl bench --json -n 100
	check "shell: cancelled" watched cancelled 'timeout 1h 1 2\nuntimeout 1 2\n'
	check "shell: cancelled by handle" cancels
	check "shell: not outstanding" watched "not outstanding handle 0x1" 'cancel 1\n'
	check "shell: fires" watched "fired .* cookie 5 .*" 'set 20ms 5\nset 10ms\n'
	check "shell: events in CLOCK_REALTIME" exact
	check "shell: move" moves
	check "shell: move, no such callout" watched "not outstanding handle 0x1" 'move 1s 1\n'
	for option in "-c boottime" "-p 1s" "-s 1s"; do
		check "shell: move keeps what $option sets" \
			complains "move: no option ${option% *}" "move $option 1s 1\\n"
	done
	check "shell: move, no handle" complains "move takes a time and a handle" 'move 1s\n'
	check "shell: move, no such handle" complains 'move: bad handle "abc"' 'move 1s abc\n'
	check "shell: no such command" \
		complains 'no command "foo": they are set, .*, quit' 'foo 1\n'
	check "shell: move, no unit" complains 'move: bad time "5": it needs' 'move 5 1\n'
	for wrong in "set 5" "set -x 1s" "move 1s" "timeout 5 1 2" "timeout --period 1s 1 2" \
		"timeout 1s 1" "cancel" "untimeout 1" foo; do
		check "shell: one complaint of $wrong" complains_once "$wrong"
	done
	for absolute in -a --absolute; do
		check "shell: timeout $absolute" \
			watched "fired .* cookie 2 .* due 0\.000000032( .*)?" \
			"timeout $absolute 32ns 1 2\\n"
	done
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
	check "set: a full file names its limit" names_limit
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
