#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the laboratory's measurements of every scheme in instructions, for lab.sh. For
# boot.sh -i. LAB_ONLY is the name of a scheme: then a few parts measure this one alone.

lines=0

# show PART: the module's results in the log, without time stamps.
show() {
	dmesg -c | sed -n 's/^.*\(lab-[a-z0-9-]*: .*\)/\1/p' > /tmp/lines
	cat /tmp/lines
	lines=$((lines + $(wc -l < /tmp/lines)))
	echo "lab-time: $1,$(cut -d' ' -f1 /proc/uptime)"
}

# lab PART [PARAMETERS]: a part, on the loaded facility.
lab() {
	if ! insmod /lib/callout_lab.ko "part=$1" ${2:+"$2"} ${LAB_ONLY:+"only=$LAB_ONLY"}; then
		dmesg | tail -n 5
		echo "$*" > /run/reason
		exit 1
	fi
	rmmod callout_lab
	show "$1"
}

# Until the TSC is calibrated there is no high resolution.
sleep 2
echo 0 > /sys/module/workqueue/parameters/watchdog_thresh
echo 0 > /proc/sys/kernel/watchdog
dmesg -c > /dev/null

insmod /lib/callout.ko
lab rows
sed -n 's/^lab-load: //p' /tmp/lines > /tmp/rows
if [ "${LAB_ONLY:-}" ]; then
	parts="table2 late idle"
else
	parts="table2 insert cross variance late assist idle"
fi
for part in $parts; do
	lab "$part"
done
rmmod callout

# Figure 9 is of the whole facility, loaded with each scheme in turn, and in the paper's own
# setting: the same program on the old facility and on the new one.
while read -r row parameters; do
	# shellcheck disable=SC2086 # one parameter or several
	insmod /lib/callout.ko $parameters
	lab fig9 name="$row"
	case ${LAB_ONLY:+none}$row in
	hashed_wheel|sorted_list)
		calloutctl fig9 | awk -v scheme="$row" '
			$1 == "n" { table = 1; next }
			table && NF == 3 && $0 ~ /^[0-9 ]+$/ {
				print "lab-user: " scheme "," $1 "," $2 "," $3
				rows++
			}
			END { exit rows != 11 }' ;;
	esac
	rmmod callout
done < /tmp/rows
echo $lines > /run/passed
