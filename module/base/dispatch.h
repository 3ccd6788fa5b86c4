/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dispatch.h - the calls of a base's scheme
 *
 * The hashed wheel is called directly, and inline where each setting calls it. Only
 * the laboratory, CONFIG_CALLOUT_LAB, has other schemes: without it none of these
 * calls is indirect.
 *
 * All these functions need the base locked. wheel/scheme.h says what they do.
 */
#ifndef _CALLOUT_DISPATCH_H
#define _CALLOUT_DISPATCH_H

#include "base.h"
#include "wheel/hashed_wheel.h"

static inline void co_scheme_start(struct callout_base *base,
				   struct callout_node *n, u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (co_is_wheel(base))
		co_wheel_start(to_wheel(s), n, expires);
	else
		s->ops->start(s, n, co_now(base), expires);
}

static inline void co_scheme_rearm(struct callout_base *base,
				   struct callout_node *n, u64 expires)
{
	struct callout_scheme *s = base->scheme;

	if (co_is_wheel(base))
		co_wheel_rearm(to_wheel(s), n, expires);
	else
		co_scheme_move(s, n, co_now(base), expires);
}

static inline void co_scheme_stop(struct callout_base *base,
				  struct callout_node *n)
{
	struct callout_scheme *s = base->scheme;

	if (co_is_wheel(base))
		co_wheel_stop(to_wheel(s), n);
	else
		s->ops->stop(s, n);
}

/* Is @n the entry at which expiry continues? Only then can stopping @n end a walk. */
static inline bool co_scheme_is_next(struct callout_base *base,
				     const struct callout_node *n)
{
	return co_is_wheel(base) &&
	       to_wheel(base->scheme)->cursor == &n->entry;
}

/*
 * The first callout that is due at base->now, still pending. NULL if there is none;
 * with no budget left, there may still be one. Any scheme but the wheel moves due
 * callouts to the due list.
 */
static inline struct callout_node *
co_scheme_first(struct callout_base *base, unsigned int *budget)
{
	struct callout_scheme *s = base->scheme;

	if (unlikely(!list_empty(&base->due)))
		return list_first_entry(&base->due, struct callout_node, entry);
	if (co_is_wheel(base))
		return co_wheel_first(to_wheel(s), base->now, budget);
	if (s->ops->advance(s, base->now, budget, &base->due) &&
	    list_empty(&base->due))
		*budget = 0;
	return list_first_entry_or_null(&base->due, struct callout_node, entry);
}

static inline u64 co_scheme_next_due(struct callout_base *base,
				     unsigned int *budget)
{
	struct callout_scheme *s = base->scheme;

	if (!co_is_wheel(base))
		return s->ops->next_due(s, budget);
	if (co_base_pending(base))
		return co_wheel_next_due(s, budget);
	co_wheel_empty(to_wheel(s));
	return U64_MAX;
}

#endif /* _CALLOUT_DISPATCH_H */
