// SPDX-License-Identifier: GPL-2.0
/*
 * mock_device.c - the calls of /dev/callout as callout.4 describes them
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include "mock_device.h"

/* The time when a batch's wait ends, in CLOCK_MONOTONIC. */
static uint64_t wait_end(const struct callout_batch *b)
{
	uint64_t ahead = mock_clock(b->clockid) - mock.now, time = b->time;

	if (time >= TIME_LAST)
		return TIME_LAST;
	if (b->flags & CALLOUT_BATCHF_ABSTIME)
		return time > ahead ? time - ahead : 0;
	return time < TIME_LAST - mock.now ? mock.now + time : TIME_LAST;
}

static bool wait_bad(const struct callout_batch *b)
{
	if (!(b->flags & CALLOUT_BATCHF_WAIT))
		return b->flags & CALLOUT_BATCHF_ABSTIME || b->time ||
		       b->clockid || b->min_events || b->sigmask || b->sigmask_size;
	return !b->nr_events || b->min_events > b->nr_events ||
	       !mock_has_clock(b->clockid) || mock_is_alarm(b->clockid) ||
	       b->sigmask_size != (b->sigmask ? 8 : 0);
}

static int batch(struct mock_file *f, struct callout_batch *b)
{
	struct callout_op *op = (void *)(uintptr_t)b->ops;
	unsigned int i;
	int ret = 0;

	b->done = 0;
	b->failed = 0;
	b->got = 0;
	if (b->op_size != sizeof(*op) || b->nr_ops > CALLOUT_BATCH_MAX ||
	    b->nr_events > CALLOUT_BATCH_MAX ||
	    b->flags & ~(CALLOUT_BATCHF_STOP | CALLOUT_BATCHF_WAIT |
			 CALLOUT_BATCHF_ABSTIME) || wait_bad(b))
		return -EINVAL;
	if (mock.fail_batch) {
		ret = -mock.fail_batch;
		mock.fail_batch = 0;
		return ret;
	}
	for (i = 0; i < b->nr_ops; i++, op++) {
		op->result = mock_do(f, op);
		b->done++;
		if (op->result >= 0)
			continue;
		b->failed++;
		if (b->flags & CALLOUT_BATCHF_STOP)
			return 0;
		if (mock.short_at && i + 1 >= mock.short_at)
			break;
	}
	if (mock.short_at && i + 1 >= mock.short_at && i < b->nr_ops) {
		mock.short_at = 0;
		return -EFAULT;
	}
	if (b->flags & CALLOUT_BATCHF_WAIT)
		ret = mock_wait(f, wait_end(b));
	if (!ret && b->nr_events)
		b->got = mock_read_events(f, (void *)(uintptr_t)b->events, b->nr_events);
	return ret;
}

static void describe(const struct mock_callout *c, struct callout_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->handle = c->name;
	e->op = c->set.op;
	e->op_flags = c->set.flags & CALLOUT_OPF_KEY;
	if (c->set.clockid != CLOCK_REALTIME &&
	    c->set.clockid != CLOCK_REALTIME_ALARM)
		e->op_flags |= CALLOUT_OPF_ABSTIME;
	e->op_flags |= c->set.flags & CALLOUT_OPF_ABSTIME;
	e->state = c->unread ? CALLOUT_STATE_UNREAD : CALLOUT_STATE_PENDING;
	e->clockid = c->set.clockid;
	e->due = c->due;
	e->left = mock_left(c);
	e->period = c->set.period;
	e->slack = c->set.slack;
	e->cookie = c->set.cookie;
	e->func = c->set.op == CALLOUT_OP_TIMEOUT ? c->set.func : 0;
}

static int list_one(struct mock_file *f, struct callout_list *l)
{
	struct mock_callout *c = l->flags & CALLOUT_LISTF_KEY ?
				 mock_find_key(f, l->key) :
				 mock_find(f, l->handle);

	if (!c)
		return -ENOENT;
	describe(c, (void *)(uintptr_t)l->entries);
	l->got = 1;
	return 0;
}

static int list(struct mock_file *f, struct callout_list *l)
{
	struct callout_entry *e = (void *)(uintptr_t)l->entries;
	unsigned int k;

	if (!l->nr_entries || l->nr_entries > CALLOUT_BATCH_MAX ||
	    l->entry_size != sizeof(*e) || l->flags > CALLOUT_LISTF_KEY)
		return -EINVAL;
	if (l->flags)
		return list_one(f, l);
	l->got = 0;
	for (k = l->cursor; k < MOCK_CALLOUTS && l->got < l->nr_entries; k++)
		if (f->callout[k].used)
			describe(&f->callout[k], &e[l->got++]);
	l->cursor = k < MOCK_CALLOUTS ? k : 0;
	return 0;
}

static int cancel_matching(struct mock_file *f, const struct callout_match *arg)
{
	unsigned int k, n = 0;
	struct mock_callout *c;

	if (arg->flags || arg->reserved || arg->cookie & ~arg->mask)
		return -EINVAL;
	for (k = 0; k < MOCK_CALLOUTS; k++) {
		c = &f->callout[k];
		if (c->used && (c->set.cookie & arg->mask) == arg->cookie) {
			mock_cancel(f, c);
			n++;
		}
	}
	return n;
}

static int info(struct mock_file *f, struct callout_info *arg)
{
	memset(arg, 0, sizeof(*arg));
	arg->outstanding = mock_outstanding(f);
	arg->unread = mock_unread(f);
	arg->max_outstanding = f->limit;
	fuzz_assert(f->count.set == f->count.cancelled + f->count.withdrawn +
				    f->count.delivered + arg->outstanding,
		    "the counts do not add up");
	return 0;
}

static int limit(struct mock_file *f, const struct callout_limit *arg)
{
	if (arg->flags || arg->reserved || !arg->max_outstanding ||
	    arg->max_outstanding > f->limit)
		return -EINVAL;
	f->limit = arg->max_outstanding;
	return 0;
}

static int request_of(struct mock_file *f, unsigned long request, void *arg)
{
	mock_fire();
	switch (request) {
	case CALLOUT_IOC_OP:
		return mock_do(f, arg);
	case CALLOUT_IOC_BATCH:
		return batch(f, arg);
	case CALLOUT_IOC_CANCEL_MATCHING:
		return cancel_matching(f, arg);
	case CALLOUT_IOC_LIST:
		return list(f, arg);
	case CALLOUT_IOC_LIMIT:
		return limit(f, arg);
	case CALLOUT_IOC_INFO:
		return info(f, arg);
	}
	return -ENOTTY;
}

int mock_ioctl(int fd, unsigned long request, ...)
{
	struct mock_file *f = mock_file(fd);
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	mock.calls++;
	ret = f ? request_of(f, request, arg) : -EBADF;
	errno = ret < 0 ? -ret : NO_ERROR;
	return ret < 0 ? -1 : ret;
}

ssize_t mock_read(int fd, void *buffer, size_t size)
{
	struct mock_file *f = mock_file(fd);
	unsigned int n;

	mock.calls++;
	if (!f || mock.interrupt) {
		mock.interrupt = false;
		errno = f ? EINTR : EBADF;
		return -1;
	}
	if (!mock_unread(f) && !(f->flags & O_NONBLOCK))
		mock_wait(f, ~0ULL);
	n = mock_read_events(f, buffer, size / sizeof(struct callout_event));
	errno = n ? NO_ERROR : EAGAIN;
	return n ? (ssize_t)(n * sizeof(struct callout_event)) : -1;
}
