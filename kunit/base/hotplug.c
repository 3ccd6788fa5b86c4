// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug.c - suite callout_hotplug: CPUs that go offline and come back
 *
 * Runs on the real bases, with real ticks.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include "lib/kernel_table.h"
#include "lib/timed.h"

/* Bind the case's thread to CPU 0. Return a CPU that can be taken offline. */
static unsigned int cpu_to_take(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	callout_test_pin(test, 0);
	return cpu;
}

struct by_handle {
	unsigned int n;
	struct callout_timed *t;
	u64 handle[];
};

static void unset_by_handle(void *data)
{
	struct by_handle *b = data;
	unsigned int i;

	for (i = 0; i < b->n; i++)
		unsetcallout_sync(b->handle[i]);
}

static struct by_handle *by_handle_create(struct kunit *test, unsigned int n)
{
	struct callout_timed_set *set = callout_timed_create(test, n);
	struct by_handle *b;

	b = kunit_kzalloc(test, struct_size(b, handle, n), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b);
	b->n = n;
	b->t = set->t;
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, unset_by_handle, b));
	return b;
}

static void set_by_handle(void *arg)
{
	u64 now = co_now(co_base(smp_processor_id()));
	struct by_handle *b = arg;
	unsigned int i;
	long distance;

	for (i = 0; i < b->n; i++) {
		distance = i < b->n / 2 ? 3600L * HZ : 1 + i;
		b->t[i].least = now + distance;
		b->handle[i] = setcallout(callout_timed_handler, &b->t[i],
					  distance);
		b->t[i].c.node.expires = callout_test_expires(b->handle[i]);
	}
}

/*
 * Callouts of a CPU that goes offline run on another, neither early nor twice, and
 * their handles stay valid. New callouts go to the CPU when it is back.
 */
static void hotplug_cpu_goes_away(struct kunit *test)
{
	unsigned int cpu = cpu_to_take(test), i, far, wrong = 0;
	struct callout_timed_set *set, *late;
	struct by_handle *b;

	set = callout_timed_create(test, 300);
	late = callout_timed_create(test, 2);
	b = by_handle_create(test, 64);
	for (i = 0; i < set->n; i++)
		callout_timed_set_on(&set->t[i], cpu, 1 + i);
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, set_by_handle,
							  b, true));
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_FALSE(test, co_base(cpu)->online);
	KUNIT_EXPECT_EQ(test, co_base_pending(co_base(cpu)), 0);
	callout_timed_set_on(&late->t[0], cpu, 3);
	KUNIT_EXPECT_NE(test, late->t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&set->t[150].runs)));
	/* Cancel some of the far callouts now, and some when the CPU is back. */
	far = b->n / 2;
	for (i = 0; i < far / 2; i++)
		wrong += unsetcallout(b->handle[i]) != 1;
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_TRUE(test, co_base(cpu)->online);
	for (; i < far; i++)
		wrong += unsetcallout(b->handle[i]) != 1;
	callout_timed_set_on(&late->t[1], cpu, 3);
	KUNIT_EXPECT_EQ(test, late->t[1].c.node.cpu, cpu);

	callout_timed_check(test, set);
	callout_timed_check(test, late);
	KUNIT_EXPECT_NE(test, late->t[0].ran_on, cpu);
	KUNIT_EXPECT_EQ(test, late->t[1].ran_on, cpu);
	for (i = 0; i < far; i++)
		wrong += atomic_read(&b->t[i].runs) != 0 ||
			 unsetcallout(b->handle[i]) != -1;
	for (; i < b->n; i++) {
		callout_test_wait_until(atomic_read(&b->t[i].runs));
		wrong += atomic_read(&b->t[i].runs) != 1 ||
			 b->t[i].ran < b->t[i].least ||
			 unsetcallout(b->handle[i]) != -1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Set the callout again, on the same CPU. */
static void timed_again(void *arg)
{
	struct callout_timed *t = arg;

	WRITE_ONCE(t->ran_on, smp_processor_id());
	atomic_inc(&t->runs);
	callout_schedule(&t->c, 1);
}

/* Return the CPU on which @t runs, or UINT_MAX if @t does not run. */
static unsigned int runs_on(struct callout_timed *t)
{
	int runs = atomic_read(&t->runs);

	/* Wait for some more runs, since the callout may have been migrating. */
	if (!callout_test_wait_until(atomic_read(&t->runs) > runs + 2))
		return UINT_MAX;
	return READ_ONCE(t->ran_on);
}

static void timed_set_here(void *arg)
{
	struct callout_timed *t = arg;

	callout_init(&t->c, CALLOUT_MPSAFE);
	callout_reset(&t->c, 3600L * HZ, timed_again, t);
}

/*
 * A callout migrates away from a CPU that goes offline, and back at its next
 * arm when the CPU is online, also if its handler arms it, or if it was set for
 * that CPU when it was offline.
 */
static void hotplug_comes_home(struct kunit *test)
{
	unsigned int cpu = cpu_to_take(test);
	struct callout_timed_set *set;
	struct callout_timed *t;
	unsigned int other;

	set = callout_timed_create(test, 5);
	t = set->t;
	callout_timed_set_on(&t[0], cpu, 3600L * HZ);
	/* If there are three CPUs the callout moves twice. */
	callout_timed_set_on(&t[2], cpu - 1, 3600L * HZ);
	/* An idle callout stays. */
	callout_timed_set_on(&t[3], cpu, 3600L * HZ);
	KUNIT_EXPECT_EQ(test, callout_stop(&t[3].c), 1);
	/* A callout belongs to the CPU that has initialised it. */
	KUNIT_ASSERT_EQ(test, 0, smp_call_function_single(cpu, timed_set_here, &t[4], true));
	callout_reset_on(&t[1].c, 1, timed_again, &t[1], cpu);
	KUNIT_EXPECT_EQ(test, runs_on(&t[1]), cpu);
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[0].c, 3600L * HZ), 1);
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	callout_timed_set_on(&t[2], cpu, 3600L * HZ);
	KUNIT_EXPECT_NE(test, t[2].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[3].c, 3600L * HZ), 0);
	KUNIT_EXPECT_NE(test, t[3].c.node.cpu, cpu);
	other = runs_on(&t[1]);
	KUNIT_EXPECT_NE(test, other, cpu);
	KUNIT_EXPECT_NE(test, other, UINT_MAX);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_NE(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[0].c, 3600L * HZ), 1);
	KUNIT_EXPECT_EQ(test, t[0].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[2].c, 3600L * HZ), 1);
	KUNIT_EXPECT_EQ(test, t[2].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, runs_on(&t[1]), cpu);
	KUNIT_EXPECT_EQ(test, callout_stop(&t[0].c), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&t[2].c), 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&t[3].c), 1);
	KUNIT_EXPECT_EQ(test, callout_schedule(&t[4].c, 3600L * HZ), 1);
	KUNIT_EXPECT_EQ(test, t[4].c.node.cpu, cpu);
	KUNIT_EXPECT_EQ(test, callout_stop(&t[4].c), 1);
}

#define TURNS	64

/**
 * struct in_turn - a callout that runs once
 * @c: the callout
 * @taken: how many of its kind have run
 * @turn: what @taken was then
 */
struct in_turn {
	struct callout c;
	atomic_t *taken;
	int turn;
};

static void take_turn(void *arg)
{
	struct in_turn *t = arg;

	t->turn = atomic_fetch_inc(t->taken);
}

/* Callouts that migrate run in the order in which they were set. */
static void hotplug_keeps_order(struct kunit *test)
{
	struct in_turn *t = kunit_kcalloc(test, TURNS, sizeof(*t), GFP_KERNEL);
	unsigned int cpu = cpu_to_take(test);
	atomic_t taken = ATOMIC_INIT(0);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (i = 0; i < TURNS; i++) {
		t[i].taken = &taken;
		callout_init(&t[i].c, CALLOUT_MPSAFE);
		callout_reset_on(&t[i].c, 2 * HZ, take_turn, &t[i], cpu);
	}
	KUNIT_EXPECT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(atomic_read(&taken) == TURNS));
	for (i = 0; i < TURNS; i++) {
		callout_drain(&t[i].c);
		KUNIT_EXPECT_EQ(test, t[i].turn, i);
	}
	KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
}

static DEFINE_RAW_SPINLOCK(contended);

/*
 * A callout that was put off migrates too, and runs when its lock is free. The lock
 * is held without the kernel's knowledge, since a CPU goes offline while it is
 * held.
 */
static void hotplug_put_off(struct kunit *test)
{
	unsigned int cpu = cpu_to_take(test);
	struct callout_timed_set *set = callout_timed_create(test, 1);
	struct callout_timed *t = set->t;

	callout_init_raw(&t->c, &contended, CALLOUT_TRYLOCK);
	arch_spin_lock(&contended.raw_lock);
	local_bh_disable();
	/* The core asserts that the caller holds the lock. */
	spin_acquire(&contended.dep_map, 0, 0, _THIS_IP_);
	callout_timed_set_on(t, cpu, 1);
	spin_release(&contended.dep_map, _THIS_IP_);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(READ_ONCE(t->c.node.state) &
						  CALLOUT_S_DUE));
	KUNIT_EXPECT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_NE(test, t->c.node.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, callout_pending(&t->c));
	KUNIT_EXPECT_EQ(test, co_base_pending(co_base(cpu)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 0);
	arch_spin_unlock(&contended.raw_lock);
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&t->runs)));
	KUNIT_EXPECT_NE(test, t->ran_on, cpu);
	KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	KUNIT_EXPECT_EQ(test, callout_drain(&t->c), -1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->runs), 1);
}

#define MANY	100000U

/**
 * struct observer - a thread that observes the migration from a dead CPU
 * @base: the base of the dead CPU
 * @seen: the thread has seen some callouts migrated and others not
 * @end: the thread may return
 */
struct observer {
	struct callout_base *base;
	bool seen;
	bool end;
};

/* Preempt whatever can be preempted, many times while the callouts migrate. */
static void observe_move(void *arg)
{
	struct observer *b = arg;
	unsigned int pending;

	sched_set_fifo(current);
	while (!callout_test_told(&b->end)) {
		pending = co_base_pending(b->base);
		if (pending && pending < MANY && !b->base->online)
			WRITE_ONCE(b->seen, true);
		usleep_range(20, 40);
	}
}

/* The migration of many callouts can be preempted. */
static void hotplug_move_is_preempted(struct kunit *test)
{
	unsigned int cpu = cpu_to_take(test), i, tries;
	struct callout_test_thread *t;
	struct callout_timed_set *set;
	struct observer b = {};

	set = vzalloc(struct_size(set, t, MANY));
	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < MANY; i++)
		callout_init(&set->t[i].c, CALLOUT_MPSAFE);
	b.base = co_base(cpu);
	t = callout_test_thread(test, 0, observe_move, &b);
	/* The migration may end before the thread runs. */
	for (tries = 0; tries < 20 && !READ_ONCE(b.seen); tries++) {
		for (i = 0; i < MANY; i++) {
			callout_reset_on(&set->t[i].c, 3600L * HZ,
					 callout_timed_handler, &set->t[i], cpu);
			cond_resched();
		}
		KUNIT_EXPECT_EQ(test, 0, remove_cpu(cpu));
		KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
	}
	callout_test_tell(&b.end);
	KUNIT_EXPECT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, b.seen);
	for (i = 0; i < MANY; i++) {
		callout_drain(&set->t[i].c);
		cond_resched();
	}
	vfree(set);
}

/* How long a handler delays the migration. */
#define HOLD_NS		(100 * NSEC_PER_MSEC)

/**
 * struct straggler - a callout that runs on another CPU when its own CPU is dead
 * @c: the callout
 * @cpu: the CPU that dies
 * @dead: @cpu is dead, and the callout is due
 * @begun: the handler runs
 * @early: the handler ran on @cpu itself, while @cpu was alive
 * @moved: the callout was migrated while its handler ran
 */
struct straggler {
	struct callout c;
	unsigned int cpu;
	bool dead;
	bool begun;
	bool early;
	bool moved;
};

static struct straggler *straggler;

static void straggler_handler(void *arg)
{
	u64 end = ktime_get_ns() + HOLD_NS;
	struct straggler *s = arg;

	callout_schedule(&s->c, 3600L * HZ);
	s->early = smp_processor_id() == s->cpu;
	callout_test_tell(&s->begun);
	while (!s->moved && ktime_get_ns() < end) {
		cpu_relax();
		s->moved = READ_ONCE(s->c.node.cpu) != s->cpu;
	}
}

/* Make the base's tasklet run here. */
static void straggler_tasklet(void *arg)
{
	struct straggler *s = arg;

	if (!callout_test_wait_until(callout_test_told(&s->dead)))
		return;
	local_bh_disable();
	tasklet_schedule(&co_base(s->cpu)->again);
	local_bh_enable();
}

/* A hotplug state that is left after the facility's state when a CPU goes down. */
static int straggler_dead(unsigned int cpu)
{
	struct straggler *s = straggler;

	if (cpu != s->cpu)
		return 0;
	callout_test_wait_until(callout_test_told(&s->begun) ||
				co_now(co_base(cpu)) >=
				s->c.node.expires);
	callout_test_tell(&s->dead);
	callout_test_wait_until(callout_test_told(&s->begun));
	return 0;
}

/*
 * The migration waits for a handler that the base's tasklet runs on another CPU.
 *
 *	CPU1: tasklet of the dead CPU's base	CPU0: the CPU is dead
 *	runs c, whose handler sets it again
 *						must not migrate c
 */
static void hotplug_tasklet_elsewhere(struct kunit *test)
{
	struct straggler *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int cpu = cpu_to_take(test), tries = 0;
	struct callout_test_thread *t;
	long distance = HZ / 2;
	int state;

	if (cpu < 2)
		kunit_skip(test, "there is no third CPU");
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->cpu = cpu;
	straggler = s;
	callout_init(&s->c, CALLOUT_MPSAFE);
	callout_test_drains(test, &s->c);
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "callout:test",
					  NULL, straggler_dead);
	KUNIT_ASSERT_LT(test, 0, state);
	do {
		s->dead = false;
		s->begun = false;
		s->early = false;
		/* It may take long until the CPU is dead. */
		distance *= 2;
		callout_reset_on(&s->c, distance, straggler_handler, s, cpu);
		t = callout_test_thread(test, 1, straggler_tasklet, s);
		KUNIT_EXPECT_EQ(test, 0, remove_cpu(cpu));
		KUNIT_EXPECT_TRUE(test, callout_test_join(t));
		KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
		KUNIT_EXPECT_EQ(test, callout_drain(&s->c), 1);
	} while (s->early && ++tries < 6);
	cpuhp_remove_state_nocalls(state);
	KUNIT_EXPECT_FALSE(test, s->early);
	KUNIT_EXPECT_TRUE(test, s->begun);
	KUNIT_EXPECT_FALSE(test, s->moved);
}

/* Callouts that are due together, too many for one expiry. */
#define CROWD		1500U
#define CROWD_GOES	6U

/**
 * struct leaver - a CPU that goes down while its base has work to do
 * @cpu: the CPU
 * @c: a callout that only the base's tasklet can run
 * @going: the thread in which the CPU begins to go down
 * @ran_in: the current thread when @c ran
 * @left: a tasklet of the CPU's bases was still scheduled when the CPU was dead
 * @crowd: callouts that are due at every fourth jiffy
 */
struct leaver {
	unsigned int cpu;
	struct callout c;
	struct task_struct *going;
	struct task_struct *ran_in;
	bool left;
	struct callout crowd[CROWD];
};

static struct leaver *leaver;

static void leaver_handler(void *arg)
{
	struct leaver *l = arg;

	WRITE_ONCE(l->ran_in, current);
}

static void leaver_crowd(void *arg)
{
	callout_schedule(arg, 4 * callout_hz() / HZ);
}

/* Schedule the tasklet. Not even ksoftirqd may run before the facility's state is left. */
static int leaver_goes(unsigned int cpu)
{
	struct callout_base *base = co_base(cpu);
	struct leaver *l = leaver;

	if (cpu != l->cpu)
		return 0;
	WRITE_ONCE(l->going, current);
	sched_set_fifo(current);
	callout_reset_on(&l->c, 3600L * HZ, leaver_handler, l, cpu);
	raw_spin_lock_irq(&base->lock);
	callout_test_due_now(base, &l->c.node);
	raw_spin_unlock_irq(&base->lock);
	tasklet_schedule(&base->again);
	return 0;
}

static int leaver_comes(unsigned int cpu)
{
	if (cpu == leaver->cpu)
		sched_set_normal(current, 0);
	return 0;
}

/* The CPU is dead. */
static int leaver_dead(unsigned int cpu)
{
	struct leaver *l = leaver;
	unsigned int i;

	for (i = cpu; i < CALLOUT_INDEX_TEST && cpu == l->cpu; i += nr_cpu_ids)
		if (co_base(i))
			l->left |= callout_test_scheduled(co_base(i));
	return 0;
}

static void leaver_drain(void *data)
{
	struct leaver *l = data;
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		callout_drain(&l->crowd[i]);
	callout_drain(&l->c);
}

static struct leaver *leaver_create(struct kunit *test)
{
	struct leaver *l = callout_test_vcalloc(test, 1, sizeof(*l));
	unsigned int i;

	l->cpu = cpu_to_take(test);
	callout_init(&l->c, CALLOUT_MPSAFE);
	for (i = 0; i < CROWD; i++)
		callout_init(&l->crowd[i], CALLOUT_MPSAFE);
	leaver = l;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leaver_drain, l));
	return l;
}

/*
 * The CPU itself runs a scheduled tasklet before ksoftirqd is parked. The case has
 * a hotplug state that is left just before the facility's state.
 */
static void hotplug_runs_the_tasklet_first(struct kunit *test)
{
	struct leaver *l = leaver_create(test);
	int state, ret;

	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "callout:test",
					  leaver_comes, leaver_goes);
	KUNIT_ASSERT_LT(test, 0, state);
	ret = remove_cpu(l->cpu);
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(l->ran_in), READ_ONCE(l->going));
	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_EQ(test, 0, add_cpu(l->cpu));
	cpuhp_remove_state_nocalls(state);
}

/*
 * A CPU that goes down amid expiry leaves no tasklet to another CPU. The case has a
 * state that is left when the CPU is dead, before the states of the facility and of
 * the kernel.
 */
static void hotplug_leaves_no_tasklet(struct kunit *test)
{
	struct leaver *l = leaver_create(test);
	unsigned int i;
	int state;

	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "callout:test",
					  NULL, leaver_dead);
	KUNIT_ASSERT_LT(test, 0, state);
	for (i = 0; i < CROWD; i++)
		callout_reset_on(&l->crowd[i], 1, leaver_crowd, &l->crowd[i],
				 l->cpu);
	for (i = 0; i < CROWD_GOES; i++) {
		KUNIT_EXPECT_EQ(test, 0, remove_cpu(l->cpu));
		KUNIT_EXPECT_EQ(test, 0, add_cpu(l->cpu));
		/* The callouts go home. */
		msleep(50);
	}
	cpuhp_remove_state_nocalls(state);
	KUNIT_EXPECT_FALSE(test, l->left);
}

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE_SLOW(hotplug_cpu_goes_away),
	KUNIT_CASE_SLOW(hotplug_comes_home),
	KUNIT_CASE_SLOW(hotplug_keeps_order),
	KUNIT_CASE_SLOW(hotplug_put_off),
	KUNIT_CASE_SLOW(hotplug_move_is_preempted),
	KUNIT_CASE_SLOW(hotplug_tasklet_elsewhere),
	KUNIT_CASE_SLOW(hotplug_runs_the_tasklet_first),
	KUNIT_CASE_SLOW(hotplug_leaves_no_tasklet),
	{}
};

static struct kunit_suite hotplug_suite = {
	.name = "callout_hotplug",
	.test_cases = hotplug_cases,
};

kunit_test_suite(hotplug_suite);
