// SPDX-License-Identifier: GPL-2.0
/*
 * openbsd.c - suite callout_openbsd: what OpenBSD's timeout(9) promises
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "lib/virtual.h"
#include "bsd/work.h"
#include "openbsd.h"

#define DISTANCE	5

/**
 * struct ob - a timeout and what its handler has seen
 * @to: the timeout
 * @v: the timeout's base
 * @due: another thread must run the handler
 * @asked: another thread must set @go
 * @go: the handler may return
 * @waits: the handler waits for @go
 * @in_task: the handler ran in process context
 * @pending: return value of timeout_pending() in the handler
 * @triggered: return value of timeout_triggered() in the handler
 * @begun: how often the handler has begun
 * @done: how often the handler has ended
 */
struct ob {
	struct timeout to;
	struct callout_virtual *v;
	bool due;
	bool asked;
	bool go;
	bool waits;
	bool in_task;
	int pending;
	int triggered;
	unsigned int begun;
	unsigned int done;
};

static void ob_handler(void *arg)
{
	struct ob *o = arg;

	o->in_task = !in_interrupt();
	o->pending = timeout_pending(&o->to);
	o->triggered = timeout_triggered(&o->to);
	callout_test_count(&o->begun);
	if (o->waits && o->in_task)
		callout_test_wait_until(callout_test_told(&o->go));
	else if (o->waits)
		callout_test_spin_until(callout_test_told(&o->go));
	callout_test_count(&o->done);
}

/* Move a timeout to the base whose time the case sets. */
static void ob_to_virtual(struct timeout *to)
{
	to->w.cpu = CALLOUT_WORK_STAY;
	to->w.c.node.cpu = CALLOUT_VIRTUAL;
}

static struct ob *ob_new(struct kunit *test, int kclock, int flags)
{
	struct ob *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	o->v = test->priv;
	KUNIT_EXPECT_EQ(test, timeout_initialized(&o->to), 0);
	timeout_set_flags(&o->to, ob_handler, o, kclock, flags);
	KUNIT_EXPECT_EQ(test, timeout_initialized(&o->to), 1);
	ob_to_virtual(&o->to);
	callout_test_drains_work(test, &o->to.w);
	return o;
}

static struct ob *ob_of_kind(struct kunit *test)
{
	return ob_new(test, KCLOCK_NONE, *(const int *)test->param_value);
}

/* Let @n ticks pass, and wait until the handler has begun @begun times. */
static void ob_pass(struct kunit *test, struct ob *o, unsigned int n,
		    unsigned int begun)
{
	callout_virtual_run_to(o->v, o->v->now + n);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(callout_test_counted(&o->begun) ==
							begun));
}

/*
 * An add returns 1 if it makes the timeout pending, and 0 if the timeout was
 * pending. A del returns 1 if the timeout was pending, and 0 if it was not.
 */
static void openbsd_returns(struct kunit *test)
{
	struct ob *o = ob_of_kind(test);

	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 0);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 1);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 0);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 1);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 0);
	callout_virtual_run_to(o->v, o->v->now + DISTANCE);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 1);
	ob_pass(test, o, DISTANCE, 1);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 0);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 1);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&o->to), 1);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&o->to), 0);
	KUNIT_EXPECT_EQ(test, o->begun, 1);
}

/*
 * A timeout is pending from the add to the handler's start. From there on it is
 * triggered, until it is added or deleted. A handler may sleep if and only if the
 * flags request that.
 */
static void openbsd_states(struct kunit *test)
{
	struct ob *o = ob_of_kind(test);
	int flags = *(const int *)test->param_value;

	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 0);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&o->to), 0);
	timeout_add(&o->to, DISTANCE);
	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 1);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&o->to), 0);
	ob_pass(test, o, DISTANCE, 1);
	KUNIT_EXPECT_EQ(test, o->pending, 0);
	KUNIT_EXPECT_EQ(test, o->triggered, 1);
	KUNIT_EXPECT_EQ(test, o->in_task, !!(flags & TIMEOUT_PROC));
	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 0);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&o->to), 1);
	timeout_add(&o->to, DISTANCE);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&o->to), 0);
	ob_pass(test, o, DISTANCE, 2);
	timeout_del(&o->to);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&o->to), 0);
	timeout_del_barrier(&o->to);
}

/* An add to a pending timeout replaces its time, by a later or an earlier time. */
static void openbsd_replaces(struct kunit *test)
{
	struct ob *o = ob_of_kind(test);

	timeout_add(&o->to, DISTANCE);
	timeout_add(&o->to, 2 * DISTANCE);
	callout_virtual_run_to(o->v, o->v->now + 2 * DISTANCE - 1);
	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 1);
	timeout_add(&o->to, 3 * DISTANCE);
	/* 0 counts as 1. */
	timeout_add(&o->to, 0);
	ob_pass(test, o, 1, 1);
	timeout_del_barrier(&o->to);
}

/**
 * struct unit_row - a call, and for how many ticks it sets the timeout
 * @add: the call, of a number of units
 * @ns: the length of a unit
 */
struct unit_row {
	int (*add)(struct timeout *to, u64 n);
	u64 ns;
};

static int add_sec(struct timeout *to, u64 n)
{
	return timeout_add_sec(to, n);
}

static int add_tv(struct timeout *to, u64 n)
{
	struct { s64 tv_sec; long tv_usec; } tv = {
		.tv_sec = n / USEC_PER_SEC,
		.tv_usec = n % USEC_PER_SEC,
	};

	return timeout_add_tv(to, &tv);
}

static int add_ts(struct timeout *to, u64 n)
{
	struct timespec64 ts = {
		.tv_sec = n / NSEC_PER_SEC,
		.tv_nsec = n % NSEC_PER_SEC,
	};

	return timeout_add_ts(to, &ts);
}

static const struct unit_row unit_rows[] = {
	{ add_sec, NSEC_PER_SEC },
	{ timeout_add_msec, NSEC_PER_MSEC },
	{ timeout_add_usec, NSEC_PER_USEC },
	{ timeout_add_nsec, 1 },
	{ add_tv, NSEC_PER_USEC },
	{ add_ts, 1 },
};

/*
 * A timeout takes at least the given time: it is rounded up to ticks, and one tick
 * is added for the present one.
 */
static void openbsd_units(struct kunit *test)
{
	static const u64 numbers[] = { 0, 1, 9, 10, 11, 999, 1000, 123456789 };
	struct ob *o = ob_new(test, KCLOCK_NONE, 0);
	u64 tick_ns = callout_tick_ns(), want;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(unit_rows); i++) {
		for (k = 0; k < ARRAY_SIZE(numbers); k++) {
			/* Only the first finds the timeout not pending. */
			KUNIT_EXPECT_EQ(test, unit_rows[i].add(&o->to, numbers[k]),
					!i && !k);
			want = DIV64_U64_ROUND_UP(numbers[k] * unit_rows[i].ns,
						  tick_ns) + 1;
			want = min_t(u64, want, INT_MAX);
			KUNIT_EXPECT_EQ_MSG(test, o->to.w.c.node.expires,
					    o->v->now + want, "row %u, %llu", i,
					    numbers[k]);
		}
	}
	/* A time that is too far away means INT_MAX ticks. */
	timeout_add_msec(&o->to, U64_MAX);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	timeout_add_usec(&o->to, U64_MAX / 1000 + 1);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	timeout_add_nsec(&o->to, U64_MAX);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	timeout_add_sec(&o->to, INT_MAX);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	callout_openbsd_add_parts(&o->to, S64_MAX, 0);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	callout_openbsd_add_parts(&o->to, S64_MAX / NSEC_PER_SEC, S64_MAX);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + INT_MAX);
	/* A time that has passed long ago means the next tick. */
	callout_openbsd_add_parts(&o->to, S64_MIN, 0);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	callout_openbsd_add_parts(&o->to, S64_MIN / NSEC_PER_SEC, S64_MIN);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 1);
}

/* A time since boot is not early, and a time that has passed means the next tick. */
static void openbsd_abs_ts(struct kunit *test)
{
	struct ob *o = ob_new(test, KCLOCK_UPTIME,
			      *(const int *)test->param_value);
	/* However long ago that time is: the base's time stands still. */
	struct timespec64 now = ns_to_timespec64(o->v->zero_ns), ts = now;
	u64 first;

	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 1);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	ts.tv_sec = 0;
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	/* So does a time before boot, however long before: 2^32 s less would be 34 years ahead. */
	ts.tv_sec = -1;
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	ts.tv_sec = -(3LL << 30);
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	KUNIT_EXPECT_EQ(test, o->to.w.c.node.expires, o->v->now + 1);
	ts.tv_sec = now.tv_sec + 100;
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	first = o->v->now + DIV_ROUND_UP_ULL(timespec64_to_ns(&ts) -
					     o->v->zero_ns, TICK_NSEC);
	KUNIT_EXPECT_GE(test, o->to.w.c.node.expires, first);
	/* One tick more for the rounding of sbintime_t. */
	KUNIT_EXPECT_LE(test, o->to.w.c.node.expires, first + 1);
	/* The last second that a sbintime_t has. */
	ts = (struct timespec64){ .tv_sec = S32_MAX };
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	KUNIT_EXPECT_LT(test, callout_expires_sbt(&o->to.w.c), SBT_MAX - SBT_1S / 2);
	ts.tv_sec = S64_MAX;
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 0);
	KUNIT_EXPECT_GT(test, o->to.w.c.node.expires, first + INT_MAX);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 1);
}

/* A timeout without TIMEOUT_PROC runs on the first online CPU, whichever CPU sets it. */
static void openbsd_abs_on_the_first_cpu(struct kunit *test)
{
	struct timespec64 ts = { .tv_sec = S32_MAX };
	struct ob *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, o);
	callout_test_pin_one(test);
	timeout_set_flags(&o->to, ob_handler, o, KCLOCK_UPTIME, 0);
	callout_test_drains_work(test, &o->to.w);
	for_each_online_cpu(cpu) {
		callout_test_pin(test, cpu);
		KUNIT_EXPECT_EQ(test, timeout_abs_ts(&o->to, &ts), 1);
		KUNIT_EXPECT_PTR_EQ(test, co_base(o->to.w.c.node.cpu),
				    co_base(cpumask_first(cpu_online_mask)));
		KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 1);
	}
}

static struct ob still;
static struct timeout still_softclock = TIMEOUT_INITIALIZER(ob_handler, &still);
static struct timeout still_proc =
	TIMEOUT_INITIALIZER_FLAGS(ob_handler, &still, KCLOCK_NONE, TIMEOUT_PROC);
static struct timeout still_uptime =
	TIMEOUT_INITIALIZER_FLAGS(ob_handler, &still, KCLOCK_UPTIME,
				  TIMEOUT_PROC | TIMEOUT_MPSAFE);

/* A static timeout needs no setup before any call. */
static void openbsd_initializer(struct kunit *test)
{
	struct timespec64 ts = {};

	memset(&still, 0, sizeof(still));
	callout_test_drains_work(test, &still_softclock.w);
	callout_test_drains_work(test, &still_proc.w);
	callout_test_drains_work(test, &still_uptime.w);
	KUNIT_EXPECT_EQ(test, timeout_initialized(&still_softclock), 1);
	KUNIT_EXPECT_EQ(test, timeout_pending(&still_softclock), 0);
	KUNIT_EXPECT_EQ(test, timeout_triggered(&still_softclock), 0);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&still_softclock), 0);
	KUNIT_EXPECT_EQ(test, timeout_add(&still_softclock, 1), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(still.done) == 1));
	KUNIT_EXPECT_FALSE(test, still.in_task);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&still_proc), 0);
	KUNIT_EXPECT_EQ(test, timeout_add(&still_proc, 1), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(still.done) == 2));
	KUNIT_EXPECT_TRUE(test, still.in_task);
	KUNIT_EXPECT_EQ(test, timeout_abs_ts(&still_uptime, &ts), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(still.done) == 3));
	KUNIT_EXPECT_TRUE(test, still.in_task);
	timeout_del_barrier(&still_softclock);
	timeout_del_barrier(&still_proc);
	timeout_del_barrier(&still_uptime);
	/* Only TIMEOUT_MPSAFE and threads do without the kernel's lock. */
	KUNIT_EXPECT_NOT_NULL(test, still_softclock.w.c.lock);
	KUNIT_EXPECT_NULL(test, still_proc.w.c.lock);
	KUNIT_EXPECT_NULL(test, still_uptime.w.c.lock);
}

static void expect_added_on(struct kunit *test, struct timeout *to, unsigned int cpu)
{
	KUNIT_EXPECT_EQ(test, timeout_add(to, INT_MAX), 1);
	KUNIT_EXPECT_PTR_EQ(test, co_base(to->w.c.node.cpu), co_base(cpu));
	KUNIT_EXPECT_EQ(test, timeout_del(to), 1);
}

/* A timeout with TIMEOUT_PROC stays on the CPU that prepared it, any other is on the first CPU. */
static void openbsd_add_where(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int last = cpumask_last(cpu_online_mask);
	struct ob *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	callout_test_pin(test, last);
	if (co_home_cpu() != last)
		kunit_skip(test, "needs a CPU that is not nohz_full");
	callout_test_drains_work(test, &still_softclock.w);
	expect_added_on(test, &still_softclock, first);
	timeout_set_flags(&o->to, ob_handler, o, KCLOCK_NONE, 0);
	callout_test_drains_work(test, &o->to.w);
	expect_added_on(test, &o->to, first);
	timeout_set_flags(&o->to, ob_handler, o, KCLOCK_NONE, TIMEOUT_PROC);
	expect_added_on(test, &o->to, last);
}

/* This needs its own thread: while a handler spins no thread can be created. */
static void ob_tell_later(void *arg)
{
	struct ob *o = arg;

	callout_test_wait_until(callout_test_told(&o->asked));
	usleep_range(2000, 3000);
	callout_test_tell(&o->go);
}

/* Expire the virtual base in a thread, where a handler can wait. */
static void ob_expire(void *arg)
{
	struct ob *o = arg;

	callout_test_wait_until(callout_test_told(&o->due));
	callout_virtual_expire(o->v);
}

/*
 * Run the handler of a timeout on CPU @other, by the thread t[0], until the thread t[1] lets
 * it return, soon after it is asked.
 */
static void ob_begin(struct kunit *test, struct ob *o, unsigned int other,
		     struct callout_test_thread *t[2])
{
	o->v->now++;
	t[0] = callout_test_thread(test, other, ob_expire, o);
	t[1] = callout_test_thread(test, raw_smp_processor_id(), ob_tell_later, o);
	callout_test_tell(&o->due);
	KUNIT_ASSERT_TRUE(test,
			  callout_test_wait_until(callout_test_counted(&o->begun)));
}

/*
 * A barrier waits for the running handler, and cancels nothing. A del does not
 * wait, and its result counts the setting made while the handler ran.
 */
static void openbsd_barrier(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_test_thread *t[2];
	struct ob *o = ob_of_kind(test);

	o->waits = true;
	timeout_barrier(&o->to);
	timeout_add(&o->to, 1);
	/* The timeout is pending and does not run: no wait. */
	timeout_barrier(&o->to);
	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 1);
	ob_begin(test, o, other, t);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 1);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 1);
	KUNIT_EXPECT_EQ(test, timeout_del(&o->to), 0);
	KUNIT_EXPECT_EQ(test, timeout_add(&o->to, DISTANCE), 1);
	KUNIT_EXPECT_EQ(test, o->done, 0);
	callout_test_tell(&o->asked);
	timeout_barrier(&o->to);
	KUNIT_EXPECT_EQ(test, o->done, 1);
	KUNIT_EXPECT_EQ(test, timeout_pending(&o->to), 1);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&o->to), 1);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t[1]));
	KUNIT_EXPECT_TRUE(test, callout_test_join(t[0]));
}

/* A del_barrier waits for the running handler, too. */
static void openbsd_del_barrier(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct callout_test_thread *t[2];
	struct ob *o = ob_of_kind(test);

	o->waits = true;
	timeout_add(&o->to, 1);
	ob_begin(test, o, other, t);
	KUNIT_EXPECT_EQ(test, o->done, 0);
	callout_test_tell(&o->asked);
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&o->to), 0);
	KUNIT_EXPECT_EQ(test, o->done, 1);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t[1]));
	KUNIT_EXPECT_TRUE(test, callout_test_join(t[0]));
}

#define REFS_ROUNDS	400

/**
 * struct ob_pcb - as in OpenBSD's TCP: a timeout, and references to it
 * @to: the timeout
 * @v: the timeout's base, whose ticks another thread makes
 * @lock: protects @armed
 * @armed: the work for which the timeout is armed must still be done
 * @refs: number of references that timeouts hold
 * @runs: how often the handler has begun
 * @stop: no more ticks
 */
struct ob_pcb {
	struct timeout to;
	struct callout_virtual *v;
	spinlock_t lock;	/* see above */
	bool armed;
	atomic_t refs;
	atomic_t runs;
	bool stop;
};

static void pcb_arm(struct ob_pcb *pcb, int distance)
{
	pcb->armed = true;
	if (timeout_add(&pcb->to, distance))
		atomic_inc(&pcb->refs);
}

static void pcb_disarm(struct ob_pcb *pcb)
{
	pcb->armed = false;
	if (timeout_del(&pcb->to))
		atomic_dec(&pcb->refs);
}

static void pcb_handler(void *arg)
{
	struct ob_pcb *pcb = arg;
	int runs = atomic_inc_return(&pcb->runs);

	spin_lock_bh(&pcb->lock);
	if (pcb->armed && !timeout_pending(&pcb->to) && runs % 4 == 0)
		pcb_arm(pcb, 1);
	spin_unlock_bh(&pcb->lock);
	atomic_dec(&pcb->refs);
}

static void pcb_ticks(void *arg)
{
	struct ob_pcb *pcb = arg;

	while (!callout_test_told(&pcb->stop)) {
		callout_virtual_run_to(pcb->v, pcb->v->now + 1);
		cond_resched();
	}
}

/*
 * A timer that takes a reference when it is added, and drops the reference when it
 * is deleted or has run, leaks none, even if it is armed and disarmed while its
 * handler waits for the lock. (With a del that returned 0 in this case, OpenBSD's
 * TCP leaked 51 connections in 15 seconds.)
 */
static void openbsd_references(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct ob_pcb *pcb = kunit_kzalloc(test, sizeof(*pcb), GFP_KERNEL);
	struct callout_test_thread *t;
	struct rnd_state rng;

	KUNIT_ASSERT_NOT_NULL(test, pcb);
	callout_test_rng(test, &rng);
	pcb->v = test->priv;
	spin_lock_init(&pcb->lock);
	timeout_set_flags(&pcb->to, pcb_handler, pcb, KCLOCK_NONE,
			  *(const int *)test->param_value);
	ob_to_virtual(&pcb->to);
	callout_test_drains_work(test, &pcb->to.w);
	t = callout_test_thread(test, other, pcb_ticks, pcb);
	for (i = 0; i < callout_test_rounds(REFS_ROUNDS); i++) {
		spin_lock_bh(&pcb->lock);
		pcb_arm(pcb, 1 + callout_test_below(&rng, 2));
		ndelay(callout_test_below(&rng, 2000));
		/* The handler may be waiting for the lock by now. */
		if (i % 2)
			pcb_arm(pcb, 1);
		if (i % 3)
			pcb_disarm(pcb);
		spin_unlock_bh(&pcb->lock);
		if (i % 32 == 0)
			schedule_timeout_uninterruptible(1);
		if (i % 64 == 0)
			timeout_barrier(&pcb->to);
	}
	spin_lock_bh(&pcb->lock);
	pcb_disarm(pcb);
	spin_unlock_bh(&pcb->lock);
	timeout_barrier(&pcb->to);
	callout_test_tell(&pcb->stop);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_EQ(test, timeout_del_barrier(&pcb->to), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&pcb->runs), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pcb->refs), 0);
}

/**
 * struct ob_pair - two timeouts on two CPUs
 * @to: the timeouts
 * @inside: number of running handlers
 * @most: most handlers running at one time
 * @runs: number of runs
 */
struct ob_pair {
	struct timeout to[2];
	atomic_t inside;
	int most;
	atomic_t runs;
};

static void pair_handler(void *arg)
{
	struct ob_pair *p = arg;

	p->most = max(p->most, atomic_inc_return(&p->inside));
	if (!in_interrupt())
		usleep_range(500, 1000);
	else
		mdelay(1);
	atomic_dec(&p->inside);
	atomic_inc(&p->runs);
}

/*
 * Handlers in softclock run one after the other, and so do handlers in the thread,
 * wherever they are set.
 */
static void openbsd_one_at_a_time(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, k;
	struct ob_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	int flags = *(const int *)test->param_value;

	KUNIT_ASSERT_NOT_NULL(test, p);
	if (flags & TIMEOUT_MPSAFE)
		return;
	for (k = 0; k < 2; k++) {
		timeout_set_flags(&p->to[k], pair_handler, p, KCLOCK_NONE,
				  flags);
		/* As if the first CPU had changed. */
		p->to[k].w.cpu = k ? other : raw_smp_processor_id();
		callout_test_drains_work(test, &p->to[k].w);
	}
	for (i = 0; i < 30; i++) {
		for (k = 0; k < 2; k++)
			timeout_add(&p->to[k], 1);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&p->runs) ==
							  2 * (i + 1)));
	}
	KUNIT_EXPECT_EQ(test, p->most, 1);
	for (k = 0; k < 2; k++)
		timeout_del_barrier(&p->to[k]);
}

/* The calls without flags set up timeouts for softclock and for the thread. */
static void openbsd_set(struct kunit *test)
{
	struct ob *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	timeout_set(&o->to, ob_handler, o);
	callout_test_drains_work(test, &o->to.w);
	KUNIT_EXPECT_EQ(test, timeout_add_msec(&o->to, 1), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(o->done) == 1));
	KUNIT_EXPECT_FALSE(test, o->in_task);
	timeout_del_barrier(&o->to);
	timeout_set_proc(&o->to, ob_handler, o);
	KUNIT_EXPECT_EQ(test, timeout_add_msec(&o->to, 1), 1);
	KUNIT_ASSERT_TRUE(test, callout_test_wait_until(READ_ONCE(o->done) == 2));
	KUNIT_EXPECT_TRUE(test, o->in_task);
	timeout_del_barrier(&o->to);
}

static struct kunit_case openbsd_cases[] = {
	KUNIT_CASE_PARAM(openbsd_returns, kind_gen_params),
	KUNIT_CASE_PARAM(openbsd_states, kind_gen_params),
	KUNIT_CASE_PARAM(openbsd_replaces, kind_gen_params),
	KUNIT_CASE(openbsd_units),
	KUNIT_CASE_PARAM(openbsd_abs_ts, kind_gen_params),
	KUNIT_CASE(openbsd_abs_on_the_first_cpu),
	KUNIT_CASE(openbsd_initializer),
	KUNIT_CASE(openbsd_add_where),
	KUNIT_CASE_PARAM(openbsd_barrier, kind_gen_params),
	KUNIT_CASE_PARAM(openbsd_del_barrier, kind_gen_params),
	KUNIT_CASE_PARAM(openbsd_references, kind_gen_params),
	KUNIT_CASE_PARAM(openbsd_one_at_a_time, kind_gen_params),
	KUNIT_CASE(openbsd_set),
	{}
};

static struct kunit_suite openbsd_suite = {
	.name = "callout_openbsd",
	.init = callout_virtual_init,
	.test_cases = openbsd_cases,
};

kunit_test_suite(openbsd_suite);
