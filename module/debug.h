/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debug.h - debugobjects and lockdep annotations
 *
 * All of it is empty in a kernel without them.
 */
#ifndef _CALLOUT_DEBUG_H
#define _CALLOUT_DEBUG_H

#include <linux/callout.h>

#ifdef CONFIG_DEBUG_OBJECTS
u8 callout_debug_init(struct callout *c);
void callout_debug_activate(struct callout *c);
void callout_debug_deactivate(struct callout *c);
void callout_debug_assert_init(struct callout *c);
#else
static inline u8 callout_debug_init(struct callout *c)
{
	return 0;
}

static inline void callout_debug_activate(struct callout *c)
{
}

static inline void callout_debug_deactivate(struct callout *c)
{
}

static inline void callout_debug_assert_init(struct callout *c)
{
}
#endif

#ifdef CONFIG_LOCKDEP
extern struct callout_class callout_unprepared_class;

/*
 * To lockdep, a class is a lock that its handlers hold. A callout that was
 * never initialised has none: debugobjects, if enabled, reports it; lockdep
 * must not oops.
 */
static inline struct callout_class *callout_debug_class(struct callout *c)
{
	return c->class ?: &callout_unprepared_class;
}

/* On the stack of the caller: a handler may free its callout. */
static inline struct lockdep_map callout_class_map(struct callout_class *class)
{
	return (struct lockdep_map)STATIC_LOCKDEP_MAP_INIT(class->name,
							   &class->key);
}

void callout_debug_wait(struct callout_class *class);
#else
static inline struct callout_class *callout_debug_class(struct callout *c)
{
	return NULL;
}

static inline struct lockdep_map callout_class_map(struct callout_class *class)
{
	return (struct lockdep_map){};
}

static inline void callout_debug_wait(struct callout_class *class)
{
}
#endif

#endif /* _CALLOUT_DEBUG_H */
