# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completes the arguments of calloutctl in bash: commands, their options, clocks, columns and
# processes.

# Processes that have the device open.
_calloutctl_pids() {
	calloutctl top --json -n 1000000 2> /dev/null | sed -n 's/^{"pid": \([0-9]*\),.*/\1/p'
}

_calloutctl() {
	local word=${COMP_WORDS[COMP_CWORD]} words

	if [ "$COMP_CWORD" -eq 1 ]; then
		words="set sleep shell check info stat top list bench demo fig9 help"
	elif [ "${COMP_WORDS[1]}" = help ]; then
		words="set sleep shell check info stat top list bench demo fig9 help"
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = --sort ]; then
		words="outstanding unread limit set reset cancelled withdrawn fired delivered"
	elif [[ ${COMP_WORDS[COMP_CWORD - 1]} =~ ^(-c|--clock)$ ]]; then
		words="monotonic boottime realtime boottime-alarm realtime-alarm"
	elif [ "${word:0:1}" = - ]; then
		case ${COMP_WORDS[1]} in
		set) words="-n --count -a --absolute -c --clock -p --period -s --slack -j --json" ;;
		top) words="-n --count --sort --processes --kernel -j --json" ;;
		bench) words="-n --count -j --json" ;;
		demo) words="-n --count -t --time -s --seed" ;;
		fig9) words="-w --write -c --compare" ;;
		shell|info|stat|list) words="-j --json" ;;
		*) words= ;;
		esac
	elif [ "${COMP_WORDS[1]}" = list ]; then
		words=$(_calloutctl_pids)
	else
		words=
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _calloutctl calloutctl
