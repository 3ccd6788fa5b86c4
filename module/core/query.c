// SPDX-License-Identifier: GPL-2.0
/*
 * query.c - queries about a callout
 *
 * Each answer describes one moment, since the base is locked while it is made. The
 * caller's own locks must ensure that the answer still holds when the caller gets
 * it.
 */
#include <linux/callout.h>
#include <linux/module.h>
#include "queue.h"
#include "debug.h"

/* A callout's node, and what its base says about it. */
struct seen {
	u64 expires;
	int cpu;
	bool running;
};

/* Look at a callout in one hold of its base's lock. See nothing in a misused callout. */
static struct seen look_at(struct callout *c)
{
	struct callout_node *n = &c->node;
	struct seen seen = { .cpu = -1 };
	struct callout_base *base;
	unsigned long flags;

	if (co_misused(c))
		return seen;
	co_debug_assert_init(c);
	base = co_lock(n, &flags);
	seen.expires = n->expires;
	seen.cpu = base->cpu;
	if (n->state & CALLOUT_S_AWAY)
		seen.cpu = co_base(n->home)->cpu;
	seen.running = co_is_running(base, n) && !co_handler_is_over(base);
	co_unlock(base, flags);
	return seen;
}

/**
 * callout_expires() - Return the tick at which a callout is due.
 * @c: The callout.
 *
 * Compare it with callout_ticks(). FreeBSD's users read c_time; for a time see
 * callout_expires_sbt(). Linux's equivalent is timer_list.expires.
 *
 * Context: Any but NMI.
 * Return: The tick for which @c was queued last, whether or not it is still pending;
 * 0 if it was never set. If a callout that was set for a time comes to its tick too
 * early, expiry queues it for a later tick.
 */
u64 callout_expires(struct callout *c)
{
	return look_at(c).expires;
}
EXPORT_SYMBOL_GPL(callout_expires);

/**
 * callout_running() - Does the handler of a callout run?
 * @c: The callout.
 *
 * A callout is running from when it stops being pending until its handler has
 * returned, including while the handler waits for its associated lock. A callout
 * that is neither pending nor running is idle. For the holder of the associated
 * lock the handler is over as soon as that lock is free, and does not run if a stop
 * has cancelled it.
 *
 * NetBSD's function gives the same answer; neither FreeBSD nor Linux exports such a
 * function.
 *
 * Context: Any but NMI. A handler may ask about its own callout unless it has freed
 * it.
 * Return: true if the handler runs.
 */
bool callout_running(struct callout *c)
{
	return look_at(c).running;
}
EXPORT_SYMBOL_GPL(callout_running);

/**
 * callout_cpu() - Return the CPU that a callout is assigned to.
 * @c: The callout.
 *
 * FreeBSD's users read c_cpu, mostly to pass it to callout_reset_on(), where -1
 * keeps the CPU as well.
 *
 * Context: Any but NMI.
 * Return: The CPU of callout_init(), or of the last callout_reset_on() or variant
 * with a CPU, even if that CPU is not online and another CPU runs the handler; 0
 * with bases=single.
 */
int callout_cpu(struct callout *c)
{
	return look_at(c).cpu;
}
EXPORT_SYMBOL_GPL(callout_cpu);

/* When @c is due, in nanoseconds of CLOCK_MONOTONIC; 0 if @c was never set. */
u64 co_expires_ns(struct callout *c)
{
	struct callout_base *base;
	unsigned long flags;
	u64 ns;

	if (co_misused(c))
		return 0;
	co_debug_assert_init(c);
	base = co_lock(&c->node, &flags);
	if (READ_ONCE(c->node.active) == CALLOUT_A_TIME)
		ns = c->node.time;
	else
		ns = c->node.expires ? co_to_ns(base, c->node.expires) : 0;
	co_unlock(base, flags);
	return ns;
}
