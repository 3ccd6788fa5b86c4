// SPDX-License-Identifier: GPL-2.0
/*
 * irqlock.c - suite callout_irqlock: associated locks that interrupts take too
 *
 * The handler raises an interrupt on its own CPU. The interrupt only tries to take
 * the lock, so that a wrong handler fails and does not hang.
 */
#include <linux/bottom_half.h>
#include <linux/irq_work.h>
#include "core/associated.h"
#include "lib/softirq.h"

/**
 * struct meeting - a callout with a lock, and an interrupt that takes it
 * @item: the callout
 * @raw: the lock, if it is a raw spinlock
 * @lock: the lock, if it is a spinlock
 * @rwlock: the lock, if it is a rwlock
 * @work: the interrupt
 * @flags: callout.node.flags
 * @in_handler: the handler runs
 * @irqs_off: the handler runs with interrupts off
 * @met: the interrupt came while the handler ran
 * @came: how often the interrupt came
 * @contended: how often the interrupt did not get the lock
 * @stopped: the return value of the interrupt's stop; the callout is set again
 */
struct meeting {
	struct callout_item item;
	raw_spinlock_t raw;	/* associated locks, one of these */
	spinlock_t lock;	/* see above */
	rwlock_t rwlock;
	struct irq_work work;
	u8 flags;
	bool in_handler;
	bool irqs_off;
	bool met;
	unsigned int came;
	unsigned int contended;
	int stopped;
};

static void *meeting_lock(struct meeting *m)
{
	switch (m->flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		return &m->lock;
	case CALLOUT_L_RAW:
		return &m->raw;
	default:
		return &m->rwlock;
	}
}

static void meeting_interrupt(struct irq_work *work)
{
	struct meeting *m = container_of(work, struct meeting, work);
	u8 type = m->flags & CALLOUT_L_TYPES;
	void *lock = meeting_lock(m);

	m->came++;
	m->met |= m->in_handler;
	/* As the tick, the interrupt finds out how long interrupts were off. */
	m->item.v->jiffies += CALLOUT_SLOW_EDGES;
	/* A stop needs the lock for writing. */
	if (type == CALLOUT_SHAREDLOCK)
		type = CALLOUT_L_WRITE;
	if (!co_associated_trylock(lock, type)) {
		m->contended++;
		return;
	}
	__acquire(lock);	/* for sparse */
	m->stopped = callout_stop(&m->item.c);
	co_associated_unlock(lock, type);
}

static void meeting_then(struct callout_item *item)
{
	struct meeting *m = container_of(item, struct meeting, item);
	u64 end = ktime_get_ns() + NSEC_PER_MSEC;
	void *lock = meeting_lock(m);

	m->in_handler = true;
	m->irqs_off = irqs_disabled();
	callout_virtual_set(item, 1);
	irq_work_queue(&m->work);
	/* Time for the interrupt, which comes at once if interrupts are on. */
	while (ktime_get_ns() < end)
		cpu_relax();
	m->in_handler = false;
	if (!(m->flags & CALLOUT_RETURNUNLOCKED))
		return;
	__acquire(lock);	/* acquired by the core; for sparse */
	co_associated_unlock(lock, m->flags);
}

static const u8 lock_types[] = {
	CALLOUT_L_SPIN, CALLOUT_L_RAW, CALLOUT_L_WRITE, CALLOUT_SHAREDLOCK,
	CALLOUT_L_SPIN | CALLOUT_TRYLOCK,
	CALLOUT_L_RAW | CALLOUT_TRYLOCK,
	CALLOUT_L_WRITE | CALLOUT_TRYLOCK,
	CALLOUT_SHAREDLOCK | CALLOUT_TRYLOCK,
	CALLOUT_L_SPIN | CALLOUT_RETURNUNLOCKED,
	CALLOUT_L_RAW | CALLOUT_RETURNUNLOCKED,
	CALLOUT_L_RAW | CALLOUT_RETURNUNLOCKED | CALLOUT_TRYLOCK,
};

static void lock_desc(const u8 *type, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s%s",
		 (*type & CALLOUT_L_TYPES) == CALLOUT_L_SPIN ? "spinlock" :
		 (*type & CALLOUT_L_TYPES) == CALLOUT_L_RAW ? "raw spinlock" :
		 *type & CALLOUT_L_WRITE ? "write lock" : "read lock",
		 *type & CALLOUT_TRYLOCK ? ", tried" : "",
		 *type & CALLOUT_RETURNUNLOCKED ? ", returns unlocked" : "");
}

KUNIT_ARRAY_PARAM(lock, lock_types, lock_desc);

static struct meeting *meeting_create(struct kunit *test, u8 flags)
{
	struct meeting *m;

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	raw_spin_lock_init(&m->raw);
	spin_lock_init(&m->lock);
	rwlock_init(&m->rwlock);
	m->flags = flags;
	m->stopped = -100;
	m->work = IRQ_WORK_INIT_HARD(meeting_interrupt);
	callout_virtual_item(test->priv, &m->item);
	switch (flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		callout_init_mtx(&m->item.c, &m->lock, flags);
		break;
	case CALLOUT_L_RAW:
		callout_init_raw(&m->item.c, &m->raw, flags);
		break;
	default:
		callout_init_rw(&m->item.c, &m->rwlock, flags);
	}
	m->item.c.node.cpu = CALLOUT_VIRTUAL;
	m->item.then = meeting_then;
	return m;
}

/* Set and run the callout of @m. Return whether interrupts are on afterwards. */
static bool meeting_run(struct meeting *m)
{
	u8 type = m->flags & CALLOUT_L_TYPES;
	struct callout_virtual *v = m->item.v;
	bool on;

	local_irq_disable();
	co_associated_lock(meeting_lock(m), type);
	callout_virtual_set(&m->item, 1);
	co_associated_unlock(meeting_lock(m), type);
	local_irq_enable();
	v->now++;
	local_bh_disable();
	co_expire(v->base);
	on = !irqs_disabled();
	local_bh_enable();
	irq_work_sync(&m->work);
	return on;
}

/*
 * With CALLOUT_IRQLOCK an interrupt that takes the lock comes after the handler,
 * gets the lock, and its stop is certain. The time that has passed belongs to that
 * handler, though it is noticed only then.
 */
static void irqlock_interrupt_waits(struct kunit *test)
{
	u8 flags = *(const u8 *)test->param_value | CALLOUT_IRQLOCK;
	struct meeting *m;
	bool on;

	if (!co_associated_irqs_off(flags))
		kunit_skip(test, "a sleeping lock");
	callout_test_need_interrupts(test);
	callout_test_pin(test, raw_smp_processor_id());
	m = meeting_create(test, flags);
	on = meeting_run(m);
	KUNIT_EXPECT_TRUE(test, on);
	KUNIT_EXPECT_EQ(test, m->item.runs, 1);
	KUNIT_EXPECT_TRUE(test, m->irqs_off);
	KUNIT_EXPECT_FALSE(test, m->met);
	KUNIT_EXPECT_EQ(test, m->came, 1);
	KUNIT_EXPECT_EQ(test, m->contended, 0);
	KUNIT_EXPECT_EQ(test, m->item.v->base->stats.slow, 1);
	/* Between the release of the lock and the end of the handler the stop returns 0. */
	if (m->flags & CALLOUT_RETURNUNLOCKED)
		KUNIT_EXPECT_EQ(test, m->stopped, 0);
	else
		KUNIT_EXPECT_EQ(test, m->stopped, 1);
	KUNIT_EXPECT_FALSE(test, callout_pending(&m->item.c));
}

/* Without CALLOUT_IRQLOCK the interrupt comes while the handler runs, holding the lock. */
static void irqlock_without(struct kunit *test)
{
	u8 flags = *(const u8 *)test->param_value;
	struct meeting *m;
	bool on;

	callout_test_need_interrupts(test);
	callout_test_need_spinlocks(test);
	callout_test_pin(test, raw_smp_processor_id());
	m = meeting_create(test, flags);
	on = meeting_run(m);
	KUNIT_EXPECT_TRUE(test, on);
	KUNIT_EXPECT_EQ(test, m->item.runs, 1);
	KUNIT_EXPECT_FALSE(test, m->irqs_off);
	KUNIT_EXPECT_TRUE(test, m->met);
	KUNIT_EXPECT_EQ(test, m->contended, 1);
	KUNIT_EXPECT_EQ(test, m->item.v->base->stats.slow, 1);
	KUNIT_EXPECT_TRUE(test, callout_pending(&m->item.c));
}

static struct kunit_case irqlock_cases[] = {
	KUNIT_CASE_PARAM(irqlock_interrupt_waits, lock_gen_params),
	KUNIT_CASE_PARAM(irqlock_without, lock_gen_params),
	{}
};

static struct kunit_suite irqlock_suite = {
	.name = "callout_irqlock",
	.init = callout_virtual_init,
	.test_cases = irqlock_cases,
};

kunit_test_suite(irqlock_suite);
