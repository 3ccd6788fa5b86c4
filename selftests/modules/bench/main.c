// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - instructions of callouts and of Linux's own timers
 *
 * For QEMU with -icount shift=0 and one CPU: there the time stamp counter
 * advances by one for each instruction, so its difference is a count, which is
 * equal in each run. Results go to the kernel log, a line each:
 *
 *	bench-cpus: CPUS,METRIC,INSNS
 *	bench-ops: FACILITY,OUTSTANDING,INSNS
 *	bench-tick: FACILITY,METRIC,OUTSTANDING,INSNS
 */
#include <linux/callout.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <asm/timex.h>
#include "bench.h"

static char *part = "linux";
module_param(part, charp, 0444);
MODULE_PARM_DESC(part, "cpus: what may depend on the number of CPUs; hrtimer: callouts only, of callout.ko loaded with tick_source=hrtimer; linux: all facilities (default)");

/* Whether the time stamp counter counts instructions. */
static int check_counter(void)
{
	u64 start, took;

	local_irq_disable();
	start = get_cycles();
	asm volatile(".rept 10000\n\tnop\n\t.endr");
	took = get_cycles() - start;
	local_irq_enable();
	if (took >= 10000 && took < 10050)
		return 0;
	pr_err("10000 instructions took %llu: boot with -icount shift=0\n",
	       took);
	return -EINVAL;
}

static int __init bench_init(void)
{
	int ret = check_counter();

	if (ret)
		return ret;
	if (!strcmp(part, "hrtimer")) {
		bench_ops_hrtimer_source();
		return bench_tick(bench_hrtimer_source);
	}
	if (!strcmp(part, "cpus"))
		return bench_cpus();
	bench_ops();
	return bench_tick(bench_facilities);
}

static void __exit bench_exit(void)
{
	callout_barrier();
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Instructions per operation of callouts and timers");
MODULE_LICENSE("GPL");
