// SPDX-License-Identifier: GPL-2.0
/*
 * mock_callouts.c - the callouts of the mock: an array, searched from end to end
 *
 * A wrong argument from the library, such as an unknown flag, is an error as in the kernel.
 */
#include <errno.h>
#include "mock_device.h"

/* The time when a callout fires, in CLOCK_MONOTONIC: at a tick, neither early nor in the past. */
static uint64_t fires(const struct mock_callout *c)
{
	uint64_t t = c->due, ahead = mock_clock(c->set.clockid) - mock.now;

	if (mock.use_slack)
		t += c->set.slack < TIME_LAST - t ? c->set.slack : TIME_LAST - t;
	t = t > ahead ? t - ahead : 0;
	t = (t + MOCK_TICK - 1) / MOCK_TICK * MOCK_TICK;
	return t > c->fired ? t : c->fired;
}

/* Let all due callouts fire. */
void mock_fire(void)
{
	struct mock_callout *c;
	unsigned int i, k;
	uint64_t t;

	for (i = 0; i < MOCK_FILES; i++) {
		for (k = 0; k < MOCK_CALLOUTS; k++) {
			c = &mock.file[i].callout[k];
			if (!c->used || c->unread)
				continue;
			t = fires(c);
			if (t > mock.now)
				continue;
			c->unread = true;
			c->fired = t;
		}
	}
}

static uint64_t next_fire(struct mock_file *f)
{
	uint64_t first = ~0ULL, t;
	unsigned int k;

	for (k = 0; k < MOCK_CALLOUTS; k++) {
		if (!f->callout[k].used || f->callout[k].unread)
			continue;
		t = fires(&f->callout[k]);
		if (t < first)
			first = t;
	}
	return first;
}

/* Find a callout by the kind of name that the flags of an operation select. */
static struct mock_callout *find_name(struct mock_file *f, uint64_t name,
				      uint32_t flags)
{
	struct mock_callout *c;

	for (c = f->callout; c < f->callout + MOCK_CALLOUTS; c++)
		if (c->used && !((c->set.flags ^ flags) & CALLOUT_OPF_KEY) &&
		    c->name == name)
			return c;
	return NULL;
}

struct mock_callout *mock_find(struct mock_file *f, uint64_t handle)
{
	return find_name(f, handle, 0);
}

struct mock_callout *mock_find_key(struct mock_file *f, uint64_t key)
{
	return find_name(f, key, CALLOUT_OPF_KEY);
}

/* Take the callout that is due first, and among equal times the first that was set. */
static struct mock_callout *find_func(struct mock_file *f,
				      const struct callout_op *op)
{
	struct mock_callout *c, *first = NULL;
	unsigned int k;

	for (k = 0; k < MOCK_CALLOUTS; k++) {
		c = &f->callout[k];
		if (!c->used || c->set.op != CALLOUT_OP_TIMEOUT ||
		    c->set.func != op->func || c->set.cookie != op->cookie ||
		    (op->handle && op->handle != c->name))
			continue;
		if (!first || c->due < first->due ||
		    (c->due == first->due && c->seq < first->seq))
			first = c;
	}
	return first;
}

unsigned int mock_outstanding(struct mock_file *f)
{
	unsigned int k, n = 0;

	for (k = 0; k < MOCK_CALLOUTS; k++)
		n += f->callout[k].used;
	return n;
}

unsigned int mock_unread(struct mock_file *f)
{
	unsigned int k, n = 0;

	mock_fire();
	for (k = 0; k < MOCK_CALLOUTS; k++)
		n += f->callout[k].used && f->callout[k].unread;
	return n;
}

static uint64_t due_of(const struct callout_op *op, clockid_t clockid)
{
	uint64_t now = mock_clock(clockid);

	if (op->flags & CALLOUT_OPF_ABSTIME)
		return op->time;
	return op->time < TIME_LAST - now ? now + op->time : TIME_LAST;
}

uint64_t mock_left(const struct mock_callout *c)
{
	uint64_t now = mock_clock(c->set.clockid);

	return c->due > now ? c->due - now : 0;
}

int mock_cancel(struct mock_file *f, struct mock_callout *c)
{
	if (!c)
		return -ENOENT;
	c->used = false;
	if (c->unread)
		f->count.withdrawn++;
	else
		f->count.cancelled++;
	return c->unread ? CALLOUT_STATE_UNREAD : CALLOUT_STATE_PENDING;
}

/* Make the callout wait for the operation's time. */
static void start(struct mock_callout *c, const struct callout_op *op)
{
	c->due = due_of(op, c->set.clockid);
	c->unread = false;
	c->fired = (mock.now / MOCK_TICK + 1) * MOCK_TICK;
	c->seq = mock.next_seq++;
}

static int set_again(struct mock_file *f, struct mock_callout *c,
		     struct callout_op *op)
{
	int ret = c->unread ? CALLOUT_STATE_UNREAD : CALLOUT_STATE_PENDING;

	if (op->op == CALLOUT_OP_SET) {
		if (c->set.op == CALLOUT_OP_TIMEOUT)
			return -EBUSY;
		c->set = *op;
	}
	op->left = c->unread ? 0 : mock_left(c);
	c->set.flags = (c->set.flags & ~CALLOUT_OPF_ABSTIME) |
		       (op->flags & CALLOUT_OPF_ABSTIME);
	start(c, op);
	f->count.reset++;
	return ret;
}

static int set_new(struct mock_file *f, struct callout_op *op)
{
	struct mock_callout *c;

	if (mock.fail_sets) {
		mock.fail_sets--;
		return -mock.fail_set;
	}
	if (mock_outstanding(f) >= f->limit)
		return -ENOSPC;
	for (c = f->callout; c->used; c++)
		;
	memset(c, 0, sizeof(*c));
	c->used = true;
	c->set = *op;
	if (op->flags & CALLOUT_OPF_KEY) {
		c->name = op->key;
		if (!(op->flags & CALLOUT_OPF_ONLY_NEW))
			op->left = 0;
	} else {
		c->name = mock.next_handle++;
		op->handle = c->name;
	}
	start(c, op);
	f->count.set++;
	return 0;
}

static bool set_flags_bad(uint32_t flags)
{
	const uint32_t only = CALLOUT_OPF_ONLY_NEW | CALLOUT_OPF_ONLY_OLD;

	return flags & ~(CALLOUT_OPF_ABSTIME | CALLOUT_OPF_KEY | only) ||
	       (flags & only) == only ||
	       (flags & CALLOUT_OPF_ONLY_NEW && !(flags & CALLOUT_OPF_KEY));
}

static int set(struct mock_file *f, struct callout_op *op)
{
	struct mock_callout *c = NULL;

	if (set_flags_bad(op->flags) || !mock_has_clock(op->clockid))
		return -EINVAL;
	if (op->func && (op->flags & CALLOUT_OPF_ONLY_NEW ||
			 !(op->flags & (CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD))))
		return -EINVAL;
	if (op->flags & (CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD))
		c = find_name(f, op->handle, op->flags);
	if (c)
		return op->flags & CALLOUT_OPF_ONLY_NEW ? -EEXIST :
							  set_again(f, c, op);
	return op->flags & CALLOUT_OPF_ONLY_OLD ? -ENOENT : set_new(f, op);
}

static int move(struct mock_file *f, struct callout_op *op)
{
	struct mock_callout *c;

	if (op->flags & ~(CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME) || op->clockid ||
	    op->period || op->slack || op->cookie)
		return -EINVAL;
	c = find_name(f, op->handle, op->flags);
	return c ? set_again(f, c, op) : -ENOENT;
}

int mock_do(struct mock_file *f, struct callout_op *op)
{
	mock_fire();
	if (op->time > TIME_LAST || op->period > TIME_LAST || op->slack > TIME_LAST)
		return -EINVAL;
	switch (op->op) {
	case CALLOUT_OP_SET:
		return set(f, op);
	case CALLOUT_OP_MOVE:
		return move(f, op);
	case CALLOUT_OP_TIMEOUT:
		if (op->flags & ~CALLOUT_OPF_ABSTIME || !mock_has_clock(op->clockid) ||
		    op->period || op->func == ~0ULL)
			return -EINVAL;
		return set_new(f, op);
	case CALLOUT_OP_CANCEL:
		if (op->flags & ~CALLOUT_OPF_KEY || op->clockid || op->time ||
		    op->period || op->slack || op->cookie || op->func)
			return -EINVAL;
		return mock_cancel(f, find_name(f, op->handle, op->flags));
	case CALLOUT_OP_UNTIMEOUT:
		if (op->flags || op->clockid || op->time || op->period ||
		    op->slack || op->func == ~0ULL)
			return -EINVAL;
		return mock_cancel(f, find_func(f, op));
	}
	return -EINVAL;
}

static struct mock_callout *first_unread(struct mock_file *f)
{
	struct mock_callout *c, *first = NULL;
	unsigned int k;

	mock_fire();
	for (k = 0; k < MOCK_CALLOUTS; k++) {
		c = &f->callout[k];
		if (!c->used || !c->unread)
			continue;
		if (!first || c->fired < first->fired ||
		    (c->fired == first->fired && c->seq < first->seq))
			first = c;
	}
	return first;
}

static void read_event(struct mock_file *f, struct callout_event *e,
		       struct mock_callout *c)
{
	uint64_t passed = mock_clock(c->set.clockid) - c->due;

	memset(e, 0, sizeof(*e));
	e->type = CALLOUT_EVENT_FIRED;
	e->flags = c->set.flags & CALLOUT_OPF_KEY ? CALLOUT_EVENTF_KEY : 0;
	e->handle = c->name;
	e->cookie = c->set.cookie;
	e->func = c->set.op == CALLOUT_OP_TIMEOUT ? c->set.func : 0;
	e->due = c->due;
	e->fired = c->fired;
	e->clockid = c->set.clockid;
	if (!c->set.period) {
		f->count.delivered++;
		c->used = false;
		return;
	}
	e->flags |= CALLOUT_EVENTF_PERIODIC;
	passed /= c->set.period;
	e->overrun = passed;
	f->count.repeated++;
	c->unread = false;
	passed = (passed + 1) * c->set.period;
	c->due = passed < TIME_LAST - c->due ? c->due + passed : TIME_LAST;
	c->fired = 0;
}

unsigned int mock_read_events(struct mock_file *f, struct callout_event *e,
			      unsigned int n)
{
	struct mock_callout *c;
	unsigned int got;

	for (got = 0; got < n; got++) {
		c = first_unread(f);
		if (!c)
			break;
		read_event(f, &e[got], c);
		mock.now += mock.jitter;
		mock.drift += mock.jitter;
	}
	return got;
}

/* Wait until an event is there, up to @end. Return 0, also if none came in time. */
int mock_wait(struct mock_file *f, uint64_t end)
{
	uint64_t next = next_fire(f);

	if (mock_unread(f))
		return 0;
	if (next > end)
		next = end;
	/* Interrupt a wait that would never end. */
	if (next >= TIME_LAST / 2)
		return -EINTR;
	if (mock.interrupt) {
		mock.interrupt = false;
		/* Stop just before the event that would have ended the wait. */
		if (next > mock.now)
			mock.now = next - 1;
		return -EINTR;
	}
	if (next > mock.now)
		mock.now = next;
	return 0;
}

/* When the first pending callout of a clock is due, in the clock; CALLOUT_FOREVER: none. */
uint64_t mock_next_due(struct mock_file *f, clockid_t clockid)
{
	uint64_t due = CALLOUT_FOREVER;
	struct mock_callout *c;

	mock_fire();
	for (c = f->callout; c < f->callout + MOCK_CALLOUTS; c++)
		if (c->used && !c->unread && c->set.clockid == clockid &&
		    c->due < due)
			due = c->due;
	return due;
}
