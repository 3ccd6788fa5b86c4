#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the demonstration: calloutctl demo; then calloutctl fig9, beside the old facility of the
# paper, a sorted list. The module with the laboratory's schemes is in /lib/lab.

# run COMMAND...: prints the output of calloutctl, and ends the job if it fails
run() {
	calloutctl "$@" && return
	echo "calloutctl $1 ended with status $?" > /run/reason
	exit 1
}

insmod /lib/callout.ko
run demo
echo "(Emulated CPUs are late. Counted without that: 55 us in the median, 107 at most.)"
rmmod callout

cd /tmp || exit
insmod /lib/lab/callout.ko scheme=sorted_list
run fig9 -w sorted-list > /dev/null
rmmod callout
insmod /lib/callout.ko
echo
run fig9 -c sorted-list
rmmod callout
echo 2 > /run/passed
