// SPDX-License-Identifier: GPL-2.0
/*
 * model.c - is there an order of the calls that explains what they returned?
 *
 * Each operation takes effect at one moment between its start and its end. So the
 * results of a program are right if they are linearizable: if some sequential
 * order of the calls gives these results, and keeps the order of the calls of
 * each thread and of calls that did not overlap. The model searches for such an
 * order.
 *
 * A callout is named by the call that has set it, and has one of four states. A
 * callout that is due soon may have fired or not, until a call shows it. The callout
 * of a command of io_uring is never unread. The command's completion shows how it has
 * ended.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"

enum {
	GONE,		/* and not unread: the callout of a command may have fired */
	FAR,		/* pending, and does not fire in a program */
	SOON,		/* pending or unread */
	UNREAD,		/* known to have fired */
};

/* Two bits for each call. */
typedef __u64 state_t;

enum step_kind { S_OP, S_READ, S_MATCH, S_LEFT };

/**
 * struct step - an effect at one moment
 * @kind: an operation, ONE or KONE; a read; MATCH; how many were left at the end
 * @i: the call; S_LEFT: the file
 */
struct step {
	enum step_kind kind;
	unsigned int i;
	__u64 start, end;
};

#define STEPS_MAX	(2 * CALLS_MAX + FILES)
#define SEEN_MAX	16384U
#define NEXT_MAX	CALLS_MAX

/* The search. */
static struct {
	const struct program *p;
	const struct outcome *o;
	const __u64 *outstanding;
	bool limited;
	struct step step[THREADS][STEPS_MAX];
	unsigned int n[THREADS];
	unsigned int at[THREADS];
	__u64 seen[SEEN_MAX];
	unsigned int nr_seen;
	bool gave_up;
	unsigned int furthest;
	unsigned int stuck_at;
} m;

static unsigned int get(state_t s, unsigned int i)
{
	return s >> 2 * i & 3;
}

static state_t put(state_t s, unsigned int i, unsigned int value)
{
	return (s & ~(3ULL << 2 * i)) | (state_t)value << 2 * i;
}

/* Is the operation none that a command can do? */
static bool no_command(unsigned int kind)
{
	return kind == K_TIMEOUT || kind == K_UNTIMEOUT || kind == K_KSET;
}

static unsigned int state_when(const struct call *c)
{
	return time_is_far(c->when) ? FAR : SOON;
}

static unsigned int file(unsigned int i)
{
	return file_at(m.p, m.o, i);
}

/* Does the callout that call @i has set belong to a command? */
static bool is_command(unsigned int i)
{
	return kind_makes(m.p->call[i].kind) && op_is_command(m.p, m.o, i);
}

/* Has the command of this callout completed since it fired? Then nothing cancels it. */
static bool has_fired(unsigned int i)
{
	return m.o[i].completions && !m.o[i].completion;
}

static bool same_name(unsigned int i, unsigned int set)
{
	return m.p->call[set].key == m.p->call[i].key &&
	       file(set) == file(i);
}

/* Does call @i mean a callout that call @set has set by TIMEOUT? */
static bool same_func(unsigned int i, unsigned int set)
{
	return m.p->call[set].kind == K_TIMEOUT && same_name(i, set);
}

/* Does call @i mean a callout that call @set has set by key? */
static bool same_key(unsigned int i, unsigned int set)
{
	return kind_is_keyed(m.p->call[set].kind) && same_name(i, set);
}

/* The callout that an operation means, or -1. */
static int find(state_t s, unsigned int i)
{
	const struct call *c = &m.p->call[i];
	unsigned int j, target;

	if (kind_is_keyed(c->kind)) {
		for (j = 0; j < m.p->n; j++)
			if (get(s, j) && same_key(i, j))
				return j;
		return -1;
	}
	target = m.o[i].target;
	if (target == NO_TARGET || !get(s, target) ||
	    file(target) != file(i))
		return -1;
	if (c->kind == K_UNTIMEOUT && !same_func(i, target))
		return -1;
	return target;
}

/* Can an operation have returned this state of its callout? */
static bool told(unsigned int state, long ret)
{
	switch (ret) {
	case CALLOUT_STATE_PENDING:
		return state == FAR || state == SOON;
	case CALLOUT_STATE_UNREAD:
		return state == SOON || state == UNREAD;
	default:
		return false;
	}
}

/* LIST of one callout. */
static unsigned int do_one(state_t s, unsigned int i, state_t *next)
{
	const struct outcome *o = &m.o[i];
	int c = find(s, i);

	*next = s;
	if (c < 0)
		return o->ret == -ENOENT;
	if (is_command(c) && o->ret == -ENOENT) {
		*next = put(s, c, GONE);
		return get(s, c) == SOON && has_fired(c);
	}
	if (o->ret || o->command != is_command(c))
		return 0;
	if (is_command(c))
		return o->state == CALLOUT_STATE_PENDING;
	if (o->state == CALLOUT_STATE_UNREAD)
		*next = put(s, c, UNREAD);
	return told(get(s, c), o->state);
}

/* UNTIMEOUT without a handle takes the callout that is due first. */
static unsigned int do_untimeout(state_t s, unsigned int i, state_t *next)
{
	const struct outcome *o = &m.o[i];
	bool soon = false, any = false;
	unsigned int n = 0, j;

	for (j = 0; j < m.p->n; j++) {
		if (!get(s, j) || !same_func(i, j))
			continue;
		any = true;
		soon |= get(s, j) != FAR;
	}
	if (!any) {
		*next = s;
		return o->unknown || o->ret == -ENOENT;
	}
	for (j = 0; j < m.p->n; j++)
		if (get(s, j) && same_func(i, j) &&
		    (get(s, j) == FAR) != soon &&
		    (o->unknown || told(get(s, j), o->ret)))
			next[n++] = put(s, j, GONE);
	return n;
}

/* A SET or TIMEOUT that makes a callout. */
static unsigned int do_set(state_t s, unsigned int i, state_t *next)
{
	const struct call *c = &m.p->call[i];
	const struct outcome *o = &m.o[i];
	unsigned int n = 0;

	/* The operation is undone, if it has a handle. */
	if (o->unknown && !kind_is_keyed(c->kind))
		next[n++] = s;
	else if (o->unknown || !o->ret)
		next[n++] = put(s, i, state_when(c));
	if (m.limited && (o->unknown || o->ret == -ENOSPC || o->ret == -EDQUOT))
		next[n++] = s;
	return n;
}

/* An operation that finds no callout. */
static unsigned int do_none(state_t s, unsigned int i, state_t *next)
{
	const struct outcome *o = &m.o[i];

	if (kind_makes(m.p->call[i].kind))
		return do_set(s, i, next);
	*next = s;
	return o->unknown || o->ret == -ENOENT;
}

/* The error with which an operation refuses the callout @found, or 0. */
static long refusal(unsigned int i, unsigned int found)
{
	unsigned int kind = m.p->call[i].kind;

	if (kind == K_KNEW)
		return -EEXIST;
	if (!kind_replaces(kind))
		return 0;
	if (is_command(found) ? op_has_cookie(m.p, m.o, i) :
				m.p->call[found].kind == K_TIMEOUT)
		return -EBUSY;
	return 0;
}

/* An operation of the callout @found, which is pending or unread. */
static unsigned int do_found(state_t s, unsigned int i, unsigned int found,
			     state_t *next)
{
	const struct call *c = &m.p->call[i];
	const struct outcome *o = &m.o[i];
	long error = refusal(i, found);
	unsigned int n = 0;

	if (error) {
		*next = s;
		return o->unknown || o->ret == error;
	}
	if (is_command(found) && has_fired(found) && !kind_sets(c->kind))
		return 0;
	if (o->unknown || (is_command(found) ? o->ret == CALLOUT_STATE_PENDING :
					       told(get(s, found), o->ret)))
		next[n++] = put(s, found, kind_sets(c->kind) ? state_when(c) : GONE);
	return n;
}

static unsigned int do_op(state_t s, unsigned int i, state_t *next)
{
	const struct call *c = &m.p->call[i];
	const struct outcome *o = &m.o[i];
	int found = -1;
	unsigned int n = 0;

	if (c->kind == K_ONE || c->kind == K_KONE)
		return do_one(s, i, next);
	if (op_is_command(m.p, m.o, i) && no_command(c->kind)) {
		*next = s;
		return o->ret == -EINVAL;
	}
	if (c->kind == K_UNTIMEOUT && o->target == NO_TARGET)
		return do_untimeout(s, i, next);
	if (kind_is_keyed(c->kind) || !kind_makes(c->kind))
		found = find(s, i);
	if (found < 0)
		return do_none(s, i, next);
	/* The callout may have fired before, without an event. */
	if (is_command(found) && has_fired(found) && get(s, found) == SOON)
		n = do_none(put(s, found, GONE), i, next);
	return n + do_found(s, i, found, next + n);
}

/* The callout of an event, or -1. */
static int find_event(state_t s, unsigned int i, const struct seen *e)
{
	bool keyed = e->flags & CALLOUT_EVENTF_KEY, has_key;
	unsigned int j;

	for (j = 0; j < m.p->n; j++) {
		if (get(s, j) < SOON || file(j) != file(i) || is_command(j))
			continue;
		has_key = kind_is_keyed(m.p->call[j].kind);
		if (keyed != has_key)
			continue;
		if (e->handle == (keyed ? m.p->call[j].key + 1U :
					  m.o[j].handle))
			return j;
	}
	return -1;
}

static unsigned int do_read(state_t s, unsigned int i, state_t *next)
{
	const struct call *c = &m.p->call[i];
	const struct outcome *o = &m.o[i];
	unsigned int room, j;
	int found;

	for (j = 0; j < o->n; j++) {
		found = find_event(s, i, &o->seen[j]);
		if (found < 0)
			return 0;
		s = put(s, found, GONE);
	}
	room = c->kind == K_READ ? c->n % (EVENTS_MAX + 1) :
				   1 + c->n % EVENTS_MAX;
	for (j = 0; j < m.p->n && o->n < room; j++)
		if (get(s, j) == UNREAD && file(j) == file(i))
			return 0;
	*next = s;
	return 1;
}

/* The tag in the cookie of the callout that call @set has set. TIMEOUT's callouts have none. */
static unsigned int tag(unsigned int set)
{
	return m.p->call[set].kind == K_TIMEOUT || is_command(set) ? 0 :
	       m.p->call[set].key;
}

/* MATCH, in a program that does nothing else at the same time. */
static unsigned int do_match(state_t s, unsigned int i, state_t *next)
{
	const struct call *c = &m.p->call[i];
	unsigned int j, n = 0;

	for (j = 0; j < m.p->n; j++) {
		if (!get(s, j) || file(j) != file(i) || (c->n & 1 && tag(j) != c->key))
			continue;
		if (is_command(j) && has_fired(j) && get(s, j) == FAR)
			return 0;
		n += !is_command(j) || !has_fired(j);
		s = put(s, j, GONE);
	}
	*next = s;
	return m.o[i].ret == (long)n;
}

/* Has the command of call @i ended as its callout has? */
static bool completed(state_t s, unsigned int i)
{
	const struct outcome *o = &m.o[i];

	if (!o->completions)
		return get(s, i) != GONE || o->ret < 0;
	if (o->completion == -ECANCELED)
		return get(s, i) == GONE;
	return o->completion || get(s, i) != FAR;
}

/* The number of callouts left in a file. Commands may have fired while these were counted. */
static unsigned int do_left(state_t s, unsigned int number, state_t *next)
{
	unsigned int j, n = 0, more = 0;

	for (j = 0; j < m.p->n; j++) {
		if (file(j) != number)
			continue;
		if (is_command(j) && !completed(s, j))
			return 0;
		if (is_command(j) && has_fired(j))
			more += !!get(s, j);
		else
			n += !!get(s, j);
	}
	*next = s;
	return n <= m.outstanding[number] && m.outstanding[number] <= n + more;
}

static unsigned int do_step(state_t s, const struct step *step, state_t *next)
{
	switch (step->kind) {
	case S_OP:	return do_op(s, step->i, next);
	case S_READ:	return do_read(s, step->i, next);
	case S_MATCH:	return do_match(s, step->i, next);
	default:	return do_left(s, step->i, next);
	}
}

static __u64 mix(__u64 value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

/* Was the search in this state before? Then it did not lead to an end. */
static bool was_here(state_t s)
{
	__u64 key = 0;
	unsigned int t, i;

	for (t = 0; t < THREADS; t++)
		key = key << 8 | m.at[t];
	key = mix(mix(key + 1) ^ s) | 1ULL << 63;
	for (i = key % SEEN_MAX; m.seen[i]; i = (i + 1) % SEEN_MAX)
		if (m.seen[i] == key)
			return true;
	if (m.nr_seen == SEEN_MAX / 2) {
		m.gave_up = true;
		return true;
	}
	m.seen[i] = key;
	m.nr_seen++;
	return false;
}

static bool search(state_t s)
{
	state_t next[NEXT_MAX];
	const struct step *step;
	unsigned int t, n, i, done = 0;
	__u64 first_end = ~0ULL;

	for (t = 0; t < THREADS; t++) {
		done += m.at[t];
		if (m.at[t] < m.n[t] && m.step[t][m.at[t]].end < first_end)
			first_end = m.step[t][m.at[t]].end;
	}
	if (first_end == ~0ULL)
		return true;
	if (was_here(s))
		return false;
	for (t = 0; t < THREADS; t++) {
		step = &m.step[t][m.at[t]];
		if (m.at[t] == m.n[t] || step->start > first_end)
			continue;
		n = do_step(s, step, next);
		if (!n && done >= m.furthest) {
			m.furthest = done;
			m.stuck_at = step->kind == S_LEFT ? m.p->n : step->i;
		}
		m.at[t]++;
		for (i = 0; i < n; i++)
			if (search(next[i]))
				return true;
		m.at[t]--;
	}
	return false;
}

static void add(unsigned int thread, enum step_kind kind, unsigned int i,
		__u64 start, __u64 end)
{
	m.step[thread][m.n[thread]++] = (struct step){ kind, i, start, end };
}

/* Does memory in a place fail when the kernel reads it or, if @writes, writes it? */
static bool place_fails(unsigned int place, bool writes)
{
	return place != P_good && place != P_changing && (place != P_readonly || writes);
}

/* Did the call have no effect, whatever is outstanding? */
static bool is_void(const struct call *c, const struct outcome *o)
{
	const struct call *by = o->by ? &m.p->call[o->by - 1] : NULL;

	if (!kind_is_op(c->kind))
		return c->place != P_good || c->array != P_good;
	if (by && by->kind == K_BATCH) {
		if (by->array != P_good && by->array != P_readonly)
			return true;
		if (!o->unknown && o->ret == -ECANCELED)
			return true;
	} else if (place_fails(by ? by->place : c->place, kind_writes(c->kind))) {
		return true;
	} else if (by && o->ret == -EOPNOTSUPP) {
		/* The kernel has no commands. */
		return true;
	}
	return c->when == T_bad && kind_sets(c->kind);
}

static void add_call(unsigned int i)
{
	const struct call *c = &m.p->call[i];
	const struct outcome *o = &m.o[i];

	if (kind_is_op(c->kind) || c->kind == K_ONE || c->kind == K_KONE) {
		if (!is_void(c, o))
			add(c->thread, S_OP, i, o->start, o->end);
	} else if (c->kind == K_MATCH) {
		add(c->thread, S_MATCH, i, o->start, o->end);
	} else if (c->kind == K_READ && (o->ret > 0 || o->ret == -EAGAIN)) {
		add(c->thread, S_READ, i, o->start, o->end);
	}
}

/* Batches come before their operations, and read after these. */
static void add_calls(void)
{
	int batch[THREADS];
	unsigned int i, t;

	memset(batch, 0xff, sizeof(batch));
	for (i = 0; i <= m.p->n; i++) {
		for (t = 0; t < THREADS; t++) {
			if (batch[t] < 0)
				continue;
			if (i < m.p->n && (m.p->call[i].thread != t ||
					   m.o[i].by == batch[t] + 1))
				continue;
			if (m.o[batch[t]].n)
				add(t, S_READ, batch[t], m.o[batch[t]].start,
				    m.o[batch[t]].end);
			batch[t] = -1;
		}
		if (i == m.p->n || !m.o[i].ran)
			continue;
		if (m.p->call[i].kind == K_BATCH)
			batch[m.p->call[i].thread] = i;
		add_call(i);
	}
}

/*
 * Return NULL if the results of a program's calls can be explained, or why not.
 * @outstanding is how many callouts each file has at the end. @limited: a limit may
 * have been too low for the program's callouts.
 */
const char *model_check(const struct program *p, const struct outcome *o,
			const __u64 outstanding[FILES], bool limited)
{
	static char why[128];
	unsigned int i;

	memset(&m, 0, sizeof(m));
	m.p = p;
	m.o = o;
	m.outstanding = outstanding;
	m.limited = limited || program_has(p, K_LIMIT);
	add_calls();
	for (i = 0; i < FILES; i++)
		if (i != FILE_DUPLICATE)
			add(0, S_LEFT, i, ~0ULL - 1, ~0ULL - 1);
	if (search(0) || m.gave_up)
		return NULL;
	if (m.stuck_at == p->n)
		snprintf(why, sizeof(why),
			 "model: callouts were lost, or left behind");
	else
		snprintf(why, sizeof(why),
			 "model: no order explains call %u, %s, that returned %lld",
			 m.stuck_at, kind_name(p->call[m.stuck_at].kind),
			 o[m.stuck_at].ret);
	return why;
}
