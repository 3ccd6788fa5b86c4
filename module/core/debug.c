// SPDX-License-Identifier: GPL-2.0
/*
 * debug.c - checks of calls, debugobjects and lockdep annotations
 *
 * With CONFIG_DEBUG_OBJECTS the kernel warns when a pending callout is freed or
 * re-initialised, or when a callout is used that was never initialised. It tracks
 * callouts that were initialised by callout_init() and variants, except callouts on
 * a stack and callouts of DEFINE_CALLOUT(). Callouts by handle need no tracking.
 *
 * With CONFIG_LOCKDEP a handler runs as if it held a lock of its callout's class,
 * and a waiter for the handler takes that lock for a moment. So a wait with a lock
 * held that the handler takes is reported as the deadlock that it can become, even
 * if it does not deadlock this time. lockdep also knows whether a caller holds the
 * associated lock, without which neither a stop nor a setting is certain.
 */
#include <linux/callout.h>
#include <linux/debugobjects.h>
#include <linux/irqflags.h>
#include <linux/sched/task_stack.h>
#include "associated.h"
#include "debug.h"
#include "kcompat.h"

void co_called_in_nmi(void)
{
	WARN_ONCE(1, "callout: called in an NMI\n");
}

void co_is_null(void)
{
	WARN_ONCE(1, "callout: NULL instead of a callout\n");
}

#ifdef CONFIG_DEBUG_OBJECTS

static void *co_hint(void *addr)
{
	return ((struct callout *)addr)->func;
}

/* DEFINE_CALLOUT() does not need callout_init(). */
static bool co_is_static(void *addr)
{
	struct callout *c = addr;

	return c->node.flags == CALLOUT_L_STATIC;
}

static bool co_fixup_init(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	co_stop_unasserted(addr);
	debug_object_init(addr, &callout_descr);
	return true;
}

static bool co_fixup_free(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	co_stop_unasserted(addr);
	debug_object_free(addr, &callout_descr);
	return true;
}

/* Called after the report. Initialise the callout, to track it from now on. */
static bool co_fixup_assert_init(void *addr, enum debug_obj_state state)
{
	struct callout *unprepared = addr;

	if (state != ODEBUG_STATE_NOTAVAILABLE)
		return false;
	callout_init(unprepared, CALLOUT_MPSAFE);
	return true;
}

const struct debug_obj_descr callout_descr = {
	.name			= "callout",
	.debug_hint		= co_hint,
	.is_static_object	= co_is_static,
	.fixup_init		= co_fixup_init,
	.fixup_free		= co_fixup_free,
	.fixup_assert_init	= co_fixup_assert_init,
};
EXPORT_SYMBOL_IF_KUNIT(callout_descr);

/* Called before a callout is initialised. Return flags that it must have, or 0. */
u8 co_debug_init(struct callout *c)
{
	if (object_is_on_stack(c))
		return CALLOUT_L_UNTRACKED;
	debug_object_init(c, &callout_descr);
	return 0;
}

#endif /* CONFIG_DEBUG_OBJECTS */

#ifdef CONFIG_LOCKDEP
struct callout_class callout_unprepared_class = {
	.name = "callout never prepared",
};

/*
 * Called before a wait for a handler of this class. If lockdep reports a lock here,
 * the caller holds that lock and the handler takes it.
 */
void co_debug_wait(struct callout_class *class)
{
	struct lockdep_map map = co_class_map(class);
	unsigned long flags;

	/* As in the kernel's timers: no softirq may run on this CPU in between. */
	local_irq_save(flags);
	lock_map_acquire(&map);
	lock_map_release(&map);
	local_irq_restore(flags);
}

/*
 * Does the caller hold the associated lock of @c in a mode in which a stop is
 * certain? A handler of CALLOUT_SHAREDLOCK may stop its own callout, and it holds
 * the lock for reading. Only the core takes Giant.
 */
bool co_lock_is_held(const struct callout *c)
{
	raw_spinlock_t *raw = c->lock;
	spinlock_t *spin = c->lock;
	rwlock_t *rw = c->lock;

	if (spin == &callout_giant)
		return true;
	switch (c->node.flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		return lockdep_is_held(spin);
	case CALLOUT_L_RAW:
		return lockdep_is_held(raw);
	case CALLOUT_L_WRITE:
		return lockdep_is_held_type(rw, 0);
	default:
		return lockdep_is_held(rw);
	}
}
EXPORT_SYMBOL_IF_KUNIT(co_lock_is_held);

/* A callout that is set for the first time has no function yet that a message could name. */
void co_lock_not_held(void)
{
	WARN_ONCE(1, "callout: set or stopped without its lock\n");
}
#endif /* CONFIG_LOCKDEP */
