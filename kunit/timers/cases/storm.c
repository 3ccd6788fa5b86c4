// SPDX-License-Identifier: GPL-2.0
/*
 * storm.c - all CPUs call everything, at random, on the same timers
 *
 * A timer lives from timer_setup() until it is shut down and freed. Each start
 * of an idle timer ends in one run or in one deletion, so that when a life ends
 *
 *	starts == runs + deletions
 *
 * A start is a call that found the timer idle, and returned 0. But a call on a
 * timer that is shut down returns 0 too: starts that returned after a shutdown
 * began are doubtful, and only then does the life end with
 *
 *	starts - doubtful <= runs + deletions <= starts
 *
 * Most calls share a timer with calls on other CPUs. Some calls have the timer
 * alone, as Linux demands for add_timer() and for freeing: only its handler may run
 * concurrently.
 */
#include "timers/api.h"

#define TIMER_STORM_ITEMS	24U
#define TIMER_STORM_THREADS	8U

/* The maximum number of calls that a thread makes until it has seen what the case demands. */
#define TIMER_STORM_CALLS	3000000U

/* How long some handlers wait for a call on their timer. */
#define TIMER_STORM_LINGER_NS	(500 * NSEC_PER_USEC)
#define TIMER_STORM_LOOK_US	20

/* Events that must have happened, even on the slowest machine. */
enum timer_seen {
	TIMER_SEEN_STARTED,
	TIMER_SEEN_MOVED,
	TIMER_SEEN_RUN,
	TIMER_SEEN_REARMED,		/* by the timer's handler */
	TIMER_SEEN_DELETED,
	TIMER_SEEN_TRY_FAILED,		/* the timer was running on another CPU */
	TIMER_SEEN_WAITED,		/* timer_delete_sync() met the handler */
	TIMER_SEEN_REFUSED,		/* started after it was shut down */
	TIMER_SEEN_FREED,
	TIMER_SEEN_EXACT,		/* a life without a doubtful start */
	TIMER_SEEN_NR
};

static const char *const timer_seen_name[TIMER_SEEN_NR] = {
	"started", "moved", "run", "rearmed", "deleted", "try failed", "waited",
	"refused", "freed", "exact books",
};

/**
 * struct timer_life - a timer, from its setup until it is freed
 * @t: the timer
 * @storm: the storm of the case
 * @starts: calls that found the timer idle, and returned 0
 * @doubtful: starts that may have been refused
 * @runs: how often the handler has run
 * @deletions: calls that returned 1 and deleted it
 * @calls: calls that have begun
 * @inside: the handler runs
 * @shut: a shutdown has begun
 */
struct timer_life {
	struct timer_list t;
	struct timer_storm *storm;
	atomic_t starts;
	atomic_t doubtful;
	atomic_t runs;
	atomic_t deletions;
	atomic_t calls;
	atomic_t inside;
	bool shut;
};

/**
 * struct timer_storm_item - a place for one timer after another
 * @lock: held for reading by calls that share the timer, for writing by calls that
 *	have it alone
 * @life: the timer
 */
struct timer_storm_item {
	rwlock_t lock;	/* protects life */
	struct timer_life *life;
};

/**
 * struct timer_storm - the case
 * @end: when the threads end, in ns, if they have seen what is demanded
 * @seed: seed of the threads' random numbers
 * @calm: handlers no longer re-arm their timers
 * @wrong: number of violations
 * @seen: the events that have happened
 * @item: the timers
 */
struct timer_storm {
	u64 end;
	u32 seed;
	bool calm;
	atomic_t wrong;
	atomic_t seen[TIMER_SEEN_NR];
	struct timer_storm_item item[TIMER_STORM_ITEMS];
};

static void timer_storm_see(struct timer_storm *storm, enum timer_seen what)
{
	atomic_inc(&storm->seen[what]);
}

static void timer_storm_wrong(struct timer_life *life, const char *what)
{
	atomic_inc(&life->storm->wrong);
	pr_err("timer storm: %s\n", what);
}

/*
 * Count the result of a call that starts a timer. The flag is read after the call:
 * if it is not set, no shutdown had begun, and the timer has started.
 */
static void timer_storm_started(struct timer_life *life, int ret)
{
	if (ret) {
		timer_storm_see(life->storm, TIMER_SEEN_MOVED);
		return;
	}
	atomic_inc(&life->starts);
	/* Pairs with the barrier in timer_storm_shut(). */
	smp_mb();
	if (READ_ONCE(life->shut)) {
		atomic_inc(&life->doubtful);
		timer_storm_see(life->storm, TIMER_SEEN_REFUSED);
	} else {
		timer_storm_see(life->storm, TIMER_SEEN_STARTED);
	}
}

static void timer_storm_shut(struct timer_life *life)
{
	WRITE_ONCE(life->shut, true);
	/* Set the flag before the shutdown; pairs with timer_storm_started(). */
	smp_mb();
}

static int timer_storm_deleted(struct timer_life *life, int ret)
{
	if (ret > 0) {
		atomic_inc(&life->deletions);
		timer_storm_see(life->storm, TIMER_SEEN_DELETED);
	}
	return ret;
}

static void timer_storm_handler(struct timer_list *t)
{
	struct timer_life *life = from_timer(life, t, t);
	struct timer_storm *storm = life->storm;
	unsigned int run = atomic_inc_return(&life->runs);
	int calls = atomic_read(&life->calls);
	u64 end;

	if (atomic_inc_return(&life->inside) != 1)
		timer_storm_wrong(life, "a handler runs twice at a time");
	timer_storm_see(storm, TIMER_SEEN_RUN);
	if (run % 2) {
		/* Wait until two calls have met the handler, and have had time to look. */
		end = ktime_get_ns() + TIMER_STORM_LINGER_NS;
		while (atomic_read(&life->calls) - calls < 2 &&
		       ktime_get_ns() < end)
			cpu_relax();
		udelay(TIMER_STORM_LOOK_US);
	}
	if (run % 3 == 0 && !READ_ONCE(storm->calm)) {
		timer_storm_see(storm, TIMER_SEEN_REARMED);
		timer_storm_started(life, mod_timer(t, jiffies + run % 4));
	}
	atomic_dec(&life->inside);
}

/* Check that the timer neither runs, nor is pending, nor can start: only the caller knows it. */
static void timer_storm_check_still(struct timer_life *life)
{
	int missing = atomic_read(&life->starts) - atomic_read(&life->runs) -
		      atomic_read(&life->deletions);

	if (timer_pending(&life->t))
		timer_storm_wrong(life, "pending after it was deleted");
	if (atomic_read(&life->inside))
		timer_storm_wrong(life, "running after it was waited for");
	if (missing < 0)
		timer_storm_wrong(life, "more runs and deletions than starts");
	if (missing > atomic_read(&life->doubtful))
		timer_storm_wrong(life, "a start is lost");
	if (!atomic_read(&life->doubtful))
		timer_storm_see(life->storm, TIMER_SEEN_EXACT);
}

static struct timer_life *timer_life_create(struct timer_storm *storm,
					    struct rnd_state *rng)
{
	static const u32 flags[] = { 0, TIMER_PINNED, TIMER_IRQSAFE,
				     TIMER_DEFERRABLE, 0 };
	struct timer_life *life = kzalloc(sizeof(*life), GFP_KERNEL);

	if (!life)
		return NULL;
	life->storm = storm;
	timer_setup(&life->t, timer_storm_handler,
		    flags[callout_test_below(rng, ARRAY_SIZE(flags))]);
	return life;
}

/* End a life that its caller has alone. */
static void timer_life_end(struct timer_life *life)
{
	timer_storm_shut(life);
	timer_storm_deleted(life, timer_shutdown_sync(&life->t));
	timer_storm_check_still(life);
	timer_storm_see(life->storm, TIMER_SEEN_FREED);
	kfree(life);
}

static unsigned long timer_storm_when(struct rnd_state *rng)
{
	return jiffies - 1 + callout_test_below(rng, 5);
}

/* Shut the timer down while others start it: it is idle afterwards, and remains so. */
static void timer_storm_shutdown(struct timer_life *life, bool sync)
{
	timer_storm_shut(life);
	timer_storm_deleted(life, sync ? timer_shutdown_sync(&life->t) :
				  timer_shutdown(&life->t));
	if (timer_pending(&life->t))
		timer_storm_wrong(life, "pending after it was shut down");
	if (sync && atomic_read(&life->inside))
		timer_storm_wrong(life, "running after it was shut down");
}

/* Make a call on a timer that other threads use too. */
static void timer_storm_share(struct timer_life *life, struct rnd_state *rng)
{
	struct timer_list *t = &life->t;
	bool inside = atomic_read(&life->inside);

	atomic_inc(&life->calls);
	switch (callout_test_below(rng, 16)) {
	case 0 ... 5:
		timer_storm_started(life, mod_timer(t, timer_storm_when(rng)));
		break;
	case 6:
		timer_storm_started(life,
				    timer_reduce(t, timer_storm_when(rng)));
		break;
	case 7:
		if (mod_timer_pending(t, timer_storm_when(rng)))
			timer_storm_see(life->storm, TIMER_SEEN_MOVED);
		break;
	case 8 ... 9:
		timer_storm_deleted(life, timer_delete(t));
		break;
	case 10 ... 11:
		if (timer_storm_deleted(life, try_to_del_timer_sync(t)) < 0)
			timer_storm_see(life->storm, TIMER_SEEN_TRY_FAILED);
		break;
	case 12 ... 14:
		timer_storm_deleted(life, timer_delete_sync(t));
		if (inside)
			timer_storm_see(life->storm, TIMER_SEEN_WAITED);
		break;
	default:
		/* Rare: the next thread that has the timer alone ends its life. */
		if (!callout_test_below(rng, 16))
			timer_storm_shutdown(life, callout_test_below(rng, 2));
	}
}

/* Delete a timer that the caller has alone, and start it in any way. */
static void timer_storm_restart(struct timer_life *life, struct rnd_state *rng)
{
	struct timer_list *t = &life->t;

	timer_storm_deleted(life, timer_delete_sync(t));
	timer_storm_check_still(life);
	if (READ_ONCE(life->shut))
		return;
	t->expires = timer_storm_when(rng);
	switch (callout_test_below(rng, 4)) {
	case 0:
		add_timer(t);
		break;
	case 1:
		add_timer_local(t);
		break;
	case 2:
		add_timer_global(t);
		break;
	default:
		add_timer_on(t, cpumask_nth(callout_test_below(rng,
							       num_online_cpus()),
					    cpu_online_mask));
	}
	timer_storm_started(life, 0);
}

static void timer_storm_alone(struct timer_storm *storm,
			      struct timer_storm_item *item,
			      struct rnd_state *rng)
{
	struct timer_life *next = NULL, *old = NULL;

	if (READ_ONCE(item->life->shut) || !callout_test_below(rng, 4))
		next = timer_life_create(storm, rng);
	write_lock(&item->lock);
	if (next) {
		old = item->life;
		item->life = next;
	} else {
		timer_storm_restart(item->life, rng);
	}
	write_unlock(&item->lock);
	if (old)
		timer_life_end(old);
}

/*
 * Leave most timers alone until they run: a tick takes thousands of calls. A
 * running handler is a chance for a race.
 */
static bool timer_storm_waits(struct timer_life *life, struct rnd_state *rng)
{
	return timer_pending(&life->t) && !atomic_read(&life->inside) &&
	       callout_test_below(rng, 256);
}

static void timer_storm_call(struct timer_storm *storm,
			     struct timer_storm_item *item,
			     struct rnd_state *rng)
{
	bool waits;

	if (!callout_test_below(rng, 256)) {
		timer_storm_alone(storm, item, rng);
		return;
	}
	read_lock(&item->lock);
	waits = timer_storm_waits(item->life, rng);
	if (!waits)
		timer_storm_share(item->life, rng);
	read_unlock(&item->lock);
}

static bool timer_storm_has_seen_all(struct timer_storm *storm)
{
	unsigned int i;

	for (i = 0; i < TIMER_SEEN_NR; i++)
		if (!atomic_read(&storm->seen[i]))
			return false;
	return true;
}

static void timer_storm_thread(void *arg)
{
	struct timer_storm *storm = arg;
	unsigned int calls, i;
	struct rnd_state rng;

	prandom_seed_state(&rng, storm->seed + 7919 * raw_smp_processor_id());
	for (calls = 0; ktime_get_ns() < storm->end ||
	     (calls < TIMER_STORM_CALLS && !timer_storm_has_seen_all(storm));
	     calls++) {
		i = callout_test_below(&rng, TIMER_STORM_ITEMS);
		timer_storm_call(storm, &storm->item[i], &rng);
		cond_resched();
	}
}

static void timer_storm_end(void *data)
{
	struct timer_storm *storm = data;
	unsigned int i;

	WRITE_ONCE(storm->calm, true);
	for (i = 0; i < TIMER_STORM_ITEMS; i++)
		if (storm->item[i].life)
			timer_life_end(storm->item[i].life);
}

static struct timer_storm *timer_storm_create(struct kunit *test,
					      struct rnd_state *rng)
{
	struct timer_storm *storm;
	unsigned int i;

	storm = kunit_kzalloc(test, sizeof(*storm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, storm);
	storm->seed = prandom_u32_state(rng);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test,
							   timer_storm_end,
							   storm));
	for (i = 0; i < TIMER_STORM_ITEMS; i++) {
		rwlock_init(&storm->item[i].lock);
		storm->item[i].life = timer_life_create(storm, rng);
		KUNIT_ASSERT_NOT_NULL(test, storm->item[i].life);
	}
	return storm;
}

/* Join a thread, waiting for as long as any thread makes timers run. */
static bool timer_storm_join(struct timer_storm *storm,
			     struct callout_test_thread *t)
{
	int runs;

	do {
		runs = atomic_read(&storm->seen[TIMER_SEEN_RUN]);
		if (callout_test_join(t))
			return true;
	} while (atomic_read(&storm->seen[TIMER_SEEN_RUN]) != runs);
	return false;
}

/* Each start ends in a run or a deletion, whatever calls are made concurrently. */
static void timer_survives_a_storm(struct kunit *test)
{
	struct callout_test_thread *t[TIMER_STORM_THREADS];
	unsigned int cpu, nr = 0, i;
	struct timer_storm *storm;
	struct rnd_state rng;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	callout_test_rng(test, &rng);
	storm = timer_storm_create(test, &rng);
	storm->end = ktime_get_ns() + callout_test_storm_ns();
	for_each_online_cpu(cpu)
		if (nr < TIMER_STORM_THREADS)
			t[nr++] = callout_test_thread(test, cpu,
						      timer_storm_thread, storm);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_TRUE(test, timer_storm_join(storm, t[i]));
	KUNIT_EXPECT_EQ(test, atomic_read(&storm->wrong), 0);
	for (i = 0; i < TIMER_SEEN_NR; i++) {
		kunit_info(test, "%s: %d\n", timer_seen_name[i],
			   atomic_read(&storm->seen[i]));
		KUNIT_EXPECT_GT_MSG(test, atomic_read(&storm->seen[i]), 0, "%s",
				    timer_seen_name[i]);
	}
}
