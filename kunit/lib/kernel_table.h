/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel_table.h - callouts that were set by handle
 */
#ifndef _CALLOUT_KUNIT_KERNEL_TABLE_H
#define _CALLOUT_KUNIT_KERNEL_TABLE_H

#include "common.h"
#include "handles/kernel.h"

struct callout_slot *callout_test_slot(u64 handle);
u64 callout_test_expires(u64 handle);
void callout_test_move_to_past(u64 handle);
void callout_test_expire_now(u64 handle);

unsigned int callout_test_free_slots(unsigned int cpu);
extern atomic_t callout_test_asked;
void callout_test_count_asking(struct irq_work *work);
void callout_test_set_asking(void (*func)(struct irq_work *work));

#endif /* _CALLOUT_KUNIT_KERNEL_TABLE_H */
