/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ledger.h - records how each callout ends while threads race for it
 *
 * Each callout has a number, which is its cookie. Any thread may set, cancel
 * and read. At the end each callout must have been read, cancelled or
 * withdrawn: exactly one of these, once. So no event belongs to a cancelled
 * callout.
 */
#ifndef _CALLOUT_SELFTESTS_LEDGER_H
#define _CALLOUT_SELFTESTS_LEDGER_H

#include <stdatomic.h>
#include <stdlib.h>

#include "common.h"

/* The func of callouts with odd numbers, which TIMEOUT sets. */
#define LEDGER_FUNC	0x1ed6e4ULL

/* The default of struct ledger.recent. */
#define LEDGER_RECENT	512

#define LEDGER_READ	32
#define LEDGER_BATCH	32

struct ledger_entry {
	atomic_ullong handle;		/* 0 until SET has returned */
	atomic_ullong earliest;		/* the earliest time it may be due */
	atomic_ullong event_handle;
	atomic_ullong gone;		/* when ENOENT was returned, or 0 */
	atomic_uint fired;
	atomic_uint cancelled;
	atomic_uint withdrawn;
};

/**
 * struct ledger - the callouts of one open file
 * @fd: the file, non-blocking
 * @size: the most callouts that it can record
 * @span: callouts are set for up to this many ns from now
 * @grain: callouts are due at multiples of this many ns; 0: at any time
 * @recent: a cancel picks among this many callouts that were set last
 * @faults: some readers have bad buffers. Another reader may get the event that
 *	they could not copy, after ENOENT was returned for its callout.
 * @next: the number of the next callout
 * @latest: the greatest lateness of an event, in ns
 * @resets: moves that succeeded
 * @wrong: errors and impossible events
 * @entries: the callouts, by number
 */
struct ledger {
	int fd;
	unsigned int size;
	__u64 span;
	__u64 grain;
	unsigned int recent;
	bool faults;
	atomic_uint next;
	atomic_ullong latest;
	atomic_uint resets;
	atomic_uint wrong;
	struct ledger_entry *entries;
};

static inline bool ledger_init(struct ledger *l, unsigned int size, __u64 span)
{
	memset(l, 0, sizeof(*l));
	l->size = size;
	l->span = span;
	l->recent = LEDGER_RECENT;
	l->entries = calloc(size, sizeof(*l->entries));
	l->fd = dev_open(O_NONBLOCK);
	return l->entries && l->fd >= 0;
}

static inline unsigned int ledger_used(struct ledger *l)
{
	unsigned int next = l->next;

	return next < l->size ? next : l->size;
}

/*
 * Assign a number to a callout for up to @span ns from now. Return the
 * operation that sets it, or an operation with op 0 if no number is left.
 */
static inline struct callout_op ledger_plan(struct ledger *l, __u64 span,
					    unsigned int *seed)
{
	__u64 time = ((__u64)rand_r(seed) << 8) % span;
	__u64 now = dev_now();
	unsigned int i;

	if (l->next >= l->size)
		return (struct callout_op){ 0 };
	i = atomic_fetch_add(&l->next, 1);
	if (i >= l->size)
		return (struct callout_op){ 0 };
	if (l->grain)
		time += l->grain - (now + time) % l->grain;
	l->entries[i].earliest = now + time;
	return i & 1 ? callout_op_timeout(LEDGER_FUNC, i, time) :
		       callout_op_set(time, i);
}

static inline void ledger_was_set(struct ledger *l,
				  const struct callout_op *op, int result)
{
	if (result || !op->handle)
		l->wrong++;
	l->entries[op->cookie].handle = op->handle;
}

/* Set a callout for up to @span ns from now. */
static inline bool ledger_set_within(struct ledger *l, __u64 span,
				     unsigned int *seed)
{
	struct callout_op op = ledger_plan(l, span, seed);

	if (!op.op)
		return false;
	ledger_was_set(l, &op, do_op(l->fd, &op));
	return true;
}

static inline bool ledger_set(struct ledger *l, unsigned int *seed)
{
	return ledger_set_within(l, l->span, seed);
}

static inline void ledger_was_gone(struct ledger_entry *e)
{
	unsigned long long none = 0;

	atomic_compare_exchange_strong(&e->gone, &none, dev_now());
}

static inline void ledger_was_cancelled(struct ledger *l,
					struct ledger_entry *e, int result)
{
	if (result == CALLOUT_STATE_PENDING)
		e->cancelled++;
	else if (result == CALLOUT_STATE_UNREAD)
		e->withdrawn++;
	else if (result == -ENOENT)
		ledger_was_gone(e);
	else
		l->wrong++;
}

static inline void ledger_cancel_one(struct ledger *l, struct ledger_entry *e,
				     unsigned int *seed)
{
	__u64 handle = e->handle;
	int ret;

	if (!handle)
		return;
	if ((e - l->entries) & 1 && rand_r(seed) & 64)
		ret = dev_untimeout(l->fd, LEDGER_FUNC,
				    e - l->entries,
					    rand_r(seed) & 64 ? handle : 0);
	else
		ret = dev_cancel(l->fd, handle);

	ledger_was_cancelled(l, e, ret);
}

static inline struct ledger_entry *ledger_recent(struct ledger *l,
						 unsigned int *seed)
{
	unsigned int used = ledger_used(l), back = rand_r(seed) % l->recent;

	return back < used ? &l->entries[used - 1 - back] : NULL;
}

static inline void ledger_cancel(struct ledger *l, unsigned int *seed)
{
	struct ledger_entry *e = ledger_recent(l, seed);

	if (e)
		ledger_cancel_one(l, e, seed);
}

/* Re-arm a callout for a time up to the span before or after now. It may have ended. */
static inline void ledger_reset(struct ledger *l, unsigned int *seed)
{
	struct ledger_entry *e = ledger_recent(l, seed);
	__u64 handle = e ? e->handle : 0, time = rand_r(seed) % (2 * l->span);
	unsigned long long earliest;
	int ret;

	if (!handle)
		return;
	earliest = e->earliest;
	time += dev_now() - l->span;
	while (time < earliest &&
	       !atomic_compare_exchange_weak(&e->earliest, &earliest, time))
		;
	ret = do_op(l->fd, &(struct callout_op){
		.op = CALLOUT_OP_MOVE,
		.flags = CALLOUT_OPF_ABSTIME,
		.time = time,
		.handle = handle,
	});
	if (ret > 0)
		l->resets++;
	else if (ret == -ENOENT)
		ledger_was_gone(e);
	else
		l->wrong++;
}

/* Cancel all callouts that are due later than @span ns from now. */
static inline void ledger_cancel_later(struct ledger *l, __u64 span,
				       unsigned int *seed)
{
	__u64 limit = dev_now() + span;
	unsigned int i;

	for (i = 0; i < ledger_used(l); i++)
		if (l->entries[i].earliest > limit)
			ledger_cancel_one(l, &l->entries[i], seed);
}

static inline void ledger_late(struct ledger *l, __u64 late)
{
	unsigned long long latest = l->latest;

	while (late > latest &&
	       !atomic_compare_exchange_weak(&l->latest, &latest, late))
		;
}

/* Record an event, read by a call that began at @began. */
static inline void ledger_event(struct ledger *l, const struct callout_event *e,
				__u64 began)
{
	unsigned long long gone;

	if (e->cookie >= l->size || e->fired < e->due ||
	    e->fired > dev_now() ||
	    e->due < l->entries[e->cookie].earliest ||
	    e->func != (e->cookie & 1 ? LEDGER_FUNC : 0)) {
		l->wrong++;
		return;
	}
	gone = l->entries[e->cookie].gone;
	if (gone && gone < began && !l->faults)
		l->wrong++;
	l->entries[e->cookie].event_handle = e->handle;
	l->entries[e->cookie].fired++;
	ledger_late(l, e->fired - e->due);
}

/* Read up to @max events, at most LEDGER_READ. Return how many. */
static inline int ledger_read(struct ledger *l, unsigned int max)
{
	struct callout_event events[LEDGER_READ];
	__u64 began = dev_now();
	int i, n = dev_read(l->fd, events, max);

	if (n < 0) {
		if (n != -EAGAIN)
			l->wrong++;
		return 0;
	}
	for (i = 0; i < n; i++)
		ledger_event(l, &events[i], began);
	return n;
}

/* Set and cancel callouts and read events, all in one call. */
static inline void ledger_batch(struct ledger *l, unsigned int *seed)
{
	struct callout_event events[LEDGER_READ];
	struct callout_op ops[LEDGER_BATCH];
	struct ledger_entry *e[LEDGER_BATCH];
	unsigned int i, n = rand_r(seed) % LEDGER_BATCH;
	struct callout_batch b = batch_of(ops, n);
	__u64 began;

	for (i = 0; i < n; i++) {
		e[i] = rand_r(seed) & 64 ? ledger_recent(l, seed) : NULL;
		/* Handle 0 names no callout. */
		ops[i] = e[i] ? callout_op_cancel(e[i]->handle) :
				ledger_plan(l, l->span, seed);
	}
	b.events = (uintptr_t)events;
	b.nr_events = rand_r(seed) % LEDGER_READ;
	began = dev_now();
	if (do_batch(l->fd, &b) || b.done != n || b.got > b.nr_events)
		l->wrong++;
	for (i = 0; i < n; i++) {
		if (e[i] && !ops[i].handle)
			l->wrong += ops[i].result != -ENOENT;
		else if (e[i])
			ledger_was_cancelled(l, e[i], ops[i].result);
		else if (ops[i].op)
			ledger_was_set(l, &ops[i], ops[i].result);
		else
			l->wrong += ops[i].result != -EINVAL;
	}
	for (i = 0; i < b.got; i++)
		ledger_event(l, &events[i], began);
}

/* Read the remaining events. All other threads must have ended. */
static inline void ledger_settle(struct ledger *l)
{
	while (info_of(l->fd).outstanding && readable_within(l->fd, WAIT_MS))
		ledger_read(l, LEDGER_READ);
}

/* Print what is wrong. Return the number of errors. */
static inline unsigned int ledger_audit(struct ledger *l)
{
	unsigned int i, bad = 0, fired = 0, cancelled = 0, withdrawn = 0;
	struct callout_info info = info_of(l->fd);
	struct counts counts = counts_of(l->fd);
	struct ledger_entry *e;

	for (i = 0; i < ledger_used(l); i++) {
		e = &l->entries[i];
		fired += e->fired;
		cancelled += e->cancelled;
		withdrawn += e->withdrawn;
		if (e->fired + e->cancelled + e->withdrawn == 1 &&
		    (!e->fired || e->event_handle == e->handle))
			continue;
		if (bad++ < 5)
			printf("# %u: handle %#llx, event's %#llx, ends %u %u %u\n",
			       i, e->handle, e->event_handle, e->fired,
			       e->cancelled, e->withdrawn);
	}
	printf("# %u set: %u fired, %u cancelled, %u withdrawn, %u reset, %u wrong\n",
	       ledger_used(l), fired, cancelled, withdrawn, l->resets,
	       l->wrong);
	if (counts.set != ledger_used(l) || counts.cancelled != cancelled ||
	    counts.withdrawn != withdrawn || counts.delivered != fired ||
	    counts.reset != l->resets || info.outstanding || info.unread) {
		printf("# kernel: %lld set: %lld fired, %lld cancelled, %lld withdrawn\n",
		       counts.set, counts.delivered, counts.cancelled,
		       counts.withdrawn);
		printf("# kernel: %llu outstanding, %llu unread, %lld of %u reset\n",
		       info.outstanding, info.unread, counts.reset, l->resets);
		bad++;
	}
	return bad + l->wrong;
}

static inline void ledger_free(struct ledger *l)
{
	close(l->fd);
	free(l->entries);
}

#endif /* _CALLOUT_SELFTESTS_LEDGER_H */
