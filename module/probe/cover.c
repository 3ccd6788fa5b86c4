// SPDX-License-Identifier: GPL-2.0
/*
 * cover.c - which code has run, for the fuzzer; in no other build
 *
 * The compiler calls __sanitizer_cov_trace_pc() in each block of the module's code.
 * This function replaces the kernel's function, which covers only the code that a
 * tracing task runs itself, and expiry runs in interrupts. It traces such a task as
 * the kernel's function does.
 *
 * /sys/module/callout/parameters/cover: the addresses that were reached since
 * the last read, as many as fit a page; empty when there are no more.
 */
#include <linux/compiler.h>
#include <linux/kcov.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sysfs.h>

/* Bytes of code covered on either side of this file's code. */
#define REACH	1048576UL

enum { MISSED, REACHED, TOLD };

static u8 reached[2 * REACH];
static unsigned long tell_at;	/* protected by param_lock */

#ifdef CONFIG_KCOV
static void notrace tell_task(unsigned long address)
{
	struct task_struct *t = current;
	unsigned long *area, at;

	if (!in_task() || READ_ONCE(t->kcov_mode) != KCOV_MODE_TRACE_PC)
		return;
	/* As in kcov.c: what an interrupt here would write is lost. */
	barrier();
	area = t->kcov_area;
	at = READ_ONCE(area[0]) + 1;
	if (at < t->kcov_size) {
		WRITE_ONCE(area[0], at);
		barrier();
		area[at] = address;
	}
}
#else
static void tell_task(unsigned long address)
{
}
#endif

void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long address = _RET_IP_;
	unsigned long at = address - (unsigned long)__sanitizer_cov_trace_pc +
			   REACH;

	/* Code that runs only at load is elsewhere, and freed later: skip it. */
	if (at < sizeof(reached) && READ_ONCE(reached[at]) == MISSED)
		WRITE_ONCE(reached[at], REACHED);
	tell_task(address);
}

static int cover_get(char *buffer, const struct kernel_param *kp)
{
	int n = 0;

	for (; tell_at < sizeof(reached) && n < PAGE_SIZE - 20; tell_at++) {
		if (reached[tell_at] != REACHED)
			continue;
		reached[tell_at] = TOLD;
		n += sysfs_emit_at(buffer, n, "%lx\n", tell_at - REACH +
				   (unsigned long)__sanitizer_cov_trace_pc);
	}
	if (!n)
		tell_at = 0;
	return n;
}

static const struct kernel_param_ops cover_ops = {
	.get = cover_get,
};

module_param_cb(cover, &cover_ops, NULL, 0400);
