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
