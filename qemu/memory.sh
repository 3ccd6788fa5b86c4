# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For jobs: measures memory, exactly. In /lib of the test machine.

# free_pages: the free pages of all zones, and of each CPU's own lists. Counters of
# single CPUs are added up first, where there are several.
free_pages() {
	[ ! -e /proc/sys/vm/stat_refresh ] || cat /proc/sys/vm/stat_refresh
	awk '$1 " " $2 == "pages free" { n += $3 } $1 == "count:" { n += $2 } END { print n }' \
		/proc/zoneinfo
}

# bytes_since PAGES: what has been taken since free_pages printed that.
bytes_since() { echo $((($1 - $(free_pages)) * 4096)); }

# hold_memory KIND "PARAMETERS" FACILITY N...: for the laboratory, prints the memory of N timers or,
# if N is 0, of the module, which is loaded with these parameters, in lines of that kind. What is
# freed or made later has been after the sleep.
hold_memory() {
	kind=$1
	parameters=$2
	facility=$3
	shift 3
	for n in "$@"; do
		before=$(free_pages)
		# shellcheck disable=SC2086 # several parameters, or none
		insmod /lib/callout.ko $parameters
		sleep 1
		loaded=$(bytes_since "$before")
		insmod /lib/callout_lab.ko part=memory
		before=$(free_pages)
		echo "$facility $n" > /sys/module/callout_lab/parameters/hold
		sleep $((1 + n / 2000000))
		taken=$(bytes_since "$before")
		[ "$n" != 0 ] || taken=$loaded
		echo "$kind: $facility,$n,$taken" > /dev/kmsg
		echo "$facility 0" > /sys/module/callout_lab/parameters/hold
		rmmod callout_lab
		rmmod callout
	done
}
