#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the laboratory's measurement of CPUs that share one base, for lab.sh.

lines=0
insmod /lib/callout.ko
insmod /lib/callout_lab.ko part=rows
rmmod callout_lab
rmmod callout
dmesg | sed -n 's/^.*lab-load: //p' > /tmp/rows
while read -r row parameters; do
	for bases in percpu single; do
		dmesg -c > /dev/null
		# shellcheck disable=SC2086 # one parameter or several
		insmod /lib/callout.ko bases=$bases $parameters
		if ! insmod /lib/callout_lab.ko part=share "name=$row"; then
			dmesg | tail -n 5
			echo "$row, bases=$bases" > /run/reason
			exit 1
		fi
		rmmod callout_lab
		rmmod callout
		dmesg | sed -n 's/^.*\(lab-share: .*\)/\1/p' > /tmp/lines
		cat /tmp/lines
		lines=$((lines + $(wc -l < /tmp/lines)))
	done
done < /tmp/rows
echo $lines > /run/passed
