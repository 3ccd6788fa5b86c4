#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs at the end of the boot of the system of scripts/deb-check.sh: asks what a user of the
# packages would, prints TAP to the second serial port, and powers off.

exec > /dev/ttyS1 2>&1
n=0

item() {
	local said

	n=$((n + 1))
	if said=$("${@:2}" 2>&1); then
		echo "ok $n $1"
	else
		printf '%s\n' "$said" | sed 's/^/# /'
		echo "not ok $n $1"
	fi
}


# By the mode of the device, and not because there is none.
may_not() {
	local said

	! said=$(runuser -u nobody -- "$@" 2>&1) || return
	echo "$said"
	[[ $said == *"Permission denied"* ]]
}

as_member() { runuser -u member -- "$@"; }
given() { [ "$(cat "/sys/module/callout/parameters/$1")" = "$2" ]; }
belongs() { [ "$(stat -c '%G %a' /dev/callout)" = "callout 660" ]; }

no_unit_failed() {
	systemctl --failed --no-legend --plain
	[ ! "$(systemctl --failed --no-legend)" ]
}

item "the module was loaded at boot" grep -q '^callout ' /proc/modules
item "with the parameter of modprobe.d" given device_hz 2000
item "the device belongs to the group" belongs
item "others may not open it" may_not calloutctl info
item "a member of the group may" as_member calloutctl info
item "the example of libev" as_member /usr/local/bin/idle_ev 1000 1
item "no unit has failed" no_unit_failed
item "unload" modprobe -r callout
echo "1..$n"
systemctl poweroff --no-block
