// SPDX-License-Identifier: GPL-2.0
/*
 * stress.c - suite callout_timer_stress: all CPUs race for the same timers
 *
 * Threads make random calls on shared timers, while handlers set their own and
 * another thread runs global bases as the kernel would. The threads free the timers
 * and create them again. However the calls race:
 *
 *	a handler runs once at a time, and on a timer that has not been freed
 *	a thread that excludes other setters and has deleted and waited for a
 *	timer finds it neither pending nor running
 *	once it was shut down a timer is not set, and does not run
 *	in the end each setting was replaced, cancelled or run, and no timer
 *	stays pending: so none is lost
 */
#include <linux/bottom_half.h>
#include <linux/callout_timer_types.h>
#include <linux/cpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include "lib/common.h"
#include "core/expiry.h"
#include "kcompat.h"

#define ITEMS		24U
#define MAX_THREADS	4U
#define DURATION_NS	(2 * NSEC_PER_SEC)
#define ALIVE		0x600dbeefU
#define DEAD		0xdeadbeefU

/* Events that must have been seen, however slow the machine. */
#define MIN_RUNS	100
#define MIN_FREED	8

struct load;

/**
 * struct victim - a timer that threads race for
 * @t: the timer
 * @load: the load to which it belongs
 * @alive: ALIVE until it is freed
 * @inside: number of its handlers that are running
 * @down: the timer was shut down
 */
struct victim {
	struct callout_timer t;
	struct load *load;
	u32 alive;
	atomic_t inside;
	bool down;
};

/**
 * struct item - a place for a victim
 * @lock: held for reading by threads that set the victim, for writing by the thread
 *	that frees it
 * @v: the victim
 */
struct item {
	rwlock_t lock;	/* see above */
	struct victim *v;
};

/**
 * struct load - a load
 * @end: when the threads end, in ns, if they have seen enough
 * @seed: seed of the threads' random numbers
 * @settings: settings of a timer that was not pending
 * @runs: number of handlers run
 * @cancelled: number of settings that were cancelled
 * @freed: number of timers freed
 * @tries: number of calls that found a handler running
 * @errors: number of errors
 * @handlers_set: handlers may set their own timers
 * @item: the timers
 */
struct load {
	u64 end;
	u32 seed;
	atomic_t settings;
	atomic_t runs;
	atomic_t cancelled;
	atomic_t freed;
	atomic_t tries;
	atomic_t errors;
	bool handlers_set;
	struct item item[ITEMS];
};

static void wrong(struct load *load, bool is_wrong, const char *what)
{
	if (is_wrong) {
		atomic_inc(&load->errors);
		pr_err("callout_timer_stress: %s\n", what);
	}
}

static const unsigned int all_flags[] = {
	0, 0, TIMER_PINNED, TIMER_DEFERRABLE, TIMER_IRQSAFE,
};

/* Count the result of setting a timer that was not shut down. */
static void count_set(struct load *load, int replaced)
{
	if (!replaced)
		atomic_inc(&load->settings);
}

static void count_cancel(struct load *load, int cancelled)
{
	if (cancelled > 0)
		atomic_inc(&load->cancelled);
	if (cancelled < 0)
		atomic_inc(&load->tries);
}

/* Take some time, so that calls meet handlers while they run. */
static void linger(void)
{
	u64 end = ktime_get_ns() + 30 * NSEC_PER_USEC;

	while (ktime_get_ns() < end)
		cpu_relax();
}

static void victim_handler(struct callout_timer *t)
{
	struct victim *v = container_of(t, struct victim, t);
	struct load *load = v->load;
	int run;

	wrong(load, READ_ONCE(v->alive) != ALIVE, "a freed timer runs");
	wrong(load, READ_ONCE(v->down), "a timer that was shut down runs");
	wrong(load, atomic_inc_return(&v->inside) != 1, "it runs twice at once");
	wrong(load, !irqs_disabled() != !(t->flags & TIMER_IRQSAFE),
	      "interrupts are on, or off");
	run = atomic_inc_return(&load->runs);
	if (run % 4 == 0)
		linger();
	if (run % 2 && READ_ONCE(load->handlers_set))
		count_set(load, callout_timer_mod(t, jiffies + run % 5));
	if (run % 16 == 1)
		count_cancel(load, callout_timer_delete(t));
	wrong(load, READ_ONCE(v->alive) != ALIVE, "freed while it runs");
	atomic_dec(&v->inside);
}

static struct victim *victim_create(struct load *load, unsigned int flags)
{
	static struct lock_class_key key;
	struct victim *v = kzalloc(sizeof(*v), GFP_ATOMIC);

	if (!v)
		return NULL;
	v->load = load;
	v->alive = ALIVE;
	callout_timer_init_key(&v->t, victim_handler, flags, "victim", &key);
	return v;
}

/* The lock is held for writing. */
static void victim_free(struct load *load, struct item *item)
{
	struct victim *v = item->v;

	item->v = NULL;
	if (!v)
		return;
	count_cancel(load, callout_timer_shutdown_sync(&v->t));
	WRITE_ONCE(v->down, true);
	wrong(load, callout_timer_mod(&v->t, jiffies), "set after its end");
	wrong(load, callout_timer_pending(&v->t), "pending after its end");
	wrong(load, atomic_read(&v->inside), "running after its end");
	WRITE_ONCE(v->alive, DEAD);
	kfree(v);
	atomic_inc(&load->freed);
}

static void op_shared(struct load *load, struct victim *v,
		      struct rnd_state *rng)
{
	unsigned long expires = jiffies + callout_test_below(rng, 4) - 1;
	int ret;

	/* Mostly settings: thousands of calls are made in each tick, and timers must run. */
	switch (callout_test_below(rng, 128)) {
	case 0:
		count_cancel(load, callout_timer_delete(&v->t));
		break;
	case 1:
		count_cancel(load, callout_timer_delete_sync_try(&v->t));
		break;
	case 2:
		count_cancel(load, callout_timer_delete_sync(&v->t));
		break;
	case 3:
		ret = callout_timer_mod_pending(&v->t, expires + 1);
		wrong(load, ret < 0, "less than 0");
		break;
	case 4 ... 32:
		count_set(load, callout_timer_reduce(&v->t, expires));
		break;
	default:
		count_set(load, callout_timer_mod(&v->t, expires));
	}
}

static void op_alone(struct load *load, struct item *item,
		     struct rnd_state *rng)
{
	unsigned int kind = callout_test_below(rng, ARRAY_SIZE(all_flags));
	unsigned int cpu = callout_test_below(rng, nr_cpu_ids);
	struct victim *v = item->v;

	switch (v ? callout_test_below(rng, 3) : 2) {
	case 0:
		count_cancel(load, callout_timer_delete_sync(&v->t));
		wrong(load, callout_timer_pending(&v->t), "pending, deleted");
		wrong(load, atomic_read(&v->inside), "running, deleted");
		v->t.expires = jiffies + callout_test_below(rng, 3);
		count_set(load, 0);
		callout_timer_add_on(&v->t, cpu);
		break;
	case 1:
		if (callout_timer_delete_sync_try(&v->t) == 1)
			count_cancel(load, 1);
		break;
	default:
		victim_free(load, item);
		item->v = victim_create(load, all_flags[kind]);
	}
}

static bool enough(struct load *load)
{
	return atomic_read(&load->runs) >= MIN_RUNS &&
	       atomic_read(&load->freed) >= MIN_FREED;
}

static void stress_thread(void *arg)
{
	u64 give_up = ktime_get_ns() + 20ULL * NSEC_PER_SEC;
	struct load *load = arg;
	struct item *item;
	struct rnd_state rng;

	prandom_seed_state(&rng, load->seed + 7919 * raw_smp_processor_id());
	while (ktime_get_ns() < load->end ||
	       (!enough(load) && ktime_get_ns() < give_up)) {
		item = &load->item[callout_test_below(&rng, ITEMS)];
		if (callout_test_below(&rng, 64)) {
			read_lock_bh(&item->lock);
			if (item->v)
				op_shared(load, item->v, &rng);
			read_unlock_bh(&item->lock);
		} else {
			write_lock_bh(&item->lock);
			op_alone(load, item, &rng);
			write_unlock_bh(&item->lock);
		}
		cond_resched();
	}
}

/* Run the global bases of all CPUs on this CPU, as the kernel may. */
static void run_global_bases(struct load *load)
{
	struct callout_base *base;
	unsigned int cpu;

	while (ktime_get_ns() < load->end) {
		for_each_online_cpu(cpu) {
			base = co_base_of(CALLOUT_CLASS_GLOBAL, cpu);
			if (!co_base_has_class(base, CALLOUT_CLASS_GLOBAL))
				continue;
			local_bh_disable();
			while (co_expire(base))
				;
			local_bh_enable();
		}
		cond_resched();
	}
}

/* Take the last CPU offline and online, again and again. */
static void take_cpu(struct kunit *test, struct load *load, unsigned int cpu)
{
	while (ktime_get_ns() < load->end) {
		KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
		KUNIT_ASSERT_EQ(test, 0, add_cpu(cpu));
	}
}

static void load_end(void *data)
{
	struct load *load = data;
	unsigned int i;

	for (i = 0; i < ITEMS; i++) {
		write_lock_bh(&load->item[i].lock);
		victim_free(load, &load->item[i]);
		write_unlock_bh(&load->item[i].lock);
	}
}

static struct load *load_create(struct kunit *test)
{
	struct load *load = kunit_kzalloc(test, sizeof(*load), GFP_KERNEL);
	struct rnd_state rng;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, load);
	callout_test_rng(test, &rng);
	load->seed = prandom_u32_state(&rng);
	load->handlers_set = true;
	for (i = 0; i < ITEMS; i++)
		rwlock_init(&load->item[i].lock);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, load_end, load));
	return load;
}

/* Run threads on the first @n CPUs, and take @cpu offline and online in this thread. */
static void load_run(struct kunit *test, struct load *load, unsigned int n,
		     unsigned int cpu)
{
	struct callout_test_thread *t[MAX_THREADS];
	unsigned int nr = 0, on, i;

	load->end = ktime_get_ns() + DURATION_NS;
	for_each_online_cpu(on)
		if (on != cpu && nr < min(n, MAX_THREADS))
			t[nr++] = callout_test_thread(test, on, stress_thread,
						      load);
	if (cpu < nr_cpu_ids)
		take_cpu(test, load, cpu);
	else
		run_global_bases(load);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, callout_test_join(t[i]));
	WRITE_ONCE(load->handlers_set, false);
}

/* Is a timer pending for which an idle CPU would wake up? */
static bool is_pending(struct load *load)
{
	unsigned int i;

	for (i = 0; i < ITEMS; i++)
		if (load->item[i].v &&
		    !(load->item[i].v->t.flags & TIMER_DEFERRABLE) &&
		    callout_timer_pending(&load->item[i].v->t))
			return true;
	return false;
}

static void load_check(struct kunit *test, struct load *load)
{
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(!is_pending(load)));
	load_end(load);
	KUNIT_EXPECT_EQ(test, atomic_read(&load->settings),
			atomic_read(&load->runs) +
			atomic_read(&load->cancelled));
	kunit_info(test, "set %d, ran %d, cancelled %d, met running %d, freed %d\n",
		   atomic_read(&load->settings), atomic_read(&load->runs),
		   atomic_read(&load->cancelled), atomic_read(&load->tries),
		   atomic_read(&load->freed));
	KUNIT_EXPECT_EQ(test, atomic_read(&load->errors), 0);
	KUNIT_EXPECT_TRUE(test, enough(load));
}

/* All of the head comment holds while another CPU runs global bases. */
static void timer_stress_calls(struct kunit *test)
{
	struct load *load = load_create(test);

	load_run(test, load, MAX_THREADS, nr_cpu_ids);
	load_check(test, load);
}

/* All of the head comment holds while the last CPU dies and comes back. */
static void timer_stress_hotplug(struct kunit *test)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct load *load;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "no CPU can go away");
	load = load_create(test);
	callout_test_pin(test, 0);
	load_run(test, load, MAX_THREADS, cpu);
	load_check(test, load);
}

static struct kunit_case timer_stress_cases[] = {
	KUNIT_CASE_SLOW(timer_stress_calls),
	KUNIT_CASE_SLOW(timer_stress_hotplug),
	{}
};

static struct kunit_suite timer_stress_suite = {
	.name = "callout_timer_stress",
	.test_cases = timer_stress_cases,
};

kunit_test_suite(timer_stress_suite);
