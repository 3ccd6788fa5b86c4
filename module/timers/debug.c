// SPDX-License-Identifier: GPL-2.0
/*
 * debug.c - debugobjects for Linux's timers on callouts
 *
 * With CONFIG_DEBUG_OBJECTS the kernel warns when a pending timer is freed or
 * initialised, or when a timer is used that was never initialised. It then repairs
 * the error as it does for its own timers: it deletes the timer, or initialises it
 * to a function that warns.
 */
#include <linux/bug.h>
#include <linux/debugobjects.h>
#include <linux/list.h>
#include <linux/poison.h>
#include <linux/timer.h>
#include "timer.h"

#ifdef CONFIG_DEBUG_OBJECTS

static void timer_never_prepared(struct callout_timer *unused)
{
	WARN_ON(1);
}

static void *timer_hint(void *addr)
{
	return ((struct callout_timer *)addr)->function;
}

/* Only the kernel's static initialisers write this. */
static bool timer_is_static(void *addr)
{
	struct callout_timer *t = addr;

	return !t->entry.pprev && t->entry.next == TIMER_ENTRY_STATIC;
}

static bool timer_fixup_init(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	callout_timer_delete_sync(addr);
	debug_object_init(addr, &callout_timer_descr);
	return true;
}

static bool timer_fixup_activate(void *addr, enum debug_obj_state state)
{
	WARN_ON(state == ODEBUG_STATE_ACTIVE);
	return false;
}

static bool timer_fixup_free(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	callout_timer_delete_sync(addr);
	debug_object_free(addr, &callout_timer_descr);
	return true;
}

/* Called before a timer is locked, so that it may be initialised here. */
static bool timer_fixup_assert_init(void *addr, enum debug_obj_state state)
{
	static struct lock_class_key key;

	if (state != ODEBUG_STATE_NOTAVAILABLE)
		return false;
	callout_timer_init_key(addr, timer_never_prepared, 0,
			       "callout_timer never prepared", &key);
	return true;
}

const struct debug_obj_descr callout_timer_descr = {
	.name			= "callout_timer",
	.debug_hint		= timer_hint,
	.is_static_object	= timer_is_static,
	.fixup_init		= timer_fixup_init,
	.fixup_activate		= timer_fixup_activate,
	.fixup_free		= timer_fixup_free,
	.fixup_assert_init	= timer_fixup_assert_init,
};
#endif /* CONFIG_DEBUG_OBJECTS */
