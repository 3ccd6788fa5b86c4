/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debug.h - checks of calls, debugobjects and lockdep annotations
 *
 * All functions are empty in a kernel without debugging.
 */
#ifndef _CALLOUT_DEBUG_H
#define _CALLOUT_DEBUG_H

#include <linux/callout.h>
#include <linux/debugobjects.h>
#include <linux/preempt.h>

/*
 * A debugging kernel checks each call for a NULL callout and for NMI context. In
 * other kernels the check would cost each call four instructions. There a NULL
 * callout oopses, and in an NMI the interrupted code may hold the base's lock.
 */
#if defined(CONFIG_CALLOUT_DEBUG) || defined(CONFIG_DEBUG_OBJECTS) || \
	defined(CONFIG_LOCKDEP)
#define CALLOUT_CALLS_CHECKED	1
#else
#define CALLOUT_CALLS_CHECKED	0
#endif

void co_called_in_nmi(void);
void co_is_null(void);

/* Warn in an NMI, where the call must do nothing. Return true then. */
static inline bool co_misused_nmi(void)
{
	if (!CALLOUT_CALLS_CHECKED || likely(!in_nmi()))
		return false;
	co_called_in_nmi();
	return true;
}

/* Warn about a call with @c that must do nothing. Return true then. */
static inline bool co_misused(const struct callout *c)
{
	if (CALLOUT_CALLS_CHECKED && unlikely(!c)) {
		co_is_null();
		return true;
	}
	return co_misused_nmi();
}

#ifdef CONFIG_DEBUG_OBJECTS
int co_stop_unasserted(struct callout *c);
u8 co_debug_init(struct callout *c);
#else
static inline u8 co_debug_init(struct callout *c)
{
	return 0;
}
#endif

/* For debugobjects, whose functions are empty in a kernel without debugobjects. */
extern const struct debug_obj_descr callout_descr;

/* The callout becomes pending. */
static inline void co_debug_activate(struct callout *c)
{
	if (!(c->node.flags & CALLOUT_L_UNTRACKED))
		debug_object_activate(c, &callout_descr);
}

/* The callout is no longer pending. */
static inline void co_debug_deactivate(struct callout *c)
{
	if (!(c->node.flags & CALLOUT_L_UNTRACKED))
		debug_object_deactivate(c, &callout_descr);
}

/* Warn if a callout was never initialised. */
static inline void co_debug_assert_init(struct callout *c)
{
	if (!(c->node.flags & CALLOUT_L_UNTRACKED))
		debug_object_assert_init(c, &callout_descr);
}

#ifdef CONFIG_LOCKDEP
extern struct callout_class callout_unprepared_class;

/*
 * To lockdep, a class is a lock that the class's handlers hold. A callout that was
 * never initialised has no class: debugobjects, if enabled, reports the callout,
 * and lockdep must not oops.
 */
static inline struct callout_class *co_debug_class(struct callout *c)
{
	return c->class ?: &callout_unprepared_class;
}

/* The map is on the caller's stack: a handler may free its callout. */
static inline struct lockdep_map co_class_map(struct callout_class *class)
{
	return (struct lockdep_map)STATIC_LOCKDEP_MAP_INIT(class->name,
							   &class->key);
}

void co_debug_wait(struct callout_class *class);
bool co_lock_is_held(const struct callout *c);
void co_lock_not_held(void);

/*
 * Warn unless the caller holds the associated lock of @c, if @c has one. Calls with
 * a callout that has been shut down do nothing, and its lock may have been freed.
 */
static inline void co_debug_assert_held(const struct callout *c)
{
	if (unlikely(c->lock && !(READ_ONCE(c->node.state) & CALLOUT_S_SHUT) &&
		     !co_lock_is_held(c)))
		co_lock_not_held();
}
#else
static inline struct callout_class *co_debug_class(struct callout *c)
{
	return NULL;
}

static inline struct lockdep_map co_class_map(struct callout_class *class)
{
	return (struct lockdep_map){};
}

static inline void co_debug_wait(struct callout_class *class) { }

static inline bool co_lock_is_held(const struct callout *c)
{
	return true;
}

static inline void co_debug_assert_held(const struct callout *c) { }
#endif

#endif /* _CALLOUT_DEBUG_H */
