// SPDX-License-Identifier: GPL-2.0
/*
 * netbsd.c - suite callout_netbsd: what NetBSD's callout(9) promises
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "lib/virtual.h"
/* Some names below are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/netbsd/sys/callout.h>

#define DISTANCE	5

/**
 * struct nb - a callout and what its handler has seen
 * @c: the callout
 * @v: the callout's base, or NULL
 * @lock: the handler takes it if @locks
 * @locks: see above
 * @asked: another thread must set @go
 * @go: the handler may return
 * @waits: the handler waits for @go
 * @again: the handler sets the callout again
 * @halts: the handler halts the callout
 * @begun: how often the handler has begun
 * @done: how often the handler has ended
 * @cpu: the CPU on which it has run
 * @pending: return value of callout_pending() in the handler
 * @expired: return value of callout_expired() in the handler
 * @invoking: return value of callout_invoking() in the handler
 * @halted: return value of callout_halt() in the handler
 */
struct nb {
	callout_t c;
	struct callout_virtual *v;
	spinlock_t lock;	/* see above */
	bool locks;
	bool asked;
	bool go;
	bool waits;
	bool again;
	bool halts;
	unsigned int begun;
	unsigned int done;
	unsigned int cpu;
	bool pending;
	bool expired;
	bool invoking;
	bool halted;
};

static void nb_handler(void *arg)
{
	struct nb *n = arg;

	n->cpu = raw_smp_processor_id();
	n->pending = callout_pending(&n->c);
	n->expired = callout_expired(&n->c);
	n->invoking = callout_invoking(&n->c);
	if (n->again)
		callout_schedule(&n->c, 1);
	if (n->halts)
		n->halted = callout_halt(&n->c, NULL);
	callout_test_count(&n->begun);
	if (n->locks) {
		spin_lock(&n->lock);
		spin_unlock(&n->lock);
	}
	if (n->waits)
		callout_test_spin_until(callout_test_told(&n->go));
	callout_test_count(&n->done);
}

/* Create a callout that runs on the CPUs' bases. */
static struct nb *nb_real(struct kunit *test, unsigned int flags)
{
	struct nb *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	spin_lock_init(&n->lock);
	callout_init(&n->c, flags);
	callout_setfunc(&n->c, nb_handler, n);
	callout_test_drains_work(test, &n->c.w);
	return n;
}

/* Create a callout on the base whose time the case sets. */
static struct nb *nb_virtual(struct kunit *test)
{
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);

	n->v = test->priv;
	n->c.bound = true;
	n->c.w.cpu = CALLOUT_WORK_STAY;
	n->c.w.c.node.cpu = CALLOUT_VIRTUAL;
	return n;
}

static void nb_run(struct nb *n)
{
	callout_schedule(&n->c, DISTANCE);
	callout_virtual_run_to(n->v, n->v->now + DISTANCE);
}

static void nb_drop(struct nb *n)
{
	callout_halt(&n->c, NULL);
	callout_destroy(&n->c);
}

static bool nb_end(struct nb *n, bool halt)
{
	return halt ? callout_halt(&n->c, NULL) : callout_stop(&n->c);
}

/*
 * Stop and halt return, once, whether the handler has started since the callout was
 * set. Afterwards the callout is neither pending nor expired nor active.
 */
static void netbsd_returns(struct kunit *test)
{
	struct nb *n = nb_virtual(test);
	unsigned int halt;

	for (halt = 0; halt < 2; halt++) {
		bool fired;

		/* The callout was never set, or was stopped. */
		fired = nb_end(n, halt);
		KUNIT_EXPECT_FALSE(test, fired);
		callout_reset(&n->c, DISTANCE, nb_handler, n);
		fired = nb_end(n, halt);
		KUNIT_EXPECT_FALSE(test, fired);
		callout_virtual_run_to(n->v, n->v->now + DISTANCE);
		KUNIT_EXPECT_EQ(test, n->begun, halt);
		nb_run(n);
		KUNIT_EXPECT_EQ(test, n->begun, halt + 1);
		fired = nb_end(n, halt);
		KUNIT_EXPECT_TRUE(test, fired);
		KUNIT_EXPECT_FALSE(test, callout_pending(&n->c));
		KUNIT_EXPECT_FALSE(test, callout_expired(&n->c));
		KUNIT_EXPECT_FALSE(test, callout_active(&n->c));
		fired = nb_end(n, halt);
		KUNIT_EXPECT_FALSE(test, fired);
	}
	nb_drop(n);
}

/*
 * A callout that is set is pending and active. From its handler's start it is
 * expired and active.
 */
static void netbsd_states(struct kunit *test)
{
	struct nb *n = nb_virtual(test);

	KUNIT_EXPECT_FALSE(test, callout_active(&n->c));
	callout_schedule(&n->c, DISTANCE);
	KUNIT_EXPECT_TRUE(test, callout_pending(&n->c));
	KUNIT_EXPECT_TRUE(test, callout_active(&n->c));
	KUNIT_EXPECT_FALSE(test, callout_expired(&n->c));
	KUNIT_EXPECT_FALSE(test, callout_invoking(&n->c));
	callout_virtual_run_to(n->v, n->v->now + DISTANCE);
	KUNIT_ASSERT_EQ(test, n->begun, 1);
	KUNIT_EXPECT_FALSE(test, n->pending);
	KUNIT_EXPECT_TRUE(test, n->expired);
	KUNIT_EXPECT_TRUE(test, n->invoking);
	KUNIT_EXPECT_FALSE(test, callout_pending(&n->c));
	KUNIT_EXPECT_TRUE(test, callout_expired(&n->c));
	KUNIT_EXPECT_TRUE(test, callout_active(&n->c));
	/* A callout that is set again is not expired. */
	callout_schedule(&n->c, DISTANCE);
	KUNIT_EXPECT_FALSE(test, callout_expired(&n->c));
	KUNIT_EXPECT_FALSE(test, callout_invoking(&n->c));
	KUNIT_EXPECT_FALSE(test, callout_stop(&n->c));
	nb_drop(n);
}

/* Invoking ends with an acknowledgment or a setting, but not with a stop. */
static void netbsd_ack(struct kunit *test)
{
	struct nb *n = nb_virtual(test);

	nb_run(n);
	KUNIT_EXPECT_TRUE(test, callout_invoking(&n->c));
	callout_stop(&n->c);
	KUNIT_EXPECT_TRUE(test, callout_invoking(&n->c));
	callout_ack(&n->c);
	KUNIT_EXPECT_FALSE(test, callout_invoking(&n->c));
	nb_run(n);
	KUNIT_EXPECT_TRUE(test, callout_invoking(&n->c));
	callout_ack(&n->c);
	/* An acknowledgment does not make the callout less expired. */
	KUNIT_EXPECT_TRUE(test, callout_expired(&n->c));
	callout_schedule(&n->c, DISTANCE);
	KUNIT_EXPECT_FALSE(test, callout_invoking(&n->c));
	nb_drop(n);
}

static void nb_other(void *arg)
{
	struct nb *n = arg;

	n->done += 100;
}

/* A schedule keeps function and argument; a setfunc or a reset changes them. */
static void netbsd_setfunc(struct kunit *test)
{
	struct nb *n = nb_virtual(test);

	nb_run(n);
	KUNIT_EXPECT_EQ(test, n->done, 1);
	callout_setfunc(&n->c, nb_other, n);
	nb_run(n);
	KUNIT_EXPECT_EQ(test, n->done, 101);
	callout_reset(&n->c, DISTANCE, nb_handler, n);
	callout_virtual_run_to(n->v, n->v->now + DISTANCE);
	KUNIT_EXPECT_EQ(test, n->done, 102);
	nb_run(n);
	KUNIT_EXPECT_EQ(test, n->done, 103);
	nb_drop(n);
}

/* A callout runs at the n-th tick, and 0 counts as 1. Set again, it runs at the later time. */
static void netbsd_ticks(struct kunit *test)
{
	struct nb *n = nb_virtual(test);
	u64 now = n->v->now;

	callout_schedule(&n->c, DISTANCE);
	callout_schedule(&n->c, DISTANCE + 2);
	callout_virtual_run_to(n->v, now + DISTANCE + 1);
	KUNIT_EXPECT_EQ(test, n->begun, 0);
	callout_virtual_run_to(n->v, now + DISTANCE + 2);
	KUNIT_EXPECT_EQ(test, n->begun, 1);
	callout_schedule(&n->c, 0);
	callout_virtual_run_to(n->v, n->v->now + 1);
	KUNIT_EXPECT_EQ(test, n->begun, 2);
	nb_drop(n);
}

/* Set a callout on another CPU, and wait until its handler has begun. */
static void nb_start(struct kunit *test, struct nb *n, unsigned int cpu)
{
	callout_bind(&n->c, cpu);
	n->go = false;
	n->begun = 0;
	n->done = 0;
	callout_schedule(&n->c, 1);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&n->begun)));
}

/*
 * Called by the callout's own handler halt does not wait, returns that the callout
 * has expired, and stops it.
 */
static void netbsd_halt_own(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);

	n->again = true;
	n->halts = true;
	nb_start(test, n, other);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(n->done)));
	/* The previous handler had set the callout again, so it has not expired. */
	KUNIT_EXPECT_FALSE(test, n->halted);
	KUNIT_EXPECT_FALSE(test, callout_active(&n->c));
	n->again = false;
	nb_start(test, n, other);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(n->done)));
	KUNIT_EXPECT_TRUE(test, n->halted);
	KUNIT_EXPECT_FALSE(test, callout_active(&n->c));
	nb_drop(n);
}

/* This needs its own thread: while a handler spins no thread can be created. */
static void nb_tell_later(void *arg)
{
	struct nb *n = arg;

	callout_test_wait_until(callout_test_told(&n->asked));
	usleep_range(2000, 3000);
	callout_test_tell(&n->go);
}

/* Halt waits until the handler has returned, and stop does not. */
static void netbsd_halt_waits(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);
	struct callout_test_thread *t;

	n->waits = true;
	t = callout_test_thread(test, raw_smp_processor_id(), nb_tell_later, n);
	nb_start(test, n, other);
	KUNIT_EXPECT_TRUE(test, callout_stop(&n->c));
	KUNIT_EXPECT_EQ(test, n->done, 0);
	/* The callout is no longer expired, but there is a handler to wait for. */
	callout_test_tell(&n->asked);
	KUNIT_EXPECT_FALSE(test, callout_halt(&n->c, NULL));
	KUNIT_EXPECT_EQ(test, n->done, 1);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	nb_drop(n);
}

/*
 * While halt waits it has released the interlock, here a spinlock, which the
 * handler takes. When halt returns the caller holds the interlock.
 */
static void netbsd_interlock_spin(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);

	n->locks = true;
	spin_lock_bh(&n->lock);
	callout_bind(&n->c, other);
	callout_schedule(&n->c, 1);
	callout_test_spin_until(callout_test_counted(&n->begun));
	KUNIT_EXPECT_EQ(test, n->begun, 1);
	KUNIT_EXPECT_EQ(test, n->done, 0);
	KUNIT_EXPECT_TRUE(test, callout_halt(&n->c, &n->lock));
	KUNIT_EXPECT_EQ(test, n->done, 1);
	lockdep_assert_held(&n->lock);
	/* There is nothing to wait for: the interlock stays locked. */
	KUNIT_EXPECT_FALSE(test, callout_halt(&n->c, &n->lock));
	spin_unlock_bh(&n->lock);
	nb_drop(n);
}

/**
 * struct nb_user - a thread that takes a mutex
 * @n: the callout
 * @mutex: the mutex
 */
struct nb_user {
	struct nb *n;
	struct mutex mutex;	/* see above */
};

static void nb_lock_and_tell(void *arg)
{
	struct nb_user *u = arg;

	callout_test_wait_until(callout_test_told(&u->n->asked));
	mutex_lock(&u->mutex);
	callout_test_tell(&u->n->go);
	mutex_unlock(&u->mutex);
}

/*
 * As netbsd_interlock_spin(), with a mutex. Another thread, which ends the handler,
 * waits for the mutex.
 */
static void netbsd_interlock_mutex(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);
	struct callout_test_thread *t;
	struct nb_user *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, u);
	u->n = n;
	mutex_init(&u->mutex);
	n->waits = true;
	t = callout_test_thread(test, raw_smp_processor_id(), nb_lock_and_tell,
				u);
	mutex_lock(&u->mutex);
	nb_start(test, n, other);
	callout_test_tell(&n->asked);
	KUNIT_EXPECT_TRUE(test, callout_halt(&n->c, &u->mutex));
	KUNIT_EXPECT_EQ(test, n->done, 1);
	KUNIT_EXPECT_TRUE(test, callout_test_told(&n->go));
	KUNIT_EXPECT_TRUE(test, mutex_is_locked(&u->mutex));
	mutex_unlock(&u->mutex);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	nb_drop(n);
}

/* Halt ends a callout whose handler sets it again each time. */
static void netbsd_halt_ends_it(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, done;
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);

	n->again = true;
	for (i = 0; i < 20; i++) {
		nb_start(test, n, other);
		callout_halt(&n->c, NULL);
		done = READ_ONCE(n->done);
		KUNIT_EXPECT_FALSE(test, callout_active(&n->c));
		usleep_range(3000, 4000);
		KUNIT_ASSERT_EQ(test, READ_ONCE(n->begun), done);
	}
	nb_drop(n);
}

/* A callout runs on the CPU that sets it, unless it is bound. */
static void netbsd_cpu(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	unsigned int this = raw_smp_processor_id();
	struct nb *n = nb_real(test, CALLOUT_MPSAFE);

	if (co_base(this) == co_base(other))
		kunit_skip(test, "needs a base for each CPU");
	nb_start(test, n, other);
	KUNIT_EXPECT_EQ(test, n->cpu, other);
	callout_halt(&n->c, NULL);
	callout_init(&n->c, CALLOUT_MPSAFE);
	callout_reset(&n->c, 1, nb_handler, n);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(n->done) == 2));
	KUNIT_EXPECT_EQ(test, n->cpu, this);
	callout_halt(&n->c, NULL);
	callout_test_pin(test, other);
	callout_schedule(&n->c, 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(n->done) == 3));
	KUNIT_EXPECT_EQ(test, n->cpu, other);
	/* A pending callout stays on its CPU. */
	callout_schedule(&n->c, CALLOUT_TEST_FAR);
	callout_test_pin(test, this);
	callout_schedule(&n->c, 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(n->done) == 4));
	KUNIT_EXPECT_EQ(test, n->cpu, other);
	nb_drop(n);
}

/**
 * struct nb_pair - two callouts that are not MP safe
 * @a: the callouts
 * @inside: number of running handlers
 * @most: most handlers running at one time
 * @runs: number of runs
 */
struct nb_pair {
	callout_t a[2];
	atomic_t inside;
	int most;
	atomic_t runs;
};

static void nb_pair_handler(void *arg)
{
	struct nb_pair *p = arg;

	p->most = max(p->most, atomic_inc_return(&p->inside));
	mdelay(1);
	atomic_dec(&p->inside);
	atomic_inc(&p->runs);
}

/* Without CALLOUT_MPSAFE no two handlers run concurrently. */
static void netbsd_not_mpsafe(struct kunit *test)
{
	struct nb_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int other = callout_test_pin_one(test), i, k;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (k = 0; k < 2; k++) {
		callout_init(&p->a[k], 0);
		callout_test_drains_work(test, &p->a[k].w);
	}
	for (i = 0; i < 50; i++) {
		for (k = 0; k < 2; k++) {
			/* As if the first CPU had changed. */
			p->a[k].w.cpu = k ? other : raw_smp_processor_id();
			callout_reset(&p->a[k], 1, nb_pair_handler, p);
		}
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&p->runs) ==
							  2 * (i + 1)));
	}
	KUNIT_EXPECT_EQ(test, p->most, 1);
	for (k = 0; k < 2; k++)
		callout_halt(&p->a[k], NULL);
}

#define RACE_ROUNDS	600

/**
 * struct nb_race - a callout that is set and stopped concurrently with its expiry
 * @c: the callout
 * @v: the callout's base, whose ticks another thread makes
 * @runs: how often the handler has begun
 * @stop: no more ticks
 */
struct nb_race {
	callout_t c;
	struct callout_virtual *v;
	atomic_t runs;
	bool stop;
};

static void nb_race_handler(void *arg)
{
	struct nb_race *r = arg;

	atomic_inc(&r->runs);
}

static void nb_race_ticks(void *arg)
{
	struct nb_race *r = arg;

	while (!callout_test_told(&r->stop)) {
		callout_virtual_run_to(r->v, r->v->now + 1);
		cond_resched();
	}
}

/*
 * The result of stop says exactly whether the handler has started: at any
 * interleaving with the expiry, each setting has either run or was stopped in time.
 */
static void netbsd_exact(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, fired = 0;
	struct nb_race *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct callout_test_thread *t;
	struct rnd_state rng;

	KUNIT_ASSERT_NOT_NULL(test, r);
	callout_test_rng(test, &rng);
	r->v = test->priv;
	callout_init(&r->c, CALLOUT_MPSAFE);
	callout_setfunc(&r->c, nb_race_handler, r);
	r->c.bound = true;
	r->c.w.cpu = CALLOUT_WORK_STAY;
	r->c.w.c.node.cpu = CALLOUT_VIRTUAL;
	callout_test_drains_work(test, &r->c.w);
	t = callout_test_thread(test, other, nb_race_ticks, r);
	for (i = 0; i < callout_test_rounds(RACE_ROUNDS); i++) {
		callout_schedule(&r->c, 1);
		ndelay(callout_test_below(&rng, 2000));
		KUNIT_ASSERT_TRUE(test, callout_active(&r->c));
		fired += i % 16 ? callout_stop(&r->c) :
				  callout_halt(&r->c, NULL);
		if (i % 64 == 0)
			schedule_timeout_uninterruptible(1);
	}
	callout_halt(&r->c, NULL);
	callout_test_tell(&r->stop);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, atomic_read(&r->runs), fired);
	kunit_info(test, "%u of %u had expired\n", fired, i);
}

static struct kunit_case netbsd_cases[] = {
	KUNIT_CASE(netbsd_returns),
	KUNIT_CASE(netbsd_states),
	KUNIT_CASE(netbsd_ack),
	KUNIT_CASE(netbsd_setfunc),
	KUNIT_CASE(netbsd_ticks),
	KUNIT_CASE(netbsd_halt_own),
	KUNIT_CASE(netbsd_halt_waits),
	KUNIT_CASE(netbsd_interlock_spin),
	KUNIT_CASE(netbsd_interlock_mutex),
	KUNIT_CASE(netbsd_halt_ends_it),
	KUNIT_CASE(netbsd_cpu),
	KUNIT_CASE(netbsd_not_mpsafe),
	KUNIT_CASE_SLOW(netbsd_exact),
	{}
};

static struct kunit_suite netbsd_suite = {
	.name = "callout_netbsd",
	.init = callout_virtual_init,
	.test_cases = netbsd_cases,
};

kunit_test_suite(netbsd_suite);
