/* SPDX-License-Identifier: GPL-2.0 */
/*
 * first.h - advance, next_due and take of a scheme that knows its first callout
 *
 * The arguments are constant, so the scheme's functions are inlined, and the
 * sharing costs nothing.
 */
#ifndef _CALLOUT_FIRST_H
#define _CALLOUT_FIRST_H

#include "wheel/scheme.h"

/* The first callout to expire (for take: any), or NULL. One unit of work. */
typedef struct callout_node *(*callout_first_fn)(struct callout_scheme *s);

typedef void (*callout_stop_fn)(struct callout_scheme *s, struct callout_node *c);

static __always_inline bool
co_first_advance(struct callout_scheme *s, u64 now, unsigned int *budget,
		 struct list_head *due, callout_first_fn first,
		 callout_stop_fn stop)
{
	struct callout_node *c;

	while ((c = first(s)) && c->expires <= now) {
		if (!*budget)
			return true;
		--*budget;
		s->visits++;
		stop(s, c);
		co_scheme_due(c, due);
	}
	return false;
}

static __always_inline u64 co_first_due(struct callout_scheme *s,
					callout_first_fn first)
{
	struct callout_node *c = first(s);

	return c ? c->expires : U64_MAX;
}

static __always_inline bool
co_first_take(struct callout_scheme *s, unsigned int *budget,
	      struct list_head *out, callout_first_fn first,
	      callout_stop_fn stop)
{
	struct callout_node *c;

	while ((c = first(s))) {
		if (!*budget)
			return true;
		--*budget;
		stop(s, c);
		list_add_tail(&c->entry, out);
	}
	return false;
}

#endif /* _CALLOUT_FIRST_H */
