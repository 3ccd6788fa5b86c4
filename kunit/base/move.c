// SPDX-License-Identifier: GPL-2.0
/*
 * move.c - suite callout_move: a callout between the bases of two CPUs
 *
 * A migration takes the locks of the two bases one after the other. The case holds
 * the second lock, so that the callout stays between the two bases.
 */
#include "core/cpu.h"
#include "lib/virtual.h"

struct moving;

/**
 * struct moving_call - a call made while the callout is between two bases
 * @desc: name of the call
 * @call: makes the call
 * @pending: whether the callout is pending after the call
 */
struct moving_call {
	const char *desc;
	int (*call)(struct moving *m);
	bool pending;
};

/**
 * struct moving - a callout that one thread moves while another uses it
 * @item: the callout
 * @call: the call of the second thread
 * @home: the CPU to which it moves, whose base is locked
 * @cpu: the CPUs of the two threads
 * @ready: how many threads wait to begin
 * @move: the first thread may begin
 * @meet: the second thread may begin
 * @begins: the second thread is about to call
 * @returns: the call has returned
 * @moved: what callout_reset_on() returned to the first thread
 * @ret: what the call returned to the second thread
 */
struct moving {
	struct callout_item item;
	const struct moving_call *call;
	unsigned int home;
	unsigned int cpu[2];
	atomic_t ready;
	bool move;
	bool meet;
	bool begins;
	bool returns;
	int moved;
	int ret;
};

static int moving_reset_to(struct moving *m, unsigned int cpu)
{
	return callout_reset_on(&m->item.c, CALLOUT_TEST_FAR, callout_virtual_handler,
				&m->item, cpu);
}

static int moving_stop(struct moving *m)
{
	return callout_stop(&m->item.c);
}

static int moving_drain(struct moving *m)
{
	return callout_drain(&m->item.c);
}

static int moving_reset(struct moving *m)
{
	return callout_virtual_set(&m->item, CALLOUT_TEST_FAR);
}

/* A second migration before the first has ended. */
static int moving_reset_on(struct moving *m)
{
	return moving_reset_to(m, m->cpu[0]);
}

static const struct moving_call moving_calls[] = {
	{ "stop", moving_stop, false },
	{ "drain", moving_drain, false },
	{ "reset", moving_reset, true },
	{ "reset_on", moving_reset_on, true },
};

static void moving_desc(const struct moving_call *call, char *desc)
{
	strscpy(desc, call->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(moving, moving_calls, moving_desc);

static void moving_mover(void *arg)
{
	struct moving *m = arg;

	atomic_inc(&m->ready);
	if (callout_test_spin_until(READ_ONCE(m->move)))
		m->moved = moving_reset_to(m, m->home);
}

static void moving_meeter(void *arg)
{
	struct moving *m = arg;

	atomic_inc(&m->ready);
	if (!callout_test_spin_until(READ_ONCE(m->meet)))
		return;
	WRITE_ONCE(m->begins, true);
	m->ret = m->call->call(m);
	WRITE_ONCE(m->returns, true);
}

static void moving_end(void *arg)
{
	struct moving *m = arg;

	callout_drain(&m->item.c);
}

static struct moving *moving_create(struct kunit *test)
{
	struct moving *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->call = test->param_value;
	callout_test_pin_two(test, m->cpu);
	m->home = raw_smp_processor_id();
	m->moved = -100;
	m->ret = -100;
	callout_virtual_item(test->priv, &m->item);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, moving_end, m));
	return m;
}

/*
 * A callout between two bases stays pending. A call on it waits for the new base,
 * and finds it pending there. The case holds that base's lock.
 */
static void move_met(struct kunit *test)
{
	struct moving *m = moving_create(test);
	struct callout *c = &m->item.c;
	struct callout_base *base = co_base(m->home);
	struct callout_virtual *v = test->priv;
	struct callout_test_thread *mover, *meeter;
	bool moving, pending, begins, returns;
	unsigned int i;

	callout_virtual_set(&m->item, 5);
	mover = callout_test_thread(test, m->cpu[0], moving_mover, m);
	meeter = callout_test_thread(test, m->cpu[1], moving_meeter, m);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(atomic_read(&m->ready) == 2));

	raw_spin_lock_irq(&base->lock);
	WRITE_ONCE(m->move, true);
	moving = callout_test_clock_until(READ_ONCE(c->node.cpu) == CALLOUT_CPU_MOVING);
	pending = callout_pending(c);
	WRITE_ONCE(m->meet, true);
	begins = callout_test_clock_until(READ_ONCE(m->begins));
	for (i = 0; i < 100000 && !READ_ONCE(m->returns); i++)
		cpu_relax();
	returns = READ_ONCE(m->returns);
	raw_spin_unlock_irq(&base->lock);

	KUNIT_EXPECT_TRUE(test, moving);
	KUNIT_EXPECT_TRUE(test, pending);
	KUNIT_EXPECT_TRUE(test, begins);
	KUNIT_EXPECT_FALSE(test, returns);
	KUNIT_ASSERT_TRUE(test, callout_test_join(mover));
	KUNIT_ASSERT_TRUE(test, callout_test_join(meeter));
	KUNIT_EXPECT_EQ(test, m->moved, 1);
	KUNIT_EXPECT_EQ(test, m->ret, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_EQ(test, c->node.cpu, m->call->call == moving_reset_on ?
				      m->cpu[0] : m->home);
	KUNIT_EXPECT_EQ(test, callout_pending(c), m->call->pending);
	KUNIT_EXPECT_EQ(test, callout_stop(c), m->call->pending ? 1 : -1);
	KUNIT_EXPECT_EQ(test, m->item.runs, 0);
}

/**
 * struct leaver - a callout that is armed for another CPU while its handler
 * runs
 * @c: the callout
 * @home: the other CPU
 * @begun: the handler has armed the callout
 * @go: the handler may return
 */
struct leaver {
	struct callout c;
	unsigned int home;
	bool begun;
	bool go;
};

static void leaver_handler(void *arg)
{
	struct leaver *l = arg;

	callout_reset_on(&l->c, CALLOUT_TEST_FAR, leaver_handler, l, l->home);
	callout_test_tell(&l->begun);
	callout_test_spin_until(callout_test_told(&l->go));
}

static void leaver_end(void *arg)
{
	struct leaver *l = arg;

	callout_drain(&l->c);
}

/* A callout that migrates after its handler stays pending throughout. */
static void move_after_handler(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct leaver *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct callout_base *base;
	bool moving, pending;

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->home = raw_smp_processor_id();
	base = co_base(l->home);
	callout_init(&l->c, CALLOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, leaver_end, l));
	callout_reset_on(&l->c, 1, leaver_handler, l, other);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_told(&l->begun)));

	raw_spin_lock_irq(&base->lock);
	callout_test_tell(&l->go);
	moving = callout_test_clock_until(READ_ONCE(l->c.node.cpu) == CALLOUT_CPU_MOVING);
	pending = callout_pending(&l->c);
	raw_spin_unlock_irq(&base->lock);

	KUNIT_EXPECT_TRUE(test, moving);
	KUNIT_EXPECT_TRUE(test, pending);
	KUNIT_EXPECT_EQ(test, callout_stop(&l->c), 1);
	KUNIT_EXPECT_EQ(test, l->c.node.cpu, l->home);
}

static DEFINE_SPINLOCK(put_off_lock);

/* Callouts that wait for a contended lock when their CPU dies move in order, some at a time. */
static void move_of_put_off(struct kunit *test)
{
	enum { N = CALLOUT_BUDGET + 3 };
	struct callout_virtual *v = test->priv;
	struct callout_item *a = callout_virtual_items(test, N);
	unsigned int i, left, cpu = raw_smp_processor_id();
	struct callout_base *to = co_base(cpu);
	bool more, again;

	callout_test_need_spinlocks(test);
	if (!co_is_wheel(to))
		kunit_skip(test, "looks at the order of a bucket");
	callout_test_pin(test, cpu);
	/* They must not be due in the other base, whose time is another. */
	v->now = max(v->now, co_now(to) + CALLOUT_TEST_FAR);
	spin_lock_bh(&put_off_lock);
	for (i = 0; i < N; i++) {
		callout_init_mtx(&a[i].c, &put_off_lock, CALLOUT_TRYLOCK);
		a[i].c.node.cpu = CALLOUT_VIRTUAL;
		callout_virtual_set(&a[i], 1);
	}
	v->now++;
	co_expire(v->base);
	local_irq_disable();
	co_base_lock(to);
	co_base_lock_nested(v->base);
	more = co_take_over(v->base, to);
	left = co_base_pending(v->base);
	again = co_take_over(v->base, to);
	co_base_unlock(v->base);
	co_base_unlock(to);
	local_irq_enable();
	spin_unlock_bh(&put_off_lock);
	KUNIT_EXPECT_TRUE(test, more);
	KUNIT_EXPECT_EQ(test, left, 3);
	KUNIT_EXPECT_FALSE(test, again);
	for (i = 1; i < N; i++)
		KUNIT_EXPECT_PTR_EQ(test, a[i].c.node.entry.prev, &a[i - 1].c.node.entry);
	for (i = 0; i < N; i++)
		KUNIT_EXPECT_EQ(test, callout_drain(&a[i].c), 1);
}

static struct kunit_case move_cases[] = {
	KUNIT_CASE_PARAM(move_met, moving_gen_params),
	KUNIT_CASE(move_after_handler),
	KUNIT_CASE(move_of_put_off),
	{}
};

static struct kunit_suite move_suite = {
	.name = "callout_move",
	.init = callout_virtual_init,
	.test_cases = move_cases,
};

kunit_test_suite(move_suite);
