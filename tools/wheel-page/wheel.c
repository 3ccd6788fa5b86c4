// SPDX-License-Identifier: GPL-2.0
/*
 * wheel.c - every scheme with the same timers, each beside the model that checks it
 *
 * The model is the reference of kunit/lib/model.c, which does each operation to the scheme and to
 * itself, and compares. A timer counts as fired when the first scheme, the facility's own, has
 * fired it. A scheme that is late by design may still have it.
 */
#include <stdarg.h>
#include <linux/kernel.h>
#include <linux/numa.h>
#include "lib/random.h"
#include "wheel.h"

/* Two dozen schemes with their variants. */
#define MAX_SCHEMES	24U

/* Bounds of 2^10 buckets and the nodes above. */
#define MAX_BOUNDS	1200U

struct work {
	unsigned int last;
	unsigned int most;
	unsigned int total;
	unsigned int times;
};

/**
 * struct scheme - a scheme in one variant
 * @own: its functions
 * @ops: a copy of them with an advance that records what has fired
 * @variant: name of the variant, "" if it has none
 * @m: the scheme itself and its model
 * @work: what each operation has cost
 * @nr_fired: number of timers that the last wheel_advance() has fired
 * @fired: these, in order
 * @late: by how many ticks each of them was late by design
 */
struct scheme {
	const struct callout_scheme_ops *own;
	struct callout_scheme_ops ops;
	const char *variant;
	struct callout_model *m;
	struct work work[WHEEL_OPS];
	unsigned int nr_fired;
	unsigned int fired[WHEEL_TIMERS];
	unsigned int late[WHEEL_TIMERS];
};

static struct scheme schemes[MAX_SCHEMES];
static struct scheme *end = schemes;
static struct rnd_state rng;
static u64 now;
static unsigned int next_timer;
static struct wheel_place places[WHEEL_TIMERS];
static unsigned int bounds[MAX_BOUNDS];
static const char *wrong = "";

/* callout_env_assert() passes a function, a line, and the condition that does not hold. */
void callout_env_fail(void *env, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	va_arg(args, const char *);
	va_arg(args, int);
	wrong = va_arg(args, const char *);
	va_end(args);
	__builtin_trap();
}

/* The page begins again with new memory, so nothing is freed. */
void callout_env_keep(void *env, struct callout_model *m)
{
}

/* Which condition the model has found broken, after a trap. */
const char *wheel_wrong(void)
{
	return wrong;
}

/* A timer that was due at the last advance, and did not come then, is late by design. */
static bool recording_advance(struct callout_scheme *s, u64 until, unsigned int *budget,
			      struct list_head *due)
{
	struct scheme *c = container_of(s->ops, struct scheme, ops);
	bool more = c->own->advance(s, until, budget, due);
	struct callout_model_entry *e;
	struct callout_node *node;

	list_for_each_entry(node, due, entry) {
		e = container_of(node, struct callout_model_entry, c);
		c->fired[c->nr_fired] = e - c->m->entry;
		c->late[c->nr_fired++] = e->expires <= now ? now + 1 - e->expires : 0;
	}
	return more;
}

static void add_scheme(const struct callout_scheme_ops *ops, unsigned int variant,
		       unsigned int slots)
{
	struct callout_scheme_params p = {
		.variant = variant,
		.buckets = slots,
		.nr_levels = 4,
		.level = { slots / 4, slots / 4, slots / 4, slots / 4 },
		.node = NUMA_NO_NODE,
	};
	struct scheme *c = end++;

	callout_env_assert(NULL, c < schemes + MAX_SCHEMES, "too many schemes");
	/* As many slots in all as the other wheels have, unless the variant has its own. */
	if (ops->refuses && ops->refuses(&p))
		p.nr_levels = 0;
	c->own = ops;
	c->ops = *ops;
	c->ops.advance = recording_advance;
	c->variant = ops->variants ? ops->variants[variant] : "";
	c->m = callout_model_new(NULL, ops, &p, WHEEL_TIMERS);
	c->m->s->ops = &c->ops;
	if (ops->reserve)
		callout_env_assert(NULL, !ops->reserve(c->m->s, WHEEL_TIMERS), "no memory");
}

/**
 * wheel_new() - Create each scheme in each variant, empty, at tick 0.
 * @slots: of each wheel, in all its levels: a power of two from 16 to 1024
 * @seed: of wheel_random()
 *
 * Once in a program.
 * Return: the number of schemes
 */
unsigned int wheel_new(unsigned int slots, unsigned int seed)
{
	const struct callout_scheme_ops *const *ops;
	unsigned int i;

	prandom_seed_state(&rng, seed);
	for (ops = callout_schemes; *ops; ops++) {
		add_scheme(*ops, 0, slots);
		for (i = 1; (*ops)->variants && (*ops)->variants[i]; i++)
			add_scheme(*ops, i, slots);
	}
	return end - schemes;
}

const char *wheel_name(unsigned int k)
{
	return schemes[k].own->name;
}

const char *wheel_variant(unsigned int k)
{
	return schemes[k].variant;
}

unsigned int wheel_random(unsigned int below)
{
	return callout_test_below(&rng, below);
}

static u64 looked_at(const struct scheme *c)
{
	return c->m->s->visits + c->m->s->steps;
}

/* Notes an operation that began when looked_at() was @before and took as long as @times others. */
static void did(struct scheme *c, enum wheel_op op, u64 before, unsigned int times)
{
	struct work *w = &c->work[op];

	w->last = looked_at(c) - before;
	w->most = max(w->most, w->last);
	w->total += w->last;
	w->times += times;
}

/* A timer that is pending in no scheme; WHEEL_TIMERS if there is none. */
static unsigned int unused_timer(void)
{
	unsigned int i, timer;
	struct scheme *c;

	for (i = 0; i < WHEEL_TIMERS; i++) {
		timer = next_timer++ % WHEEL_TIMERS;
		for (c = schemes; c < end; c++)
			if (c->m->entry[timer].queued)
				break;
		if (c == end)
			return timer;
	}
	return WHEEL_TIMERS;
}

/* Sets a timer and returns it, or -1 if none is left. */
int wheel_set(unsigned int interval)
{
	unsigned int timer = unused_timer();
	struct scheme *c;
	u64 before;

	if (timer == WHEEL_TIMERS)
		return -1;
	for (c = schemes; c < end; c++) {
		before = looked_at(c);
		callout_model_start(c->m, &c->m->entry[timer], now + max(interval, 1U));
		did(c, WHEEL_SET, before, 1);
	}
	return timer;
}

/* Cancels a timer where it is pending. */
void wheel_cancel(unsigned int timer)
{
	struct scheme *c;
	u64 before;

	for (c = schemes; c < end; c++) {
		if (!c->m->entry[timer].queued)
			continue;
		before = looked_at(c);
		callout_model_stop(c->m, &c->m->entry[timer]);
		did(c, WHEEL_CANCEL, before, 1);
	}
}

/* Moves a timer where it is pending. */
void wheel_move(unsigned int timer, unsigned int interval)
{
	struct scheme *c;
	u64 before;

	for (c = schemes; c < end; c++) {
		if (!c->m->entry[timer].queued)
			continue;
		before = looked_at(c);
		callout_model_rearm(c->m, &c->m->entry[timer], now + max(interval, 1U));
		did(c, WHEEL_MOVE, before, 1);
	}
}

/* Lets some ticks pass at once: each scheme is called once, after them. */
void wheel_advance(unsigned int ticks)
{
	struct scheme *c;
	u64 before;

	for (c = schemes; c < end; c++) {
		before = looked_at(c);
		c->nr_fired = 0;
		callout_model_advance_all(c->m, now + ticks);
		callout_model_next_due_all(c->m);
		did(c, WHEEL_TICK, before, ticks);
		callout_model_check(c->m);
	}
	now += ticks;
}

static bool is_node(struct callout_node *c, const void *node)
{
	return c == node;
}

/*
 * The pair of figure 9: sets one more timer and cancels it. A scheme with a search finds the
 * timer by that first, as untimeout() did, which had no handle.
 */
void wheel_pair(unsigned int interval)
{
	unsigned int timer = unused_timer();
	struct callout_model_entry *e;
	struct scheme *c;
	u64 before;

	if (timer == WHEEL_TIMERS)
		return;
	for (c = schemes; c < end; c++) {
		e = &c->m->entry[timer];
		before = looked_at(c);
		callout_model_start(c->m, e, now + max(interval, 1U));
		if (c->own->find)
			c->own->find(c->m->s, is_node, &e->c);
		callout_model_stop(c->m, e);
		did(c, WHEEL_PAIR, before, 1);
	}
}

/* The first scheme, which is the facility's own, says which timers are pending. */
unsigned int wheel_pending(unsigned int timer)
{
	return schemes[0].m->entry[timer].queued;
}

unsigned int wheel_expires(unsigned int timer)
{
	return schemes[0].m->entry[timer].expires;
}

unsigned int wheel_now(void)
{
	return now;
}

/* Entries that the operation has looked at; WHEEL_TENTHS is the mean, of a tick if time passed. */
unsigned int wheel_cost(unsigned int k, enum wheel_op op, enum wheel_work what)
{
	const struct work *w = &schemes[k].work[op];

	switch (what) {
	case WHEEL_LAST:
		return w->last;
	case WHEEL_MOST:
		return w->most;
	case WHEEL_TENTHS:
		return w->times ? w->total * 10ULL / w->times : 0;
	default:
		return w->times;
	}
}

/* How many timers the scheme has. */
unsigned int wheel_kept(unsigned int k)
{
	return schemes[k].m->queued;
}

/* How many timers have fired in the last wheel_advance(). */
unsigned int wheel_fired(unsigned int k)
{
	return schemes[k].nr_fired;
}

unsigned int wheel_fired_timer(unsigned int k, unsigned int i)
{
	return schemes[k].fired[i];
}

unsigned int wheel_late(unsigned int k, unsigned int i)
{
	return schemes[k].late[i];
}

unsigned int wheel_late_by_design(unsigned int k)
{
	return callout_model_inexact(schemes[k].m->s);
}

enum wheel_shape wheel_shape(unsigned int k)
{
	return wheel_shape_of(schemes[k].m->s);
}

unsigned int wheel_levels(unsigned int k)
{
	return wheel_levels_of(schemes[k].m->s);
}

unsigned int wheel_slots(unsigned int k)
{
	return wheel_slots_of(schemes[k].m->s);
}

/* Where the scheme has each timer, until the next call. */
const struct wheel_place *wheel_places(unsigned int k)
{
	wheel_place_all(schemes[k].m, places);
	return places;
}

/* Copies the bounds of the scheme to wheel_bounds() and returns their number, 0 if it has none. */
unsigned int wheel_nr_bounds(unsigned int k)
{
	return wheel_copy_bounds(schemes[k].m->s, bounds);
}

const unsigned int *wheel_bounds(void)
{
	return bounds;
}
