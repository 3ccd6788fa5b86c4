# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completes the arguments of calloutctl in bash: commands and their options.

_calloutctl() {
	local word=${COMP_WORDS[COMP_CWORD]} words

	if [ "$COMP_CWORD" -eq 1 ]; then
		words="set sleep watch info stat top list bench demo fig9 help"
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = -c ]; then
		words="monotonic boottime realtime boottime-alarm realtime-alarm"
	elif [ "${word:0:1}" = - ]; then
		case ${COMP_WORDS[1]} in
		set) words="-n -a -c -p -s --json" ;;
		top) words="-n -p --kernel --json" ;;
		bench) words="-n --json" ;;
		demo) words="-n -t -s" ;;
		watch|info|stat|list) words=--json ;;
		*) words= ;;
		esac
	else
		words=
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _calloutctl calloutctl
