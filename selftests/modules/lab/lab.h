/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lab.h - the parts of callout_lab.ko, and their common functions
 */
#ifndef _CALLOUT_LAB_H
#define _CALLOUT_LAB_H

#undef pr_fmt
#define pr_fmt(fmt) fmt

#include <linux/callout.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <asm/timex.h>
#include "wheel/scheme.h"

/*
 * Schemes that take more than LAB_STEEP times as many instructions when ten
 * times as many are outstanding are measured up to LAB_STEEP_MAX only.
 */
#define LAB_STEEP	4U
#define LAB_STEEP_MAX	10000U

/* start, stop, tick */
#define LAB_BEFORE	3U

/* The tick at which a scheme begins: any tick that is not near 0. */
#define LAB_EPOCH	(1ULL << 32)

/* The default of the module parameter buckets=. */
#define LAB_BUCKETS	(1U << 14)

/*
 * Schemes with a MaxInterval, which is their number of buckets, have as many
 * buckets as possible, and an hour so short that three hours are less than
 * MaxInterval.
 */
#define LAB_MOST_BUCKETS	CALLOUT_WHEEL_MAX_BUCKETS
#define LAB_SHORT_HOUR		(LAB_MOST_BUCKETS / 4)

/* Room for lab_tenths(). */
#define LAB_TENTHS	24

/**
 * struct lab_row - a scheme in one of its variants
 * @ops: the scheme
 * @variant: index of the variant
 * @name: SCHEME, or SCHEME:VARIANT if it is not the first
 * @steep: must not be measured beyond LAB_STEEP_MAX
 * @slow: @steep is true from the next number of callouts on
 * @before: the part's results with the previous number of callouts
 */
struct lab_row {
	const struct callout_scheme_ops *ops;
	unsigned int variant;
	char name[48];
	bool steep;
	bool slow;
	u64 before[LAB_BEFORE];
};

/* The module parameter most=. */
extern unsigned int lab_most;

extern struct lab_row lab_rows[];
extern unsigned int lab_nr_rows;

/**
 * struct lab - a scheme that a part drives, in virtual time
 * @s: the scheme
 * @ops: its operations
 * @now: the time
 */
struct lab {
	struct callout_scheme *s;
	const struct callout_scheme_ops *ops;
	u64 now;
};

/* A timer to set: a node for a scheme, or a timer of any kind for its facility. */
union lab_timer {
	struct callout_node node;
	struct callout callout;
	callout_handle_t handle;
	struct timer_list timer;
	struct hrtimer hrtimer;
};

/* Instructions where time counts them, and nanoseconds in User Mode Linux. */
static inline u64 lab_clock(void)
{
	return IS_ENABLED(CONFIG_UML) ? ktime_get_ns() : get_cycles();
}

static inline bool lab_row_takes(const struct lab_row *row, unsigned int n)
{
	return !row->steep || n <= LAB_STEEP_MAX;
}

int lab_rows_init(const char *only);
const struct lab_row *lab_find_row(const char *name);
bool lab_has_max_interval(const struct callout_scheme_ops *ops);
unsigned long lab_hour(const struct callout_scheme_ops *ops);

int lab_callouts_init(unsigned int n);
void lab_callouts_free(void);
union lab_timer *lab_timer(unsigned int i);

/* A timer as a node, for a scheme without a facility around it. */
static inline struct callout_node *lab_callout(unsigned int i)
{
	return &lab_timer(i)->node;
}

u64 lab_random(u64 from, u64 to);
u64 lab_random_exp(u64 mean);
u64 lab_median(u64 *values, unsigned int n);
const char *lab_tenths(u64 sum, u64 n, char *text);

int lab_create(struct lab *lab, const struct lab_row *row,
	       const struct callout_scheme_params *params, unsigned int room);
void lab_destroy(struct lab *lab);
void lab_start(struct lab *lab, struct callout_node *c, u64 interval);
void lab_fill(struct lab *lab, unsigned int n, u64 from, u64 to);
void lab_advance(struct lab *lab, u64 now, struct list_head *due);
u64 lab_next_due(struct lab *lab);
struct callout_node *lab_take_due(struct list_head *due);
unsigned int lab_wait(struct lab *lab, u64 interval);

/* The parts. @name is for the first two. */
int lab_fig9(const char *name);
int lab_share(const char *name);
int lab_table2(const char *unused);
int lab_insert(const char *unused);
int lab_cross(const char *unused);
int lab_variance(const char *unused);
int lab_late(const char *unused);
int lab_assist(const char *unused);
int lab_idle(const char *unused);
int lab_native(const char *unused);
int lab_buckets(const char *unused);
int lab_facilities(const char *unused);
int lab_line(const char *unused);
int lab_scale(const char *unused);
int lab_growth(const char *unused);
int lab_step(const char *unused);
int lab_memory(const char *unused);

#endif /* _CALLOUT_LAB_H */
