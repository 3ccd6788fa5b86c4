#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the instructions of each operation, counted by callout_bench.ko, for bench.sh. For
# boot.sh -i. With BENCH=cpus it measures only what may depend on the number of CPUs.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh
# shellcheck source=qemu/memory.sh
. /lib/memory.sh

# bench PART: makes callout_bench.ko measure on the facility as loaded.
bench() {
	dmesg -c > /dev/null
	insmod /lib/callout_bench.ko part="$1"
	rmmod callout_bench
	dmesg | sed -n 's/^.*\(bench-[a-z]*: .*\)/\1/p' > /tmp/lines
	cat /tmp/lines
	passed=$((passed + $(grep -c ',' /tmp/lines)))
}

# The memory that loading the module takes, in bytes, several times. All CPUs are up, so each has
# its base. What the kernel frees later, such as the module's initialisation, it has freed a second
# later.
memory() {
	for _ in $(seq 15); do
		before=$(free_pages)
		insmod /lib/callout.ko
		sleep 1
		echo "bench-memory: $(nproc),memory,$(bytes_since "$before")"
		rmmod callout
		sleep 1
	done
}

# one_cpu: leaves one CPU online, so that no other work is counted. The others keep their bases.
one_cpu() {
	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		[ ! -e "$cpu" ] || echo 0 > "$cpu"
	done
}

# The module makes jiffies leap, which looks like a stall to the kernel's watchdogs.
echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
watchdog=/sys/module/workqueue/parameters/watchdog_thresh
[ ! -e $watchdog ] || echo 0 > $watchdog
if [ "${BENCH:-}" = cpus ]; then
	memory
	user_cpus load /lib/callout.ko
	# Each CPU has two chunks of 36 slots at first. These are all: the table's limit is a slot
	# more for each CPU.
	insmod /lib/callout.ko max_callouts=$(($(nproc) * 71))
	one_cpu
	bench cpus
	user_cpus device
	passed=$((passed + 1))
else
	high_resolution
	# With its own ticks, so that its interrupt is not the kernel's tick.
	insmod /lib/callout.ko tick_source=hrtimer hz=1000
	bench hrtimer
	rmmod callout
	insmod /lib/callout.ko max_callouts=2000000
	bench linux
fi
rmmod callout
echo "$passed" > /run/passed
