// SPDX-License-Identifier: GPL-2.0
/*
 * scheme.c - the schemes as rows of the laboratory, and functions to drive one
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/numa.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include "../compare.h"
#include "core/queue.h"
#include "core/expiry.h"
#include "lab.h"

#define MAX_ROWS	64U

/*
 * Timers are in chunks of 4 MB, which can always be allocated in one piece.
 */
#define CHUNK_SHIFT	16
#define CHUNK		(1U << CHUNK_SHIFT)
#define MAX_CHUNKS	2048U

struct lab_row lab_rows[MAX_ROWS];
unsigned int lab_nr_rows;

static union lab_timer *chunks[MAX_CHUNKS];

static int add_row(const struct callout_scheme_ops *ops, unsigned int variant)
{
	struct lab_row *row = &lab_rows[lab_nr_rows];

	if (lab_nr_rows == MAX_ROWS)
		return -E2BIG;
	lab_nr_rows++;
	row->ops = ops;
	row->variant = variant;
	if (variant)
		snprintf(row->name, sizeof(row->name), "%s:%s", ops->name,
			 ops->variants[variant]);
	else
		strscpy(row->name, ops->name, sizeof(row->name));
	return 0;
}

/* Fill lab_rows[] with all variants of all schemes, or of the scheme @only. */
int lab_rows_init(const char *only)
{
	const struct callout_scheme_ops *const *ops;
	unsigned int variant;
	int ret = 0;

	for (ops = callout_schemes; *ops && !ret; ops++) {
		if (*only && strcmp((*ops)->name, only))
			continue;
		variant = 0;
		do {
			ret = add_row(*ops, variant++);
		} while (!ret && (*ops)->variants && (*ops)->variants[variant]);
	}
	if (ret || lab_nr_rows)
		return ret;
	pr_err("only=%s: there is no such scheme\n", only);
	return -ENOENT;
}

/**
 * lab_find_row - finds a row
 * @name: its name
 *
 * Return: the row, or NULL.
 */
const struct lab_row *lab_find_row(const char *name)
{
	unsigned int i;

	for (i = 0; i < lab_nr_rows; i++)
		if (!strcmp(lab_rows[i].name, name))
			return &lab_rows[i];
	pr_err("lab: there is no scheme %s\n", name);
	return NULL;
}

/*
 * Whether intervals must be shorter than the number of buckets. Longer
 * intervals are on an overflow list, which is another scheme.
 */
bool lab_has_max_interval(const struct callout_scheme_ops *ops)
{
	return !strcmp(ops->name, "timing_wheel") ||
	       !strcmp(ops->name, "logic_wheel");
}

/* An hour in ticks, shorter for schemes with a MaxInterval. */
unsigned long lab_hour(const struct callout_scheme_ops *ops)
{
	return lab_has_max_interval(ops) ? LAB_SHORT_HOUR : 3600UL * HZ;
}

/*
 * Allocate @n timers, up to 2^27, for lab_timer() and lab_callout(). The caller
 * must call lab_callouts_free(), also after an error.
 */
int lab_callouts_init(unsigned int n)
{
	unsigned int i;

	for (i = 0; i << CHUNK_SHIFT < n; i++) {
		if (i == MAX_CHUNKS)
			return -ENOMEM;
		chunks[i] = kvcalloc(min(n - (i << CHUNK_SHIFT), CHUNK),
				     sizeof(union lab_timer), GFP_KERNEL);
		if (!chunks[i])
			return -ENOMEM;
	}
	return 0;
}

void lab_callouts_free(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CHUNKS; i++) {
		kvfree(chunks[i]);
		chunks[i] = NULL;
	}
}

union lab_timer *lab_timer(unsigned int i)
{
	return &chunks[i >> CHUNK_SHIFT][i & (CHUNK - 1)];
}

/* Uniform, @from to @to - 1. */
u64 lab_random(u64 from, u64 to)
{
	return from + mul_u64_u64_shr(get_random_u64(), to - from, 64);
}

/*
 * A random number of negative exponential distribution, rounded down.
 *
 * Uses von Neumann's method, without logarithms: draw numbers as long as they
 * fall. If the length of the run is odd, the first number is the fraction.
 * Otherwise add one to the integer part and draw again.
 */
u64 lab_random_exp(u64 mean)
{
	u64 whole = 0, first, last, next;
	bool odd;

	for (;; whole++) {
		first = get_random_u32();
		last = first;
		odd = true;
		while ((next = get_random_u32()) < last) {
			last = next;
			odd = !odd;
		}
		if (odd)
			return ((whole << 32 | first) * mean) >> 32;
	}
}

u64 lab_median(u64 *values, unsigned int n)
{
	sort(values, n, sizeof(values[0]), compare_u64, NULL);
	return values[n / 2];
}

/* Write @sum / @n with one decimal to @text, which has LAB_TENTHS bytes. */
const char *lab_tenths(u64 sum, u64 n, char *text)
{
	u64 tenths = n ? div64_u64(sum * 10 + n / 2, n) : 0;

	snprintf(text, LAB_TENTHS, "%llu.%llu", tenths / 10, tenths % 10);
	return text;
}

/* Create an empty scheme with room for @room callouts. */
int lab_create(struct lab *lab, const struct lab_row *row,
	       const struct callout_scheme_params *params, unsigned int room)
{
	struct callout_scheme_params p = *params;
	int ret;

	lab->ops = row->ops;
	lab->now = LAB_EPOCH;
	p.variant = row->variant;
	p.now = lab->now;
	p.node = NUMA_NO_NODE;
	lab->s = row->ops->create(&p);
	if (IS_ERR(lab->s))
		return PTR_ERR(lab->s);
	ret = row->ops->reserve ? row->ops->reserve(lab->s, room) : 0;
	if (ret)
		lab_destroy(lab);
	return ret;
}

void lab_destroy(struct lab *lab)
{
	lab->ops->destroy(lab->s);
}

void lab_start(struct lab *lab, struct callout_node *c, u64 interval)
{
	c->state = CALLOUT_S_PENDING;
	lab->ops->start(lab->s, c, lab->now, lab->now + interval);
}

/* Start callouts 0 to @n - 1, with intervals from @from to @to - 1. */
void lab_fill(struct lab *lab, unsigned int n, u64 from, u64 to)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		lab_start(lab, lab_callout(i), lab_random(from, to));
		if (!(i % 1024))
			cond_resched();
	}
}

/* Advance to @now, in budgets, as the core does. */
void lab_advance(struct lab *lab, u64 now, struct list_head *due)
{
	unsigned int budget;

	lab->now = now;
	do {
		budget = CALLOUT_BUDGET;
	} while (lab->ops->advance(lab->s, now, &budget, due));
}

u64 lab_next_due(struct lab *lab)
{
	unsigned int budget = UINT_MAX;

	return lab->ops->next_due(lab->s, &budget);
}

/* Remove and return the first of a list of due callouts, or NULL. */
struct callout_node *lab_take_due(struct list_head *due)
{
	struct callout_node *c;

	c = list_first_entry_or_null(due, struct callout_node, entry);
	if (c)
		list_del(&c->entry);
	return c;
}

/*
 * Start callout 0 in an empty scheme, and return the wake-ups until it is
 * due.
 */
unsigned int lab_wait(struct lab *lab, u64 interval)
{
	unsigned int wakeups = 0;
	LIST_HEAD(due);
	u64 next;

	lab_start(lab, lab_callout(0), interval);
	while (list_empty(&due)) {
		next = lab_next_due(lab);
		lab_advance(lab, max(next, lab->now), &due);
		wakeups++;
	}
	return wakeups;
}
