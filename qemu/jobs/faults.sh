#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: each allocation and copy fails, one after the other: while the module is loaded, while a
# user opens the device for the first time, while a CPU comes up, and in each operation of the
# device. A memory cgroup is at its limit. With boot.sh -a FAULTS=a+b only these programs: all but
# faults_memcg need a kernel with fault injection, and that one a kernel with memory cgroups.
#
# The kernel reports some failed allocations with a call trace: so its reports are read from the
# log, where these are known, and kept off the console, which must hold none. Where faults cannot
# be restricted to the module, the kernel's tracing has warnings about its own, which must not end
# the boot.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh
# shellcheck source=qemu/faults.sh
. /lib/faults.sh

# Reports in the log, without the traces of failed allocations.
reports() {
	dmesg | awk '
		/percpu: allocation failed|vmalloc error|invoked oom-killer/ { known = 1 }
		/WARNING: .* at kernel\/trace\// { known = 1; next }
		/Call Trace/ && known { known = 0; next }
		/BUG:|WARNING:|Call Trace|possible .*(deadlock|recursive)|INFO: |ODEBUG/ { print }
		/KASAN: |UBSAN|suspicious RCU|sleeping function called/ { print }
		/huh, entered softirq|dropped one of kind|still pending/ { print }'
}

no_report() {
	reports > /tmp/reports
	[ ! -s /tmp/reports ] || { dmesg | tail -n 200; return 1; }
}

# Each fault takes an object of its reserve, without which it ends.
kmemleak_works() {
	[ ! -e /sys/kernel/debug/kmemleak ] || echo scan=off > /sys/kernel/debug/kmemleak
}

# Each test of faults_load may take the harness's hour. The boot ends if it prints nothing.
limit=9000

echo N > /sys/module/printk/parameters/ignore_loglevel
dmesg -n 1

# Hundreds of loads and unloads wait for grace periods. With one CPU the file is read-only.
echo 1 2> /dev/null > /sys/kernel/rcu_expedited || :

programs=$(echo "${FAULTS:-faults_load+faults_op+faults_file}" | tr + ' ')
[ "$programs" = faults_memcg ] || configure_faults
[ -e /sys/kernel/debug/failslab/require-start ] || echo 0 > /proc/sys/kernel/panic_on_warn
for program in $programs; do
	[ "$program" = faults_load ] || load_module
	run "/bin/$program"
	[ "$program" = faults_load ] || check "$program: the module unloads" unload_module
	check "$program: no report in the log" no_report
done
check "kmemleak works" kmemleak_works
# What the scan at the end finds belongs on the console.
echo Y > /sys/module/printk/parameters/ignore_loglevel
finish
