/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - the kernel's own table: setcallout() and unsetcallout()
 */
#ifndef _CALLOUT_HANDLE_H
#define _CALLOUT_HANDLE_H

#include <linux/callout.h>
#include <linux/irq_work.h>
#include "table.h"

/* If a base has fewer free slots than this, the worker adds some. */
#define CALLOUT_LOW_WATER	64U

struct callout_table *co_kernel_table(void);

callout_handle_t co_set_hashed(callout_func_t *func, void *arg, long ticks);
int co_unset_hashed(callout_func_t *func, void *arg);

extern struct irq_work callout_refill_irq_work;
#ifdef CALLOUT_KUNIT_SEES
extern struct work_struct callout_refill_work;
#endif

int co_handles_init(unsigned int max_slots);
void co_handles_stop(void);
void co_handles_exit(void);

#endif /* _CALLOUT_HANDLE_H */
