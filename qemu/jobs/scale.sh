#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: what grows with the number of callouts, up to LAB_MOST of them, in nanoseconds and bytes, for
# lab.sh. For uml.sh, with 6 GB for ten million.

# shellcheck source=qemu/memory.sh
. /lib/memory.sh

most=${LAB_MOST:-1000000}
limit=10000000

# parts "PARAMETERS" PART...: of the laboratory, on the module with these parameters.
parts() {
	# shellcheck disable=SC2086 # several parameters
	insmod /lib/callout.ko $1
	shift
	for part in "$@"; do
		insmod /lib/callout_lab.ko "part=$part" "most=$most"
		rmmod callout_lab
	done
	rmmod callout
}

parts max_callouts=$limit line scale growth
parts "max_per_file=$limit max_per_user=$limit" step
# With this limit the table of handles has no slot to spare.
for facility in callout handle timer_list; do
	n=1000
	while [ $n -le "$most" ]; do
		hold_memory lab-bytes "max_callouts=$n" "$facility" "$n"
		n=$((10 * n))
	done
done
