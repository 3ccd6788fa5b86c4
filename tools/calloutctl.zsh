#compdef calloutctl
# SPDX-License-Identifier: GPL-2.0
# Completes the arguments of calloutctl in zsh: commands, their options, clocks, columns and
# processes.

# Processes that have the device open.
_calloutctl_pids() {
	local -a pids
	pids=(${(f)"$(calloutctl top --json -n 1000000 2> /dev/null |
		sed -n 's/^{"pid": \([0-9]*\),.*"comm": "\(.*\)"}$/\1:\2/p')"})
	_describe process pids
}

_calloutctl() {
	local -a commands options
	local clocks="monotonic boottime realtime boottime-alarm realtime-alarm"
	local columns="outstanding unread limit set reset cancelled withdrawn fired delivered"
	commands=(set sleep shell check info stat top list bench demo fig9 help)
	if (( CURRENT == 2 )); then
		compadd -a commands
		return
	fi
	options=('(-j --json)'{-j,--json})
	case $words[2] in
	help)
		compadd -a commands
		return ;;
	set)
		options+=('(-n --count)'{-n,--count}':count: ' '(-a --absolute)'{-a,--absolute}
			'(-c --clock)'{-c,--clock}":clock:($clocks)"
			'(-p --period)'{-p,--period}':period: '
			'(-s --slack)'{-s,--slack}':slack: ') ;;
	top)
		options+=('(-n --count)'{-n,--count}':count: ' "--sort:column:($columns)"
			'(--kernel)--processes' '(--processes)--kernel') ;;
	bench) options+=('(-n --count)'{-n,--count}':count: ') ;;
	list) options+=('1:process:_calloutctl_pids') ;;
	demo)
		options=('(-n --count)'{-n,--count}':count: ' '(-t --time)'{-t,--time}':time: '
			'(-s --seed)'{-s,--seed}':seed: ') ;;
	fig9)
		options=('(-w --write)'{-w,--write}':file:_files'
			'(-c --compare)'{-c,--compare}':file:_files') ;;
	shell|info|stat) ;;
	*) return 1 ;;
	esac
	shift words
	(( CURRENT-- ))
	_arguments -s $options
}

_calloutctl "$@"
