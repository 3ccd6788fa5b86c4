// SPDX-License-Identifier: GPL-2.0
/*
 * running.c - suite callout_timer_running: Linux's timers on callouts while they,
 * or other objects in their memory, run
 *
 * Any operation on a timer whose handler runs has to leave the timer in a place
 * where a caller that deletes it sees it run.
 */
#include <linux/callout.h>
#include <linux/callout_timer_types.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include "probe.h"

/* A timer runs once, when jiffies have reached its time, and is not pending then. */
static void timer_runs_at_its_jiffy(struct kunit *test)
{
	unsigned int i, early = 0, wrong = 0, n = 0;
	long distance;
	struct probe **p;

	p = kunit_kcalloc(test, ARRAY_SIZE(all_flags) * (NEAR + 3), sizeof(*p),
			  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < ARRAY_SIZE(all_flags); i++)
		for (distance = -2; distance <= NEAR; distance++) {
			p[n] = probe_create(test, all_flags[i]);
			callout_timer_mod(&p[n++]->t, jiffies + distance);
		}
	/* Deferrable timers need a CPU that is awake. */
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_TRUE(test,
				  callout_test_spin_until(atomic_read(&p[i]->runs)));
		callout_timer_delete_sync(&p[i]->t);
		wrong += atomic_read(&p[i]->runs) != 1 || p[i]->pending;
		wrong += p[i]->irqs_off != !!(p[i]->t.flags & TIMER_IRQSAFE);
		early += time_before(p[i]->jiffy, p[i]->t.expires);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, early, 0);
}

static struct probe fixed = {
	.t = __TIMER_INITIALIZER(probe_handler, TIMER_PINNED),
};

/* A static initialiser of linux/timer.h is sufficient. */
static void timer_static(struct kunit *test)
{
	atomic_set(&fixed.runs, 0);
	KUNIT_EXPECT_FALSE(test, callout_timer_pending(&fixed.t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_delete_sync(&fixed.t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&fixed.t, jiffies + FAR));
	KUNIT_EXPECT_EQ(test, 1, callout_timer_mod(&fixed.t, jiffies));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&fixed.runs)));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_delete_sync(&fixed.t));
	KUNIT_EXPECT_EQ(test, atomic_read(&fixed.runs), 1);
}

/* Two timers, and a hard interrupt that becomes pending while interrupts are off. */
struct interrupted {
	struct probe *first;
	struct probe *second;
	struct irq_work work;
	bool before_second;
	bool in_order;
	bool seen;
};

static struct interrupted *interrupted;

static void interrupted_work(struct irq_work *work)
{
	WRITE_ONCE(interrupted->seen, true);
}

static void interrupted_first(struct callout_timer *t)
{
	irq_work_queue(&interrupted->work);
	atomic_inc(&interrupted->first->runs);
}

static void interrupted_second(struct callout_timer *t)
{
	interrupted->before_second = READ_ONCE(interrupted->seen);
	interrupted->in_order = atomic_read(&interrupted->first->runs);
	atomic_inc(&interrupted->second->runs);
}

/* Interrupts are on between two handlers that have them off. */
static void timer_irqsafe_in_turn(struct kunit *test)
{
	struct interrupted *i = kunit_kzalloc(test, sizeof(*i), GFP_KERNEL);
	unsigned long expires;

	KUNIT_ASSERT_NOT_NULL(test, i);
	callout_test_need_interrupts(test);
	callout_test_pin(test, raw_smp_processor_id());
	i->work = IRQ_WORK_INIT_HARD(interrupted_work);
	i->first = probe_create(test, TIMER_IRQSAFE | TIMER_PINNED);
	i->second = probe_create(test, TIMER_IRQSAFE | TIMER_PINNED);
	i->first->t.function = interrupted_first;
	i->second->t.function = interrupted_second;
	interrupted = i;
	local_irq_disable();
	expires = jiffies + 2;
	callout_timer_mod(&i->first->t, expires);
	callout_timer_mod(&i->second->t, expires);
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&i->first->runs) &&
						  atomic_read(&i->second->runs)));
	irq_work_sync(&i->work);
	/* With a source other than jiffies they may run in two ticks, in the other order. */
	if (i->first->t.node.expires == i->second->t.node.expires)
		KUNIT_EXPECT_TRUE(test, i->in_order);
	if (i->in_order)
		KUNIT_EXPECT_TRUE(test, i->before_second);
}

#define MIXED	8U

static void mixed_handler(void *arg)
{
	atomic_inc(arg);
}

/* Timers and callouts that are due at the same tick in the same base run once each. */
static void timer_among_callouts(struct kunit *test)
{
	struct callout *c = kunit_kcalloc(test, MIXED, sizeof(*c), GFP_KERNEL);
	atomic_t *runs = kunit_kcalloc(test, MIXED, sizeof(*runs), GFP_KERNEL);
	unsigned int i, wrong = 0;
	struct probe *p[MIXED];

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, runs);
	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < MIXED; i++) {
		p[i] = probe_create(test, TIMER_PINNED);
		callout_init(&c[i], CALLOUT_MPSAFE);
		callout_test_drains(test, &c[i]);
	}
	local_irq_disable();
	for (i = 0; i < MIXED; i++) {
		callout_timer_mod(&p[i]->t, jiffies + 2);
		callout_reset_curcpu(&c[i], 2, mixed_handler, &runs[i]);
	}
	local_irq_enable();
	for (i = 0; i < MIXED; i++) {
		KUNIT_EXPECT_TRUE(test,
				  callout_test_wait_until(atomic_read(&p[i]->runs) &&
							  atomic_read(&runs[i])));
		wrong += atomic_read(&p[i]->runs) != 1 || atomic_read(&runs[i]) != 1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Memory of a callout, then of a timer. */
struct reused {
	union {
		struct callout c;
		struct callout_timer t;
	};
	spinlock_t lock;	/* the callout's lock */
};

static void reused_handler(void *arg)
{
}

static void reused_timer(struct callout_timer *t)
{
}

/*
 * A callout that waits for its lock may be stopped and freed under that lock. A
 * timer in the same memory does not count as running then: waiting for it with the
 * lock held would be a deadlock.
 */
static void timer_where_a_callout_waited(struct kunit *test)
{
	struct reused *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	unsigned int other = callout_test_pin_one(test);
	static struct lock_class_key key;
	struct callout_base *base;

	KUNIT_ASSERT_NOT_NULL(test, r);
	base = co_base(other);
	spin_lock_init(&r->lock);
	callout_init_mtx(&r->c, &r->lock, 0);
	spin_lock_bh(&r->lock);
	callout_reset_on(&r->c, 1, reused_handler, NULL, other);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_clock_until(READ_ONCE(base->running) ==
						   &r->c.node));
	KUNIT_EXPECT_EQ(test, 1, callout_stop(&r->c));
	callout_timer_init_key(&r->t, reused_timer, TIMER_PINNED, "reused",
			       &key);
	r->t.expires = jiffies + FAR;
	callout_timer_add_on(&r->t, other);
	KUNIT_EXPECT_PTR_EQ(test, co_base(r->t.node.cpu), base);
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync_try(&r->t));
	spin_unlock_bh(&r->lock);
	callout_barrier();
	KUNIT_EXPECT_EQ(test, 0, callout_timer_shutdown_sync(&r->t));
}

/* Memory of a callout whose handler has freed it and continues. */
struct freed {
	struct reused r;
	bool entered;
	bool go;
};

static void freed_handler(void *arg)
{
	struct freed *f = arg;

	callout_test_tell(&f->entered);
	callout_test_clock_until(callout_test_told(&f->go));
}

/*
 * A callout's handler may free the callout and then wait for a lock. A timer that is
 * created in that memory does not count as running then, and a caller that deletes
 * it may hold that lock. This holds even if the base has run timers before.
 */
static void timer_where_a_callout_runs(struct kunit *test)
{
	struct freed *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int other = callout_test_pin_one(test);
	static struct lock_class_key key;
	struct callout_timer *t = &f->r.t;
	struct probe *before = probe_create(test, TIMER_PINNED);

	KUNIT_ASSERT_NOT_NULL(test, f);
	before->t.expires = jiffies;
	callout_timer_add_on(&before->t, other);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_clock_until(atomic_read(&before->runs)));
	KUNIT_EXPECT_EQ(test, base_of(before)->index, co_base(other)->index);
	callout_init(&f->r.c, CALLOUT_MPSAFE);
	callout_reset_on(&f->r.c, 1, freed_handler, f, other);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_clock_until(callout_test_told(&f->entered)));
	callout_timer_init_key(t, reused_timer, TIMER_PINNED, "freed", &key);
	t->expires = jiffies + FAR;
	callout_timer_add_on(t, other);
	KUNIT_EXPECT_EQ(test, co_base(t->node.cpu)->cpu, other);
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync_try(t));
	callout_test_tell(&f->go);
	callout_barrier();
	KUNIT_EXPECT_EQ(test, 0, callout_timer_shutdown_sync(t));
}

/*
 * A running timer stays in the base that runs it, so that a caller that deletes it
 * sees it run. Its next setting moves it.
 */
static void timer_stays_where_it_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, TIMER_PINNED);

	probe_hold_on(test, p, other);
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies + FAR));
	KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
	KUNIT_EXPECT_EQ(test, -1, callout_timer_delete_sync_try(&p->t));
	KUNIT_EXPECT_TRUE(test, callout_timer_pending(&p->t));
	callout_test_tell(&p->go);
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync(&p->t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies + FAR));
	KUNIT_EXPECT_EQ(test, base_of(p)->cpu, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, atomic_read(&p->runs), 1);
}

/* A running timer that is set on a CPU moves there when its handler is over. */
static void timer_leaves_when_it_has_run(struct kunit *test)
{
	/* A mistake could leave out CPU 0. */
	unsigned int this = cpumask_first(cpu_online_mask);
	unsigned int other = cpumask_last(cpu_online_mask);
	struct probe *p = probe_create(test, 0);

	if (this == other)
		kunit_skip(test, "needs two CPUs");
	callout_test_pin(test, this);
	probe_hold_on(test, p, other);
	p->t.expires = jiffies + FAR;
	callout_timer_add_on(&p->t, this);
	KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
	/* A timer that is taken out and set again stays, unless it is set on a CPU once more. */
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies + FAR));
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	callout_timer_add_on(&p->t, this);
	callout_test_tell(&p->go);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_spin_until(base_of(p)->cpu == this));
	KUNIT_EXPECT_TRUE(test, callout_timer_pending(&p->t));
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync(&p->t));
}

static void pinning_handler(struct callout_timer *t)
{
	probe_handler(t);
	t->expires = jiffies + FAR;
	callout_timer_add_local(t);
}

/* A timer pinned by its own handler leaves the base that any CPU may run. */
static void timer_pinned_by_its_handler(struct kunit *test)
{
	struct probe *p = probe_create(test, 0);
	struct callout_base *base;

	callout_test_pin_one(test);
	p->t.function = pinning_handler;
	p->t.expires = jiffies;
	callout_timer_add(&p->t);
	KUNIT_EXPECT_TRUE(test, callout_test_clock_until(atomic_read(&p->runs)));
	callout_barrier();
	base = base_of(p);
	KUNIT_EXPECT_TRUE(test, callout_timer_pending(&p->t));
	KUNIT_EXPECT_TRUE(test,
			  co_base_has_class(base, CALLOUT_CLASS_KERNEL));
	KUNIT_EXPECT_EQ(test, base->cpu, p->cpu);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->runs), 1);
}

static unsigned int offline;

static void offline_handler(struct callout_timer *t)
{
	t->expires = jiffies + FAR;
	callout_timer_add_on(t, offline);
	probe_handler(t);
}

/*
 * A timer that its handler sets on an offline CPU nevertheless leaves the base that
 * any CPU may run.
 */
static void timer_set_by_its_handler_on_an_offline_cpu(struct kunit *test)
{
	struct callout_base *base;
	struct probe *p;

	offline = cpumask_last(cpu_online_mask);
	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !offline)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	p = probe_create(test, 0);
	p->t.function = offline_handler;
	p->t.expires = jiffies;
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(offline));
	callout_timer_add(&p->t);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(atomic_read(&p->runs)));
	callout_barrier();
	base = base_of(p);
	KUNIT_EXPECT_TRUE(test, callout_timer_pending(&p->t));
	KUNIT_EXPECT_TRUE(test,
			  co_base_has_class(base, CALLOUT_CLASS_KERNEL));
	KUNIT_EXPECT_NE(test, base->cpu, offline);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(offline));
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
}

/* A timer that was deleted while it ran does not move to another CPU. */
static void timer_deleted_does_not_leave(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, 0);

	probe_hold_on(test, p, other);
	p->t.expires = jiffies + FAR;
	callout_timer_add_on(&p->t, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete(&p->t));
	callout_test_tell(&p->go);
	KUNIT_EXPECT_EQ(test, 0, callout_timer_delete_sync(&p->t));
	KUNIT_EXPECT_FALSE(test, callout_timer_pending(&p->t));
	KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
}

/* A timer that is moved to another time before it leaves stays where it runs. */
static void timer_moved_does_not_leave(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, 0);

	probe_hold_on(test, p, other);
	p->t.expires = jiffies + FAR;
	callout_timer_add_on(&p->t, raw_smp_processor_id());
	KUNIT_EXPECT_EQ(test, 1, callout_timer_mod(&p->t, jiffies + FAR + 1));
	callout_test_tell(&p->go);
	callout_barrier();
	KUNIT_EXPECT_EQ(test, base_of(p)->cpu, other);
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync(&p->t));
}

/* Once shut down a timer is not set, neither while it runs nor later. */
static void timer_shut_down_while_it_runs(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, 0);

	probe_hold_on(test, p, other);
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies + FAR));
	KUNIT_EXPECT_EQ(test, 1, callout_timer_shutdown(&p->t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies));
	callout_timer_add(&p->t);
	callout_timer_add_on(&p->t, other);
	KUNIT_EXPECT_FALSE(test, callout_timer_pending(&p->t));
	callout_test_tell(&p->go);
	KUNIT_EXPECT_EQ(test, 0, callout_timer_shutdown_sync(&p->t));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies));
	KUNIT_EXPECT_EQ(test, 0, callout_timer_reduce(&p->t, jiffies));
	KUNIT_EXPECT_FALSE(test, callout_timer_pending(&p->t));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->runs), 1);
	/* Initialising it again ends the shutdown. */
	probe_init(p, 0);
	p->holds = false;
	KUNIT_EXPECT_EQ(test, 0, callout_timer_mod(&p->t, jiffies));
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&p->runs) == 2));
}

/* The handler initialises its own timer, sets it, and continues. */
static void again_handler(struct callout_timer *t)
{
	struct probe *p = container_of(t, struct probe, t);
	u64 end;

	probe_init(p, TIMER_PINNED);
	callout_timer_mod(t, jiffies + FAR);
	callout_test_tell(&p->entered);
	callout_test_clock_until(callout_test_told(&p->go));
	end = ktime_get_ns() + NSEC_PER_MSEC;
	while (ktime_get_ns() < end)
		cpu_relax();
	atomic_inc(&p->runs);
}

/* Callers still wait for a handler that has initialised its own timer. */
static void timer_initialised_by_its_handler(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct probe *p = probe_create(test, TIMER_PINNED);

	p->t.function = again_handler;
	probe_hold_on(test, p, other);
	KUNIT_EXPECT_EQ(test, -1, callout_timer_delete_sync_try(&p->t));
	callout_test_tell(&p->go);
	KUNIT_EXPECT_EQ(test, 1, callout_timer_delete_sync(&p->t));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->runs), 1);
}

#define SETUP_NS	(20 * NSEC_PER_MSEC)

/**
 * struct setup - a node that a thread initialises again and again
 * @n: the node
 * @begun: the node has been initialised
 * @end: the thread may return
 */
struct setup {
	struct callout_node n;
	bool begun;
	bool end;
};

static void setup_thread(void *arg)
{
	struct setup *s = arg;
	unsigned int i;

	while (!callout_test_told(&s->end)) {
		for (i = 0; i < 1000; i++)
			co_setup(&s->n, CALLOUT_KIND_TIMER,
				 CALLOUT_INDEX_TEST);
		callout_test_tell(&s->begun);
		cond_resched();
	}
}

/* A node initialised again for its present base is at no time in another base. */
static void timer_keeps_its_base_when_initialised(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), wrong = 0;
	struct callout_test_thread *t;
	struct setup *s;
	u64 end;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	t = callout_test_thread(test, other, setup_thread, s);
	KUNIT_EXPECT_TRUE(test, callout_test_spin_until(callout_test_told(&s->begun)));
	end = ktime_get_ns() + SETUP_NS;
	while (ktime_get_ns() < end)
		wrong += READ_ONCE(s->n.cpu) != CALLOUT_INDEX_TEST;
	callout_test_tell(&s->end);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static struct kunit_case timer_running_cases[] = {
	KUNIT_CASE(timer_runs_at_its_jiffy),
	KUNIT_CASE(timer_static),
	KUNIT_CASE(timer_irqsafe_in_turn),
	KUNIT_CASE(timer_among_callouts),
	KUNIT_CASE(timer_where_a_callout_waited),
	KUNIT_CASE(timer_where_a_callout_runs),
	KUNIT_CASE(timer_stays_where_it_runs),
	KUNIT_CASE(timer_leaves_when_it_has_run),
	KUNIT_CASE(timer_pinned_by_its_handler),
	KUNIT_CASE_SLOW(timer_set_by_its_handler_on_an_offline_cpu),
	KUNIT_CASE(timer_deleted_does_not_leave),
	KUNIT_CASE(timer_moved_does_not_leave),
	KUNIT_CASE(timer_shut_down_while_it_runs),
	KUNIT_CASE(timer_initialised_by_its_handler),
	KUNIT_CASE(timer_keeps_its_base_when_initialised),
	{}
};

static struct kunit_suite timer_running_suite = {
	.name = "callout_timer_running",
	.test_cases = timer_running_cases,
};

kunit_test_suite(timer_running_suite);
