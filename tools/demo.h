/* SPDX-License-Identifier: GPL-2.0 */
/*
 * demo.h - the books of calloutctl demo
 *
 * The books always know which callouts are outstanding, since only one thread
 * sets, cancels and reads. So each operation has exactly one correct result,
 * apart from whether the callout has fired yet.
 */
#ifndef _CALLOUTCTL_DEMO_H
#define _CALLOUTCTL_DEMO_H

#include <stdbool.h>

#include <linux/callout.h>
#include "calloutctl.h"

#define DEMO_GROUP	4U	/* callouts with the same (func, arg) */
#define DEMO_FUNCS	16U	/* different funcs */
#define DEMO_FUNC_BASE	0xc0ffee00ULL

enum demo_state {
	DEMO_OUTSTANDING,
	DEMO_CANCELLED,
	DEMO_FIRED,
};

struct demo_callout {
	__u64 handle;
	__u64 due;
	__u64 late;
	enum demo_state state;
};

enum demo_method {
	DEMO_CANCEL,
	DEMO_UNTIMEOUT,
	DEMO_UNTIMEOUT_HANDLE,
};

/**
 * struct demo_books - how each callout has ended
 * @c: the callouts; an index in here is a callout's id, and its cookie
 * @n: how many callouts there are
 * @n_set: the first @n_set are set by SET, the others by TIMEOUT
 * @n_single: the first @n_single of the others have their own (func, arg)
 * @slack: the default slack in ns: callouts fire at its multiples
 * @outstanding: set, not cancelled and not received
 * @by_handle: cancelled by CANCEL
 * @by_untimeout: cancelled by UNTIMEOUT
 * @withdrawn: cancelled callouts that had fired and were unread
 * @too_late: received before they could be cancelled
 * @fired: received
 * @early: received too early
 * @again: received twice, or after they were cancelled
 * @wrong: other errors
 */
struct demo_books {
	struct demo_callout *c;
	unsigned int n, n_set, n_single;
	__u64 slack;
	unsigned int outstanding, by_handle, by_untimeout, withdrawn;
	unsigned int too_late, fired, early, again, wrong;
};

/* The key of a callout set by TIMEOUT is its arg, and determines its func. */
static inline unsigned int demo_key(const struct demo_books *b, unsigned int id)
{
	unsigned int k = id - b->n_set;

	if (k < b->n_single)
		return k;
	return b->n_single + (k - b->n_single) / DEMO_GROUP;
}

static inline __u64 demo_func(unsigned int key)
{
	return DEMO_FUNC_BASE + key % DEMO_FUNCS;
}

/* The first id with key @key. */
static inline unsigned int demo_first(const struct demo_books *b,
				      unsigned int key)
{
	if (key < b->n_single)
		return b->n_set + key;
	return b->n_set + b->n_single + (key - b->n_single) * DEMO_GROUP;
}

/* The id after the last id with key @key. */
static inline unsigned int demo_end(const struct demo_books *b,
				    unsigned int key)
{
	unsigned int end = demo_first(b, key);

	end += key < b->n_single ? 1 : DEMO_GROUP;
	return end < b->n ? end : b->n;
}

void callout_demo_err(struct demo_books *b, const char *fmt, ...)
	__printf(2, 3);
struct demo_callout *callout_demo_earliest(struct demo_books *b,
					   unsigned int key);
bool callout_demo_cancelled(struct demo_books *b, struct demo_callout *c,
			    enum demo_method method, int ret);
void callout_demo_received(struct demo_books *b, const struct callout_event *e,
			   __u64 now);
void callout_demo_audit(struct demo_books *b, int fd);
int callout_demo_report(const struct demo_books *b);

#endif /* _CALLOUTCTL_DEMO_H */
