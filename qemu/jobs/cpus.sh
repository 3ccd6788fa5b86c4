#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: many CPUs, all of which are up: loading, tests of the device, what calloutctl says, and CPUs
# that go away, half of them at a time, and come back under load. For boot.sh -i -c 64 and -c 128,
# with -a CPUS=64 or 128.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

loads() {
	insmod /lib/callout.ko "$@" && [ -c /dev/callout ] && rmmod callout
}

# A row of each CPU, in each class.
bases() {
	awk -v cpus="$(nproc)" '
		NR > 1 { rows[$NF]++; ours += $1 < cpus }
		END {
			for (class in rows)
				if (rows[class] != cpus)
					exit 1
			exit !ours || ours != NR - 1
		}' /sys/kernel/debug/callout/bases
}

stats() { calloutctl stat | grep -q fired; }

cpus=$(nproc)
check "the machine has the CPUs that it was given" [ "$cpus" = "${CPUS:-4}" ]
for round in 1 2 3; do
	check "load and unload, $round" loads
done
check "load and unload, hrtimer" loads tick_source=hrtimer hz=10000
sets "device_hz=250000" > /tmp/sets
while read -r parameters <&3; do
	load_module
	check "bases of all CPUs" bases
	check "calloutctl stat" stats
	check "calloutctl info" calloutctl info
	for test in device_basic device_key device_cpus; do
		run "/selftests/$test" "$parameters"
	done
	run /bin/hotplug_storm "$parameters"
	check "all CPUs are back" [ "$(nproc)" = "$cpus" ]
	check "bases of all CPUs are left" bases
	check "unload" unload_module
done 3< /tmp/sets
finish
