/* SPDX-License-Identifier: GPL-2.0 */
/*
 * faulty.h - a file whose calls get injected faults, and its expected contents
 *
 * Each callout has a number, its id: its cookie, or its key. The test keeps a list
 * of the ids that are outstanding. A snapshot holds what a failing call must not
 * change: the file's counters, and all that LIST returns except the time left. At
 * the end all callouts are made due, and each comes once.
 */
#ifndef _CALLOUT_SELFTESTS_FAULTY_H
#define _CALLOUT_SELFTESTS_FAULTY_H

#include <stdlib.h>

#include "lib/uring.h"
#include "fail_nth.h"

/* First ids of callouts that were pending before, of unread callouts, and of new callouts. */
#define PENDING_ID	1U
#define UNREAD_ID	500U
#define NEW_ID		600U
#define IDS		1024U

#define FAULTY_FUNC	7U

struct snapshot {
	struct callout_info info;
	struct counts counts;
	struct callout_entry entries[IDS];
	int n;
};

struct faulty {
	int fd;
	int other;		/* an epoll of the operation */
	struct ring ring;	/* if ring.rings is not NULL */
	bool outstanding[IDS];
	bool command[IDS];	/* of io_uring */
	__u64 handle[IDS];
	/* Arguments of calls that may do part of their work. */
	struct callout_op ops[64];
	struct callout_batch batch;
	struct callout_event events[64];
	unsigned int nr_ops;
	struct snapshot before;
};

/* List all callouts of the file. Return how many, or an error. */
static inline int list_file(int fd, struct callout_entry *entries)
{
	__u64 cursor = 0;

	return list_page(fd, &cursor, entries, IDS);
}

static inline void take_snapshot(struct faulty *f, struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	s->info = info_of(f->fd);
	s->counts = counts_of(f->fd);
	s->n = list_file(f->fd, s->entries);
}

static inline bool entry_is_same(const struct callout_entry *a,
				 const struct callout_entry *b)
{
	return a->handle == b->handle && a->op == b->op &&
	       a->flags == b->flags && a->state == b->state &&
	       a->clockid == b->clockid && a->due == b->due &&
	       a->period == b->period && a->slack == b->slack &&
	       a->cookie == b->cookie && a->func == b->func;
}

/* Is everything unchanged? The user may be charged for more callouts than before. */
static inline bool is_unchanged(struct faulty *f)
{
	struct snapshot *now = malloc(sizeof(*now));
	const struct snapshot *before = &f->before;
	bool same;
	int i;

	take_snapshot(f, now);
	now->info.user_charged = before->info.user_charged;
	same = now->n >= 0 && now->n == before->n &&
	       !memcmp(&now->info, &before->info, sizeof(now->info)) &&
	       !memcmp(&now->counts, &before->counts, sizeof(now->counts));
	for (i = 0; same && i < now->n; i++)
		same = entry_is_same(&now->entries[i], &before->entries[i]);
	free(now);
	return same;
}

/* Set @n callouts that are due in @time, with ids from @id on. */
static inline bool faulty_add(struct faulty *f, unsigned int id, unsigned int n,
			      __u64 time, bool hashed)
{
	struct callout_op *ops = calloc(n + 1, sizeof(*ops));
	unsigned int i;
	bool ok;

	for (i = 0; i < n; i++)
		ops[i] = hashed ? callout_op_timeout(FAULTY_FUNC, id + i, time) :
				  callout_op_set(time, id + i);
	ok = do_ops(f->fd, ops, n) == (int)n;
	for (i = 0; ok && i < n; i++) {
		f->outstanding[id + i] = true;
		f->handle[id + i] = ops[i].handle;
	}
	free(ops);
	return ok;
}

/* The id of an event or an entry: its key or its cookie. */
static inline __u64 id_of(bool key, __u64 handle, __u64 cookie)
{
	return key ? handle : cookie;
}

/* Note that an event was read. Its callout must have been outstanding. */
static inline bool event_is_expected(struct faulty *f,
				     const struct callout_event *e)
{
	__u64 id = id_of(e->flags & CALLOUT_EVENTF_KEY, e->handle, e->cookie);

	if (id >= IDS || !f->outstanding[id] || f->command[id])
		return false;
	f->outstanding[id] = false;
	return true;
}

static inline bool events_are_expected(struct faulty *f, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!event_is_expected(f, &f->events[i]))
			return false;
	return true;
}

/* Does LIST show all outstanding callouts, and nothing else? */
static inline bool list_is_right(struct faulty *f, const struct callout_entry *e,
				 int n)
{
	bool seen[IDS] = { false };
	__u64 id;
	int i;

	for (i = 0; i < n; i++) {
		id = id_of(e[i].op_flags & CALLOUT_OPF_KEY, e[i].handle, e[i].cookie);
		if (id >= IDS || seen[id] || !f->outstanding[id])
			return false;
		seen[id] = true;
	}
	return n >= 0 && !memcmp(seen, f->outstanding, sizeof(seen));
}

/* Make all pending callouts due, for the last time. */
static inline bool make_due(struct faulty *f, const struct callout_entry *e, int n)
{
	struct callout_op *ops = calloc(n + 1, sizeof(*ops));
	int i, m = 0;
	bool ok;

	for (i = 0; i < n; i++) {
		if (e[i].state != CALLOUT_STATE_PENDING)
			continue;
		ops[m] = callout_op_move(e[i].handle, 0);
		if (e[i].period) {
			/* All but the period stays unchanged. */
			ops[m] = callout_op_set(0, e[i].cookie);
			ops[m].flags = CALLOUT_OPF_ONLY_OLD;
			ops[m].handle = e[i].handle;
		}
		if (e[i].op_flags & CALLOUT_OPF_KEY)
			ops[m] = callout_op_key(ops[m], e[i].key);
		m++;
	}
	ok = do_ops(f->fd, ops, m) == m;
	free(ops);
	return ok;
}

/* Commands complete once each, with 0. */
static inline bool commands_fire(struct faulty *f)
{
	unsigned int i, n = 0;
	__u64 id;

	for (i = 0; i < IDS; i++)
		n += f->command[i] && f->outstanding[i];
	while (n--) {
		if (complete(&f->ring, &id, WAIT_MS) || id >= IDS ||
		    !f->command[id] || !f->outstanding[id])
			return false;
		f->outstanding[id] = false;
	}
	return true;
}

/* Every outstanding callout comes once, and nothing else comes. */
static inline bool all_fire(struct faulty *f)
{
	struct callout_entry *entries = calloc(IDS, sizeof(*entries));
	struct callout_info info;
	struct counts counts;
	int n = list_file(f->fd, entries);
	unsigned int left = 0, i;
	bool ok;

	ok = list_is_right(f, entries, n) && make_due(f, entries, n);
	free(entries);
	for (i = 0; i < IDS; i++)
		left += f->outstanding[i] && !f->command[i];
	while (ok && left) {
		n = receive(f->fd, f->events, left < 64 ? left : 64);
		ok = n > 0 && events_are_expected(f, n);
		left -= n;
	}
	ok = ok && commands_fire(f) && !readable(f->fd);
	info = info_of(f->fd);
	counts = counts_of(f->fd);
	return ok && !info.outstanding && !info.unread &&
	       counts.set == counts.cancelled + counts.withdrawn + counts.delivered;
}

static inline bool faulty_close(struct faulty *f)
{
	bool ok = close(f->fd) == 0;

	if (f->other >= 0)
		ok &= close(f->other) == 0;
	if (f->ring.rings)
		ok &= ring_close(&f->ring);
	return ok;
}

#endif /* _CALLOUT_SELFTESTS_FAULTY_H */
