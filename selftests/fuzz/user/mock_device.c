// SPDX-License-Identifier: GPL-2.0
/*
 * mock_device.c - /dev/callout as callout.4 describes it, and timerfds, in a program
 *
 * An array, searched from end to end. What the library can do that no caller
 * may, such as an unknown flag, is an error as in the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include "mock_device.h"

#define TIME_LAST	(~0ULL >> 1)
#define REAL_AHEAD	1700000000000000000ULL
/* errno after a call that has succeeded: no call fails with it. */
#define NO_ERROR	EXDEV

struct mock mock;

void mock_no_faults(void)
{
	mock.fail_sets = 0;
	mock.short_at = 0;
	mock.fail_batch = 0;
	mock.interrupt = false;
	mock.allocations = UINT_MAX;
}

void mock_init(void)
{
	memset(&mock, 0, sizeof(mock));
	mock.now = 1000000;
	mock.asleep = 500;
	mock.real = REAL_AHEAD;
	mock.next_handle = 1;
	mock_no_faults();
}

void *mock_calloc(size_t n, size_t size)
{
	if (!mock.allocations)
		return NULL;
	if (mock.allocations != UINT_MAX)
		mock.allocations--;
	return calloc(n, size);
}

uint64_t mock_clock(clockid_t clockid)
{
	switch (clockid) {
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		return mock.now + mock.asleep;
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_ALARM:
		return mock.now + mock.real;
	default:
		return mock.now;
	}
}

static bool is_alarm(clockid_t clockid)
{
	return clockid == CLOCK_BOOTTIME_ALARM || clockid == CLOCK_REALTIME_ALARM;
}

static bool has_clock(clockid_t clockid)
{
	return clockid == CLOCK_MONOTONIC || clockid == CLOCK_BOOTTIME ||
	       clockid == CLOCK_REALTIME || is_alarm(clockid);
}

int mock_clock_gettime(clockid_t clockid, struct timespec *ts)
{
	uint64_t t;

	mock.looks++;
	/* Without an RTC alarm clocks cannot be read. */
	if (!has_clock(clockid) || is_alarm(clockid)) {
		errno = EINVAL;
		return -1;
	}
	mock.now += mock.jitter;
	mock.drift += mock.jitter;
	t = mock_clock(clockid);
	ts->tv_sec = t / 1000000000;
	ts->tv_nsec = t % 1000000000;
	errno = NO_ERROR;
	return 0;
}

struct mock_file *mock_file(int fd)
{
	if (fd < MOCK_FD || fd >= MOCK_FD + (int)MOCK_FILES ||
	    !mock.file[fd - MOCK_FD].open)
		return NULL;
	return &mock.file[fd - MOCK_FD];
}

static int new_file(int flags)
{
	unsigned int i;

	for (i = 0; i < MOCK_FILES; i++) {
		if (mock.file[i].open)
			continue;
		memset(&mock.file[i], 0, sizeof(mock.file[i]));
		mock.file[i].open = true;
		mock.file[i].flags = flags;
		mock.file[i].limit = MOCK_CALLOUTS;
		errno = NO_ERROR;
		return MOCK_FD + i;
	}
	errno = EMFILE;
	return -1;
}

int mock_open(const char *name, int flags, ...)
{
	fuzz_assert(!strcmp(name, CALLOUT_DEVICE), "%s", name);
	fuzz_assert(flags & O_CLOEXEC, "inherited by exec");
	fuzz_assert((flags & O_ACCMODE) == O_RDWR, "%x", flags);
	return new_file(flags);
}

struct mock_timerfd *mock_timerfd(int fd)
{
	if (fd < MOCK_TIMERFD || fd >= MOCK_TIMERFD + (int)MOCK_TIMERFDS ||
	    !mock.timerfd[fd - MOCK_TIMERFD].open)
		return NULL;
	return &mock.timerfd[fd - MOCK_TIMERFD];
}

int mock_close(int fd)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	struct mock_file *f = mock_file(fd);

	if (t) {
		t->open = false;
		errno = NO_ERROR;
		return 0;
	}
	fuzz_assert(f, "close of %d", fd);
	f->open = false;
	errno = NO_ERROR;
	return 0;
}

/* When it fires, in CLOCK_MONOTONIC: at a tick, neither early nor in the past. */
static uint64_t fires(const struct mock_callout *c)
{
	uint64_t t = c->due, ahead = mock_clock(c->set.clockid) - mock.now;

	if (mock.use_slack)
		t += c->set.slack < TIME_LAST - t ? c->set.slack : TIME_LAST - t;
	t = t > ahead ? t - ahead : 0;
	t = (t + MOCK_TICK - 1) / MOCK_TICK * MOCK_TICK;
	return t > c->fired ? t : c->fired;
}

/* What is due has fired. */
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

/* What the flags of an operation say its callout is named by. */
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

/* Of several the first to be due, and of those the first that was set. */
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

static unsigned int outstanding(struct mock_file *f)
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

static uint64_t left_of(const struct mock_callout *c)
{
	uint64_t now = mock_clock(c->set.clockid);

	return c->due > now ? c->due - now : 0;
}

static int cancel(struct mock_file *f, struct mock_callout *c)
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

/* Has the callout wait for the operation's time. */
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
	op->left = c->unread ? 0 : left_of(c);
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
	if (outstanding(f) >= f->limit)
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

	if (set_flags_bad(op->flags) || !has_clock(op->clockid))
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

static int do_op(struct mock_file *f, struct callout_op *op)
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
		if (op->flags & ~CALLOUT_OPF_ABSTIME || !has_clock(op->clockid) ||
		    op->period || op->func == ~0ULL)
			return -EINVAL;
		return set_new(f, op);
	case CALLOUT_OP_CANCEL:
		if (op->flags & ~CALLOUT_OPF_KEY || op->clockid || op->time ||
		    op->period || op->slack || op->cookie || op->func)
			return -EINVAL;
		return cancel(f, find_name(f, op->handle, op->flags));
	case CALLOUT_OP_UNTIMEOUT:
		if (op->flags || op->clockid || op->time || op->period ||
		    op->slack || op->func == ~0ULL)
			return -EINVAL;
		return cancel(f, find_func(f, op));
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

static unsigned int read_events(struct mock_file *f, struct callout_event *e,
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

/* When a wait of a batch ends, in CLOCK_MONOTONIC. */
static uint64_t wait_end(const struct callout_batch *b)
{
	uint64_t ahead = mock_clock(b->clockid) - mock.now, time = b->time;

	if (time >= TIME_LAST)
		return TIME_LAST;
	if (b->flags & CALLOUT_BATCHF_ABSTIME)
		return time > ahead ? time - ahead : 0;
	return time < TIME_LAST - mock.now ? mock.now + time : TIME_LAST;
}

/* Waits until an event is there, up to @end. Returns 0, also if none came in time. */
static int wait_for_event(struct mock_file *f, uint64_t end)
{
	uint64_t next = next_fire(f);

	if (mock_unread(f))
		return 0;
	if (next > end)
		next = end;
	/* A test that waits for nothing, for ever, is interrupted. */
	if (next >= TIME_LAST / 2)
		return -EINTR;
	if (mock.interrupt) {
		mock.interrupt = false;
		/* Just before that would have ended the wait. */
		if (next > mock.now)
			mock.now = next - 1;
		return -EINTR;
	}
	if (next > mock.now)
		mock.now = next;
	return 0;
}

static bool wait_bad(const struct callout_batch *b)
{
	if (!(b->flags & CALLOUT_BATCHF_WAIT))
		return b->flags & CALLOUT_BATCHF_ABSTIME || b->time ||
		       b->clockid || b->min_events || b->sigmask || b->sigmask_size;
	return !b->nr_events || b->min_events > b->nr_events ||
	       !has_clock(b->clockid) || is_alarm(b->clockid) ||
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
	if (b->op_size != sizeof(*op) || b->nr_ops > CALLOUT_BATCH_MAX || b->nr_events > CALLOUT_BATCH_MAX ||
	    b->flags & ~(CALLOUT_BATCHF_STOP | CALLOUT_BATCHF_WAIT |
			 CALLOUT_BATCHF_ABSTIME) || wait_bad(b))
		return -EINVAL;
	if (mock.fail_batch) {
		ret = -mock.fail_batch;
		mock.fail_batch = 0;
		return ret;
	}
	for (i = 0; i < b->nr_ops; i++, op++) {
		op->result = do_op(f, op);
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
		ret = wait_for_event(f, wait_end(b));
	if (!ret && b->nr_events)
		b->got = read_events(f, (void *)(uintptr_t)b->events, b->nr_events);
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
	e->left = left_of(c);
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
			cancel(f, c);
			n++;
		}
	}
	return n;
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

static int info(struct mock_file *f, struct callout_info *arg)
{
	memset(arg, 0, sizeof(*arg));
	arg->outstanding = outstanding(f);
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
		return do_op(f, arg);
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

int mock_epoll_create1(int flags)
{
	int fd = new_file(0);

	fuzz_assert(flags == EPOLL_CLOEXEC, "inherited by exec");
	if (fd >= 0)
		mock_file(fd)->is_epoll = true;
	return fd;
}

int mock_timerfd_create(int clockid, int flags)
{
	unsigned int i;

	fuzz_assert(flags == (TFD_CLOEXEC | TFD_NONBLOCK), "%x", flags);
	fuzz_assert(has_clock(clockid), "%d", clockid);
	for (i = 0; i < MOCK_TIMERFDS && !mock.fail_batch; i++) {
		if (mock.timerfd[i].open)
			continue;
		mock.timerfd[i] = (struct mock_timerfd){ true, clockid, NULL };
		errno = NO_ERROR;
		return MOCK_TIMERFD + i;
	}
	errno = EMFILE;
	return -1;
}

int mock_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	struct mock_file *f = mock_file(epoll);

	fuzz_assert(f && f->is_epoll && t && op == EPOLL_CTL_ADD &&
		    event->events == EPOLLIN, "epoll_ctl");
	errno = mock.short_at ? ENOMEM : NO_ERROR;
	if (!mock.short_at)
		t->epoll = f;
	return mock.short_at ? -1 : 0;
}

static int settime(struct mock_timerfd *t, uint64_t time)
{
	struct callout_op op = callout_op_set(time, 0);

	if (mock.fail_batch) {
		mock.fail_batch = 0;
		return -EINVAL;
	}
	if (!time) {
		op = callout_op_key(callout_op_cancel(0), t->clockid);
		do_op(t->epoll, &op);
		return 0;
	}
	op.clockid = t->clockid;
	op.flags = CALLOUT_OPF_ABSTIME;
	op = callout_op_key(op, t->clockid);
	return do_op(t->epoll, &op);
}

int mock_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			 struct itimerspec *old)
{
	struct mock_timerfd *t = mock_timerfd(fd);
	int ret;

	fuzz_assert(t && t->epoll && flags == TFD_TIMER_ABSTIME && !old &&
		    !new->it_interval.tv_sec && !new->it_interval.tv_nsec &&
		    new->it_value.tv_nsec < 1000000000, "timerfd_settime");
	mock.calls++;
	ret = settime(t, new->it_value.tv_sec * 1000000000 + new->it_value.tv_nsec);
	errno = ret < 0 ? -ret : NO_ERROR;
	return ret < 0 ? -1 : 0;
}

static bool key_is_unread(struct mock_file *f, uint64_t key)
{
	struct mock_callout *c = mock_find_key(f, key);

	mock_fire();
	return c && c->unread;
}

int mock_poll(struct pollfd *p, nfds_t n, int ms)
{
	struct mock_file *f = mock_file(p->fd);

	fuzz_assert(f && n == 1 && !ms && p->events == POLLIN, "poll");
	mock.polls++;
	errno = NO_ERROR;
	p->revents = mock_unread(f) ? POLLIN : 0;
	return !!p->revents;
}

int mock_ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts,
	       const void *mask)
{
	uint64_t timeout = ts ? ts->tv_sec * 1000000000 + ts->tv_nsec : ~0ULL;
	struct mock_timerfd *t;
	int ret, got = 0;
	nfds_t i;

	fuzz_assert(n && !mask, "ppoll");
	t = mock_timerfd(p->fd);
	ret = wait_for_event(t->epoll, timeout < TIME_LAST - mock.now ?
				       mock.now + timeout : TIME_LAST);
	errno = ret ? -ret : NO_ERROR;
	for (i = 0; i < n && !ret; i++) {
		t = mock_timerfd(p[i].fd);
		fuzz_assert(t && t->epoll && p[i].events == POLLIN, "ppoll");
		p[i].revents = key_is_unread(t->epoll, t->clockid) ? POLLIN : 0;
		got += !!p[i].revents;
	}
	return ret ? -1 : got;
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
		wait_for_event(f, ~0ULL);
	n = read_events(f, buffer, size / sizeof(struct callout_event));
	errno = n ? NO_ERROR : EAGAIN;
	return n ? (ssize_t)(n * sizeof(struct callout_event)) : -1;
}
