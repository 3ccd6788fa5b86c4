/* SPDX-License-Identifier: GPL-2.0 */
/*
 * first.h - functions that schemes share: advance, next_due and take for a scheme
 * that knows its first callout, checks of lists, and memory allocation
 */
#ifndef _CALLOUT_FIRST_H
#define _CALLOUT_FIRST_H

#include "wheel/scheme.h"

bool co_first_advance(struct callout_scheme *s, u64 now, unsigned int *budget,
		      struct list_head *due);
u64 co_first_due(struct callout_scheme *s, unsigned int *budget);
bool co_first_take(struct callout_scheme *s, unsigned int *budget,
		   struct list_head *out);
bool co_links_hold(struct list_head *list);
bool co_order_holds(struct list_head *list);
void *co_scheme_alloc(const struct callout_scheme_ops *ops, size_t size,
		      const struct callout_scheme_params *p);
void co_scheme_free(struct callout_scheme *s);

#endif /* _CALLOUT_FIRST_H */
