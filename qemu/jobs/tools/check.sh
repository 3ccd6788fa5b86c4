# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# calloutctl check

# wrongs PATTERN COMMAND...: calloutctl check ends with status 1 and prints such a line, and none
# that is longer than 80 columns
wrongs() {
	pattern=$1
	shift
	! "$@" check > /tmp/out && grep -qE "$pattern" /tmp/out &&
		! grep -qE '.{81}' /tmp/out && return
	sed 's/^/# /' /tmp/out
	return 1
}

# Without the device, or the right to open it, and with it; what is missing is said.
check_check() {
	check "check" prints "ok +callout +of 1 ms fired [0-9.]+ ms late" calloutctl check
	check "check: module" prints "ok +module +is loaded" calloutctl check
	check "check: tick" prints "ok +tick +[0-9.]+ ms" calloutctl check
	check "check: no arguments" fails 2 "check takes no arguments" calloutctl check 1
	check "check: no group" wrongs "There is no group callout" as_somebody
	echo "callout:x:12346:" >> /etc/group
	check "check: the device is not the group's" wrongs "is not the group's" as_somebody
	chgrp 12346 /dev/callout
	chmod 660 /dev/callout
	check "check: not in the group" wrongs "usermod -aG callout" as_somebody
	chmod 666 /dev/callout
	check "check: not root" prints "ok +callout .*" as_somebody check
	chgrp 0 /dev/callout
	chmod 600 /dev/callout
	sed -i '/^callout:/d' /etc/group
	mv /dev/callout /dev/callout.away
	check "check: no device" wrongs "^wrong +device .*No such file" calloutctl
	: > /dev/callout
	check "check: a file for a device" wrongs "^wrong +device .*not a device" calloutctl
	mv /dev/callout.away /dev/callout
}
