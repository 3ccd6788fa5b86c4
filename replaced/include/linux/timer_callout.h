/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer_callout.h - the calls of linux/timer.h for a timer_list that is a callout
 *
 * For linux/timer.h, whose own declarations are those of struct tick_timer, see
 * tick_timer_begin.h. Its macros, such as timer_setup(), serve both.
 */
#ifndef _LINUX_TIMER_CALLOUT_H
#define _LINUX_TIMER_CALLOUT_H

/* start_kernel() calls it before any timer is armed. */
void callout_early_init(void);

static inline void init_timer_key(struct timer_list *timer,
				  void (*func)(struct timer_list *),
				  unsigned int flags, const char *name,
				  struct lock_class_key *key)
{
	callout_timer_init_key(timer, func, flags, name, key);
}

static inline void init_timer_on_stack_key(struct timer_list *timer,
					   void (*func)(struct timer_list *),
					   unsigned int flags, const char *name,
					   struct lock_class_key *key)
{
	callout_timer_init_key_on_stack(timer, func, flags, name, key);
}

static inline void destroy_timer_on_stack(struct timer_list *timer)
{
	callout_timer_destroy_on_stack(timer);
}

static inline int timer_pending(const struct timer_list *timer)
{
	return callout_timer_pending(timer);
}

static inline void add_timer(struct timer_list *timer)
{
	callout_timer_add(timer);
}

static inline void add_timer_on(struct timer_list *timer, int cpu)
{
	callout_timer_add_on(timer, cpu);
}

static inline void add_timer_local(struct timer_list *timer)
{
	callout_timer_add_local(timer);
}

static inline void add_timer_global(struct timer_list *timer)
{
	callout_timer_add_global(timer);
}

static inline int mod_timer(struct timer_list *timer, unsigned long expires)
{
	return callout_timer_mod(timer, expires);
}

static inline int mod_timer_pending(struct timer_list *timer,
				    unsigned long expires)
{
	return callout_timer_mod_pending(timer, expires);
}

static inline int timer_reduce(struct timer_list *timer, unsigned long expires)
{
	return callout_timer_reduce(timer, expires);
}

static inline int timer_delete(struct timer_list *timer)
{
	return callout_timer_delete(timer);
}

static inline int timer_delete_sync(struct timer_list *timer)
{
	return callout_timer_delete_sync(timer);
}

static inline int try_to_del_timer_sync(struct timer_list *timer)
{
	return callout_timer_delete_sync_try(timer);
}

static inline int timer_shutdown(struct timer_list *timer)
{
	return callout_timer_shutdown(timer);
}

static inline int timer_shutdown_sync(struct timer_list *timer)
{
	return callout_timer_shutdown_sync(timer);
}

static inline int del_timer(struct timer_list *timer)
{
	return timer_delete(timer);
}

static inline int del_timer_sync(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}

#endif /* _LINUX_TIMER_CALLOUT_H */
