/* SPDX-License-Identifier: GPL-2.0 */
/*
 * probe.h - a timer that records what its handler has seen
 */
#ifndef _CALLOUT_KUNIT_TIMER_PROBE_H
#define _CALLOUT_KUNIT_TIMER_PROBE_H

#include <linux/callout_timer_types.h>
#include <linux/timer.h>
#include "lib/common.h"
#include "base/base.h"
#include "kcompat.h"

/* A distance at which nothing fires while a case runs, and a distance at which it does fire. */
#define FAR	CALLOUT_TEST_FAR
#define NEAR	40

/**
 * struct probe - a timer, and what its handler has seen
 * @t: the timer
 * @runs: how often the handler has run
 * @jiffy: jiffies at that time
 * @cpu: the CPU on which it ran
 * @irqs_off: whether interrupts were off
 * @pending: whether the timer was pending
 * @holds: the handler waits for @go
 * @entered: the handler has begun
 * @go: the handler may return
 */
struct probe {
	struct callout_timer t;
	atomic_t runs;
	unsigned long jiffy;
	unsigned int cpu;
	bool irqs_off;
	bool pending;
	bool holds;
	bool entered;
	bool go;
};

static inline void probe_handler(struct callout_timer *t)
{
	struct probe *p = container_of(t, struct probe, t);

	p->jiffy = jiffies;
	p->cpu = smp_processor_id();
	p->irqs_off = irqs_disabled();
	p->pending = callout_timer_pending(t);
	atomic_inc(&p->runs);
	callout_test_tell(&p->entered);
	if (p->holds)
		callout_test_clock_until(callout_test_told(&p->go));
}

static inline void probe_init(struct probe *p, unsigned int flags)
{
	static struct lock_class_key key;

	callout_timer_init_key(&p->t, probe_handler, flags, "probe", &key);
}

static inline void probe_end(void *data)
{
	struct probe *p = data;

	callout_test_tell(&p->go);
	callout_timer_shutdown_sync(&p->t);
}

static inline struct probe *probe_create(struct kunit *test, unsigned int flags)
{
	struct probe *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	probe_init(p, flags);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, probe_end, p));
	return p;
}

/* Make the handler of @p run on @cpu, from now until @p->go. */
static inline void probe_hold_on(struct kunit *test, struct probe *p, unsigned int cpu)
{
	p->holds = true;
	p->t.expires = jiffies;
	callout_timer_add_on(&p->t, cpu);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_spin_until(callout_test_told(&p->entered)));
}

static inline struct callout_base *base_of(struct probe *p)
{
	return co_base(READ_ONCE(p->t.node.cpu));
}

static const unsigned int all_flags[] = {
	0, TIMER_PINNED, TIMER_DEFERRABLE, TIMER_IRQSAFE,
	TIMER_DEFERRABLE | TIMER_PINNED, TIMER_PINNED | TIMER_IRQSAFE,
};

#endif /* _CALLOUT_KUNIT_TIMER_PROBE_H */
