/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stock.h - callouts that use up the free slots of the kernel's table
 */
#ifndef _CALLOUT_KUNIT_STOCK_H
#define _CALLOUT_KUNIT_STOCK_H

#include <kunit/test.h>

#define CALLOUT_STOCK_MOST	(1U << 18)

/**
 * struct callout_stock - callouts that a case has set
 * @n: number of callouts
 * @max_chunks: the table's limit before the case, restored at its end
 * @handle: the callouts' handles
 */
struct callout_stock {
	unsigned int n;
	unsigned int max_chunks;
	u64 handle[];
};

void callout_stock_handler(void *arg);
unsigned int callout_stock_free(void);
void callout_stock_limit(unsigned int max_chunks);
void callout_stock_set(void *handle);
void callout_stock_take(struct callout_stock *s, unsigned int most);
unsigned int callout_stock_give(struct callout_stock *s, unsigned int most);
struct callout_stock *callout_stock_create(struct kunit *test, bool fixed);

#endif /* _CALLOUT_KUNIT_STOCK_H */
