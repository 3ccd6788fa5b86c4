// SPDX-License-Identifier: GPL-2.0
/*
 * chip.c - suites callout_chip_busy, callout_chip_full, callout_chip_levels:
 * interrupts of the host
 *
 * The paper's Appendix A: with a busy bit for each of M buckets a timer of T ticks
 * in Scheme 6 costs T / M interrupts, and in Scheme 7, with busy bits for each of m
 * levels, m at most. A chip that does all the work interrupts once for each tick at
 * which a callout expires. No chip with levels is simulated: the hierarchical wheel
 * has its own busy bits, and such a chip would interrupt at its next_due.
 */
#include <linux/math.h>
#include <linux/numa.h>
#include <linux/spinlock.h>
#include "lab/chip.h"
#include "lib/virtual.h"

#define M	64U
#define MANY	500U

/* Let time pass as the chip's tick source would, which is programmed for one interrupt. */
static void chip_run_to(struct callout_virtual *v, u64 now)
{
	struct callout_base *base = v->base;
	unsigned int programs;

	while (base->armed <= now) {
		v->now = max(v->now, base->armed);
		programs = v->programs;
		if (co_chip_source(base)->interrupt(base))
			callout_virtual_expire(v);
		if (base->armed != U64_MAX && v->programs == programs) {
			KUNIT_FAIL(v->test, "not set for the next tick");
			break;
		}
	}
	v->now = now;
}

static int chip_busy_init(struct kunit *test)
{
	return callout_virtual_create_chip(test, &callout_chip_busy, M);
}

static int chip_full_init(struct kunit *test)
{
	return callout_virtual_create_chip(test, &callout_chip_full, M);
}

static void chip_param_desc(const unsigned int *ticks, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u ticks", *ticks);
}

static const unsigned int distances[] = {
	1, 2, M - 1, M, M + 1, 2 * M, 10 * M - 1, 10 * M, 10 * M + 1, 1000 * M,
};

KUNIT_ARRAY_PARAM(chip_distance, distances, chip_param_desc);

/* A callout costs T / M interrupts, rounded up, and runs at the last interrupt. */
static void chip_busy_one(struct kunit *test)
{
	unsigned int ticks = *(const unsigned int *)test->param_value;
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 1);
	u64 start = v->now;

	callout_virtual_set(item, ticks);
	chip_run_to(v, start + ticks - 1);
	KUNIT_EXPECT_EQ(test, item->runs, 0);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, (ticks - 1) / M);
	chip_run_to(v, start + ticks);
	KUNIT_EXPECT_EQ(test, item->runs, 1);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts,
			DIV_ROUND_UP(ticks, M));
	/* No interrupts follow. */
	chip_run_to(v, start + ticks + 10 * M);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts,
			DIV_ROUND_UP(ticks, M));
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->queued, 1);
}

/* Each busy bucket costs T / M interrupts, however many callouts are in it. */
static void chip_busy_many(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2 * M);
	u64 start = v->now;
	unsigned int i;

	for (i = 0; i < M; i++)
		callout_virtual_set(&item[i], 20 * M + i);
	chip_run_to(v, start + 22 * M);
	KUNIT_EXPECT_EQ(test, v->ran, M);
	/* The distance of the first callout is a whole number of laps: it needs no partial lap. */
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 20 * M + M - 1);

	co_chip(v->base)->interrupts = 0;
	start = v->now;
	for (i = 0; i < 2 * M; i++)
		callout_virtual_set(&item[i], 20 * M);
	chip_run_to(v, start + 22 * M);
	KUNIT_EXPECT_EQ(test, v->ran, 3 * M);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 20);
}

/* A bucket that has become empty costs no interrupt: the chip passes over it. */
static void chip_busy_cancelled(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	u64 start = v->now;

	callout_virtual_set(&item[0], 5);
	callout_virtual_set(&item[1], 3 * M + 9);
	KUNIT_EXPECT_EQ(test, 1, callout_stop(&item[0].c));
	chip_run_to(v, start + 8);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 0);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->passes, 1);
	/* A move clears the busy bit of the old bucket. */
	callout_virtual_set(&item[1], 4 * M);
	chip_run_to(v, start + 8 + 4 * M);
	KUNIT_EXPECT_EQ(test, item[1].runs, 1);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 4);
}

/* A callout whose bucket comes earlier than the armed bucket is on time. */
static void chip_busy_nearer(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 2);
	u64 start = v->now;

	callout_virtual_set(&item[0], 40);
	callout_virtual_set(&item[1], M + 7);
	chip_run_to(v, start + 39);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 1);
	chip_run_to(v, start + 40);
	KUNIT_EXPECT_EQ(test, item[0].runs, 1);
	chip_run_to(v, start + M + 7);
	KUNIT_EXPECT_EQ(test, item[1].runs, 1);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 3);
}

/* A chip that is woken late catches up, even by more than a lap. */
static void chip_busy_late(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	unsigned int i, round;

	for (round = 1; round <= 2; round++) {
		for (i = 0; i < 3; i++)
			callout_virtual_set(&item[i], 3 + 2 * i);
		callout_stop(&item[0].c);
		v->now += round * (M - 1);
		chip_run_to(v, v->now);
		KUNIT_EXPECT_EQ(test, v->ran, 2 * round);
		KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, round);
		KUNIT_EXPECT_EQ(test, co_chip(v->base)->passes, round);
	}
}

/*
 * The host can ask for an interrupt at a tick that no busy bucket shows. It gets
 * the interrupt even if earlier buckets are busy at the time and become idle before
 * their tick.
 */
static void chip_busy_asked(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	unsigned int round;
	u64 next;

	for (round = 0; round < 2; round++) {
		next = v->now + 8;
		callout_virtual_set(&item[0], 5);
		callout_virtual_set(&item[1], 7 + round);
		callout_virtual_set(&item[2], 8);
		/* The chip is past the bucket, and comes to it again in a lap. */
		v->now += 5;
		co_base_lock_irq(v->base);
		v->base->tick->program(v->base, next);
		co_base_unlock_irq(v->base);
		KUNIT_EXPECT_EQ(test, v->base->armed, next - 1 + round);
		callout_stop(&item[1].c);
		callout_stop(&item[2].c);
		chip_run_to(v, next - 1);
		KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, round);
		chip_run_to(v, next);
		KUNIT_EXPECT_EQ(test, item[0].ran_at, next);
		KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts,
				round + 1);
		KUNIT_EXPECT_EQ(test, co_chip(v->base)->passes, 1);
		KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
	}
}

/* The host also asks for an expiry that continues later, whose callouts are in no bucket ahead. */
static void chip_busy_goes_on(struct kunit *test)
{
	const unsigned int nr = CALLOUT_MAX_HANDLERS + 1;
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, nr + 2);
	struct callout_chip *chip = co_chip(v->base);
	unsigned int i, ran;

	for (i = 0; i < nr; i++)
		callout_virtual_set(&item[i], 5);
	callout_virtual_set(&item[nr], 14);
	callout_virtual_set(&item[nr + 1], 15);
	v->base->tick_ns = DIV_ROUND_UP(TICK_NSEC, 10);
	callout_test_set_online(v->base, false);
	v->now += 5;
	KUNIT_EXPECT_TRUE(test, co_chip_source(v->base)->interrupt(v->base));
	callout_virtual_wake_at(v, v->now);
	/* A hold of the lock without a handler counts as a handler. */
	ran = v->ran;
	KUNIT_EXPECT_GT(test, ran, 0);
	KUNIT_EXPECT_LT(test, ran, nr);
	callout_stop(&item[nr].c);
	callout_stop(&item[nr + 1].c);
	chip_run_to(v, v->now + 9);
	KUNIT_EXPECT_EQ(test, v->ran, ran);
	KUNIT_EXPECT_EQ(test, chip->passes, 1);
	chip_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, v->ran, nr);
	KUNIT_EXPECT_EQ(test, chip->interrupts, 2);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

static DEFINE_SPINLOCK(chip_lock);

/* A callout that is put off is in no bucket: each tick interrupts the host. */
static void chip_put_off(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	u64 start = v->now;

	callout_test_need_spinlocks(test);
	callout_init_mtx(&item[0].c, &chip_lock, CALLOUT_TRYLOCK);
	item[0].c.node.cpu = CALLOUT_VIRTUAL;
	callout_virtual_set(&item[1], M + 5);
	spin_lock_bh(&chip_lock);
	callout_virtual_set(&item[0], 5);
	callout_virtual_set(&item[2], 6);
	chip_run_to(v, start + 5);
	/* The next bucket is idle when the chip comes to it. */
	KUNIT_EXPECT_EQ(test, callout_stop(&item[2].c), 1);
	chip_run_to(v, start + 8);
	spin_unlock_bh(&chip_lock);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 4);
	KUNIT_EXPECT_EQ(test, item[0].runs, 0);
	KUNIT_EXPECT_TRUE(test, callout_pending(&item[0].c));
	chip_run_to(v, start + 2 * M);
	KUNIT_EXPECT_EQ(test, item[0].ran_at, start + 9);
	KUNIT_EXPECT_EQ(test, item[1].ran_at, start + M + 5);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 6);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	/* Stopping such a callout leaves no count and no busy bit behind. */
	start = v->now;
	spin_lock_bh(&chip_lock);
	callout_virtual_set(&item[0], 5);
	chip_run_to(v, start + 8);
	KUNIT_EXPECT_EQ(test, callout_stop(&item[0].c), 1);
	spin_unlock_bh(&chip_lock);
	chip_run_to(v, start + 4 * M);
	KUNIT_EXPECT_EQ(test, item[0].runs, 1);
	KUNIT_EXPECT_EQ(test, co_base_pending(v->base), 0);
	KUNIT_EXPECT_EQ(test, v->base->armed, U64_MAX);
}

/* The host's counts and the chip's busy bits match the queued callouts. */
static void chip_check(struct kunit *test, struct callout_item *item)
{
	struct callout_virtual *v = test->priv;
	struct callout_chip *chip = co_chip(v->base);
	unsigned int count[M] = {}, i, wrong = 0;

	for (i = 0; i < MANY; i++)
		if (callout_pending(&item[i].c))
			count[item[i].c.node.expires % M]++;
	for (i = 0; i < M; i++)
		wrong += count[i] != chip->count[i] ||
			 !count[i] != !test_bit(i, chip->busy);
	KUNIT_ASSERT_EQ(test, wrong, 0);
}

/* Callouts run on time, and counts and bits are right, after random operations. */
static void chip_busy_random(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, MANY);
	u64 *due = kunit_kcalloc(test, MANY, sizeof(*due), GFP_KERNEL);
	unsigned int i, op, wrong = 0;
	struct rnd_state rng;

	KUNIT_ASSERT_NOT_NULL(test, due);
	callout_test_rng(test, &rng);
	for (op = 0; op < 20000; op++) {
		i = callout_test_below(&rng, MANY);
		switch (callout_test_below(&rng, 4)) {
		case 0:
			callout_stop(&item[i].c);
			due[i] = 0;
			break;
		case 1:
			chip_run_to(v, v->now + callout_test_below(&rng, 20));
			for (i = 0; i < MANY; i++) {
				wrong += due[i] && due[i] <= v->now &&
					 item[i].ran_at != due[i];
				if (due[i] <= v->now)
					due[i] = 0;
			}
			break;
		default:
			callout_virtual_set(&item[i],
					    1 + callout_test_below(&rng, 9 * M));
			due[i] = item[i].c.node.expires;
		}
		chip_check(test, item);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, v->ran, 1000);
}

/* One interrupt for each distinct expiry, however many callouts share it. */
static void chip_full_distinct(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, MANY);
	unsigned int i, wrong = 0;
	u64 start = v->now;

	for (i = 0; i < MANY; i++)
		callout_virtual_set(&item[i], 100 * M + 7 * (i / 5));
	chip_run_to(v, start + 100 * M - 1);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 0);
	chip_run_to(v, start + 200 * M);
	for (i = 0; i < MANY; i++)
		wrong += item[i].ran_at != start + 100 * M + 7 * (i / 5);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, MANY / 5);
}

/* The chip continues if it has looked at many entries that are not due, and found none due. */
static void chip_full_among_later(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, MANY);
	u64 start = v->now;
	unsigned int i;

	/* The entries are moved lazily, and looked at when the chip comes to them. */
	for (i = 1; i < MANY; i++)
		callout_virtual_set(&item[i], 10 * M);
	for (i = 1; i < MANY; i++)
		callout_virtual_set(&item[i], 100 * M);
	callout_virtual_set(&item[0], 10 * M);
	chip_run_to(v, start + 10 * M);
	KUNIT_EXPECT_EQ(test, item[0].runs, 1);
	KUNIT_EXPECT_EQ(test, v->ran, 1);
	KUNIT_EXPECT_GT(test, co_chip(v->base)->passes, 0);
	for (i = 1; i < MANY; i++)
		callout_stop(&item[i].c);
}

/* A callout that was cancelled or moved does not interrupt the host. */
static void chip_full_moved(struct kunit *test)
{
	struct callout_virtual *v = test->priv;
	struct callout_item *item = callout_virtual_items(test, 3);
	u64 start = v->now;

	callout_virtual_set(&item[0], 5);
	callout_virtual_set(&item[1], 9);
	callout_virtual_set(&item[2], 9);
	callout_stop(&item[0].c);
	callout_virtual_set(&item[1], 30);
	callout_virtual_set(&item[2], 31);
	chip_run_to(v, start + 29);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 0);
	KUNIT_EXPECT_GT(test, co_chip(v->base)->passes, 0);
	chip_run_to(v, start + 30);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 1);
	chip_run_to(v, start + 100);
	KUNIT_EXPECT_EQ(test, co_chip(v->base)->interrupts, 2);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
}

struct levels_param {
	const char *name;
	unsigned int variant;
	unsigned int nr;
	unsigned int level[5];
	unsigned int m;
};

/* The exact variants: migrate, and the setting of reference 003. */
static const struct levels_param levels_params[] = {
	{ "256 64 64 64 64", 0, 5, { 256, 64, 64, 64, 64 }, 5 },
	{ "60 60 24 100", 0, 4, { 60, 60, 24, 100 }, 4 },
	{ "16 16 16", 0, 3, { 16, 16, 16 }, 3 },
	{ "first_digit", 3, 0, {}, 16 },
};

static void levels_desc(const struct levels_param *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(levels, levels_params, levels_desc);

/* Return the host's wake-ups until @c is due, which happens on time. */
static unsigned int levels_wakeups(struct kunit *test, struct callout_scheme *s,
				   struct callout_node *n, u64 *now)
{
	unsigned int wakeups = 0, budget;
	LIST_HEAD(due);
	u64 next;

	while (list_empty(&due)) {
		budget = UINT_MAX;
		next = s->ops->next_due(s, &budget);
		KUNIT_ASSERT_GT(test, next, *now);
		KUNIT_ASSERT_LE(test, next, n->expires);
		*now = next;
		budget = UINT_MAX;
		s->ops->advance(s, next, &budget, &due);
		wakeups++;
	}
	KUNIT_ASSERT_EQ(test, *now, n->expires);
	return wakeups;
}

static void levels_destroy(void *data)
{
	struct callout_scheme *s = data;

	s->ops->destroy(s);
}

/* Create an empty wheel at tick 0. @last is the last tick that has a slot in a level. */
static struct callout_scheme *levels_create(struct kunit *test, u64 *last)
{
	const struct levels_param *p = test->param_value;
	struct callout_scheme_params params = {
		.variant = p->variant,
		.nr_levels = p->nr,
		.node = NUMA_NO_NODE,
	};
	const struct callout_scheme_ops *ops;
	struct callout_scheme *s;
	unsigned int i;

	*last = 1;
	for (i = 0; i < p->nr; i++) {
		params.level[i] = p->level[i];
		*last *= p->level[i];
	}
	/* 16 digits cover all of time. */
	*last = p->nr ? *last - 1 : U64_MAX - 1;
	ops = co_scheme_find("hierarchical_wheel");
	KUNIT_ASSERT_NOT_NULL(test, ops);
	s = ops->create(&params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, s);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, levels_destroy, s));
	return s;
}

/* The farthest callout, which differs from tick 0 in each digit, costs m wake-ups. */
static void chip_levels_farthest(struct kunit *test)
{
	const struct levels_param *p = test->param_value;
	struct callout_node n = { .state = CALLOUT_S_PENDING };
	struct callout_scheme *s;
	u64 last, now = 0;

	s = levels_create(test, &last);
	s->ops->start(s, &n, now, last);
	KUNIT_EXPECT_EQ(test, levels_wakeups(test, s, &n, &now), p->m);
}

/* Any callout costs at most m wake-ups. */
static void chip_levels_random(struct kunit *test)
{
	const struct levels_param *p = test->param_value;
	unsigned int i, wakeups, most = 0, part;
	struct callout_scheme *s;
	struct callout_node n = {};
	struct rnd_state rng;
	u64 last, now = 0;

	callout_test_rng(test, &rng);
	s = levels_create(test, &last);
	for (i = 0; now < last && i < 1000; i++) {
		part = callout_test_below(&rng, 12) + 1;
		n.state = CALLOUT_S_PENDING;
		s->ops->start(s, &n, now,
			      min(now + 1 + ((last - now) >> part), last));
		wakeups = levels_wakeups(test, s, &n, &now);
		KUNIT_ASSERT_LE(test, wakeups, p->m);
		most = max(most, wakeups);
	}
	KUNIT_EXPECT_GT(test, most, 1);
}

static struct kunit_case busy_cases[] = {
	KUNIT_CASE_PARAM(chip_busy_one, chip_distance_gen_params),
	KUNIT_CASE(chip_busy_many),
	KUNIT_CASE(chip_busy_cancelled),
	KUNIT_CASE(chip_busy_nearer),
	KUNIT_CASE(chip_busy_late),
	KUNIT_CASE(chip_busy_asked),
	KUNIT_CASE(chip_busy_goes_on),
	KUNIT_CASE(chip_put_off),
	KUNIT_CASE(chip_busy_random),
	{}
};

static struct kunit_case full_cases[] = {
	KUNIT_CASE(chip_full_distinct),
	KUNIT_CASE(chip_full_among_later),
	KUNIT_CASE(chip_full_moved),
	KUNIT_CASE(chip_put_off),
	{}
};

static struct kunit_case levels_cases[] = {
	KUNIT_CASE_PARAM(chip_levels_farthest, levels_gen_params),
	KUNIT_CASE_PARAM(chip_levels_random, levels_gen_params),
	{}
};

static struct kunit_suite chip_busy_suite = {
	.name = "callout_chip_busy",
	.init = chip_busy_init,
	.test_cases = busy_cases,
};

static struct kunit_suite chip_full_suite = {
	.name = "callout_chip_full",
	.init = chip_full_init,
	.test_cases = full_cases,
};

static struct kunit_suite chip_levels_suite = {
	.name = "callout_chip_levels",
	.test_cases = levels_cases,
};

kunit_test_suites(&chip_busy_suite, &chip_full_suite, &chip_levels_suite);
