#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs at the end of the boot of the system of scripts/package/deb-check.sh: asks what a user of the
# packages would, prints TAP to the second serial port, and powers off. With module.sig_enforce=1
# only what that is about.

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
	[[ $said == *"for root and the group callout"* ]]
}

as_member() { runuser -u member -- "$@"; }
given() { [ "$(cat "/sys/module/callout/parameters/$1")" = "$2" ]; }
belongs() { [ "$(stat -c '%G %a' /dev/callout)" = "callout 660" ]; }

no_unit_failed() {
	systemctl --failed --no-legend --plain
	[ ! "$(systemctl --failed --no-legend)" ]
}

# Makes DKMS's key one of the keys that the firmware's owner trusts, from which the kernel takes
# keys: the variable db, a list of one certificate. It is for signed updates; while the firmware has
# no owner's key their signature may be empty.
trust_key() {
	local db=/sys/firmware/efi/efivars/db-d719b2cb-3d3a-4596-a3bc-dad00e67656f

	# Attributes; the time; a WIN_CERTIFICATE_UEFI_GUID without data; EFI_CERT_X509_GUID, three
	# sizes, the owner's GUID, the certificate.
	perl -0777 -ne 'print pack("V v C6 V v C2 V v2 H32 H32 V3 H32 a*", 0x27,
		2026, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0,
		24, 0x200, 0xef1, "9dd2af4adf68ee498aa9347d375665a7",
		"a159c0a5e494a74a87b5ab155c2bf072", 28 + 16 + length, 0, 16 + length,
		"0" x 32, $_)' /var/lib/dkms/mok.pub > /run/db &&
		# The kernel takes it in one piece.
		dd if=/run/db of="$db" bs=64k status=none
}

unloaded() { ! grep '^callout' /proc/modules; }
module() { modinfo -F filename callout; }
signed() { [ "$(modinfo -F signature callout)" ]; }

refused_unsigned() {
	local said

	objcopy --strip-debug "$(module)" /run/callout.ko || return
	! said=$(insmod /run/callout.ko 2>&1) || return
	echo "$said"
	[[ $said == *[Kk]ey* ]]
}

if grep -q sig_enforce /proc/cmdline; then
	item "the kernel wants signatures" grep -q Y /sys/module/module/parameters/sig_enforce
	item "the module was loaded at boot" grep -q '^callout ' /proc/modules
	item "unload" modprobe -r callout
	item "without its signature it is refused" refused_unsigned
	item "with it it is not" modprobe callout
	echo "1..$n"
	systemctl poweroff --no-block
	exit
fi
item "the module was loaded at boot" grep -q '^callout ' /proc/modules
item "with the parameter of modprobe.d" given device_hz 2000
item "the device belongs to the group" belongs
item "systemd has a unit of the device" systemctl is-active dev-callout.device
item "others may not open it" may_not calloutctl info
item "a member of the group may" as_member calloutctl info
item "the example of libev" as_member /usr/local/bin/idle_ev 1000 1
item "no unit has failed" no_unit_failed
item "DKMS has signed the module" signed
item "its key is trusted from the next boot on" trust_key
item "the names of three BSD systems" modprobe callout_bsd
item "unload both" modprobe -r callout_bsd
item "none is left" unloaded
echo "1..$n"
systemctl poweroff --no-block
