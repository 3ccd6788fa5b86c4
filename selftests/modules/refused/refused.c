// SPDX-License-Identifier: GPL-2.0
/*
 * refused.c - calls that linux/callout_timer.h must refuse to compile
 *
 * With REFUSED=0 it compiles; each other number adds one call that must not. A
 * line with "refused:" says what it is.
 */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/callout.h>

/* Before the include, so its timer is the kernel's. */
struct early {
	struct timer_list timer;
};

#include <linux/callout_timer.h>

struct own {
	struct timer_list timer;
	struct delayed_work work;
	struct callout callout;
};

static void own_handler(struct timer_list *t)
{
	struct own *own = from_timer(own, t, timer);

	own = timer_container_of(own, t, timer);
	timer_delete(&own->timer);
#if REFUSED == 9	/* refused: from_timer() of a structure before the include */
	struct early *early = from_timer(early, t, timer);

	(void)early;
#elif REFUSED == 10	/* refused: timer_container_of() of the kernel's structure */
	struct delayed_work *work = timer_container_of(work, t, timer);

	(void)work;
#endif
}

static void linux_handler(callout_linux_timer_t *t)
{
	struct delayed_work *work = from_timer(work, t, timer);
#if REFUSED == 11	/* refused: from_timer() of the kernel's timer for a callout's */
	struct own *own = from_timer(own, t, timer);

	(void)own;
#endif
	timer_delete(&work->timer);
}

void refused(struct own *own);

void refused(struct own *own)
{
	void *any = own;

	timer_setup(&own->timer, own_handler, 0);
	mod_timer(&own->timer, jiffies);
	mod_timer(&own->work.timer, jiffies);
	timer_delete(&own->timer);
	timer_delete(&own->work.timer);
	del_timer(&own->timer);
	del_timer(&own->work.timer);
	timer_delete_sync(&own->timer);
	timer_delete_sync(&own->work.timer);
	del_timer_sync(&own->timer);
	del_timer_sync(&own->work.timer);
	del_singleshot_timer_sync(&own->timer);
	del_singleshot_timer_sync(&own->work.timer);
	timer_shutdown(&own->timer);
	timer_shutdown_sync(&own->timer);
	timer_setup(&own->work.timer, linux_handler, 0);
#if REFUSED == 1	/* refused: mod_timer() of a void pointer */
	mod_timer(any, jiffies);
#elif REFUSED == 2	/* refused: timer_delete_sync() of a void pointer */
	timer_delete_sync(any);
#elif REFUSED == 3	/* refused: timer_pending() of a void pointer */
	if (timer_pending(any))
		return;
#elif REFUSED == 4	/* refused: timer_setup() of a void pointer */
	timer_setup(any, own_handler, 0);
#elif REFUSED == 5	/* refused: add_timer_on() of a structure with a timer */
	add_timer_on(own, 0);
#elif REFUSED == 6	/* refused: mod_timer() of a struct callout */
	mod_timer(&own->callout, jiffies);
#elif REFUSED == 7	/* refused: mod_timer() of a constant timer */
	mod_timer((const struct timer_list *)&own->timer, jiffies);
#elif REFUSED == 8	/* refused: the kernel's timer with a callout's handler */
	timer_setup(&own->work.timer, own_handler, 0);
#endif
	(void)any;
}
EXPORT_SYMBOL_GPL(refused);

MODULE_DESCRIPTION("Must not compile, see scripts/check/timers.sh");
MODULE_LICENSE("GPL");
