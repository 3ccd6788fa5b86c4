# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by jobs whose programs ask for faults of allocations and copies; debugfs is mounted.

# Faults of a thread that has asked for one: nobody else's, and nothing about it in the log.
configure_faults() {
	for kind in failslab fail_page_alloc fail_usercopy; do
		echo 0 > "/sys/kernel/debug/$kind/probability"
		echo 0 > "/sys/kernel/debug/$kind/verbose"
		echo -1 > "/sys/kernel/debug/$kind/times"
	done
	for kind in failslab fail_page_alloc; do
		echo N > "/sys/kernel/debug/$kind/ignore-gfp-wait"
	done
	echo N > /sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
}
