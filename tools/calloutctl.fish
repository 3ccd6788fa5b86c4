# SPDX-License-Identifier: GPL-2.0
# Completes the arguments of calloutctl in fish: commands, their options, clocks, columns and
# processes.

# Processes that have the device open.
function __calloutctl_pids
	calloutctl top --json -n 1000000 2> /dev/null |
		string replace -rf '^\{"pid": (\d+),.*"comm": "(.*)"\}$' '$1\t$2'
end

set -l commands set sleep shell check info stat top list bench demo fig9 help
set -l clocks monotonic boottime realtime boottime-alarm realtime-alarm
set -l columns outstanding unread limit set reset cancelled withdrawn fired delivered

complete -c calloutctl -f
complete -c calloutctl -n __fish_use_subcommand -a "$commands"
complete -c calloutctl -n '__fish_seen_subcommand_from help' -a "$commands"
complete -c calloutctl -n '__fish_seen_subcommand_from set' -s n -l count -x
complete -c calloutctl -n '__fish_seen_subcommand_from set' -s a -l absolute
complete -c calloutctl -n '__fish_seen_subcommand_from set' -s c -l clock -x -a "$clocks"
complete -c calloutctl -n '__fish_seen_subcommand_from set' -s p -l period -x
complete -c calloutctl -n '__fish_seen_subcommand_from set' -s s -l slack -x
complete -c calloutctl -n '__fish_seen_subcommand_from top' -s n -l count -x
complete -c calloutctl -n '__fish_seen_subcommand_from top' -l sort -x -a "$columns"
complete -c calloutctl -n '__fish_seen_subcommand_from top' -l processes
complete -c calloutctl -n '__fish_seen_subcommand_from top' -l kernel
complete -c calloutctl -n '__fish_seen_subcommand_from bench' -s n -l count -x
complete -c calloutctl -n '__fish_seen_subcommand_from demo' -s n -l count -x
complete -c calloutctl -n '__fish_seen_subcommand_from demo' -s t -l time -x
complete -c calloutctl -n '__fish_seen_subcommand_from demo' -s s -l seed -x
complete -c calloutctl -n '__fish_seen_subcommand_from fig9' -s w -l write -r -F
complete -c calloutctl -n '__fish_seen_subcommand_from fig9' -s c -l compare -r -F
complete -c calloutctl -n '__fish_seen_subcommand_from list' -a '(__calloutctl_pids)'
for command in set shell info stat top list bench
	complete -c calloutctl -n "__fish_seen_subcommand_from $command" -s j -l json
end
