# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# calloutctl whose output cannot be written

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
