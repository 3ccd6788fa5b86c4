// SPDX-License-Identifier: GPL-2.0
/*
 * faults_file.c - each allocation and copy of what concerns a whole file,
 * its events or a ring of io_uring fails
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "walk.h"

static int call_open(struct faulty *f)
{
	f->fd = callout_dev_open(O_NONBLOCK);
	return f->fd;
}

static bool open_failed(struct faulty *f)
{
	return f->fd < 0;
}

static bool open_done(struct faulty *f, int ret)
{
	return ret >= 0 && faulty_add(f, PENDING_ID, 3, HOUR, true);
}

static int call_close(struct faulty *f)
{
	int ret = close(f->fd);

	f->fd = -1;
	return ret;
}

static bool close_done(struct faulty *f, int ret)
{
	memset(f->outstanding, 0, sizeof(f->outstanding));
	f->fd = callout_dev_open(O_NONBLOCK);
	return !ret && f->fd >= 0;
}

static int call_read(struct faulty *f)
{
	return callout_dev_read(f->fd, f->events, 64);
}

/* One that has copied some says so; the others stay. */
static bool read_done(struct faulty *f, int ret)
{
	return ret > 0 && events_are_expected(f, ret);
}

struct longer_event {
	struct callout_event event;
	__u64 more;
};

static bool read_longer_prepare(struct faulty *f)
{
	struct callout_format format = {
		.event_size = sizeof(struct longer_event),
	};

	return !callout_dev_ioctl(f->fd, CALLOUT_IOC_FORMAT, &format);
}

static int call_read_longer(struct faulty *f)
{
	struct longer_event events[MANY];
	ssize_t ret = read(f->fd, events, sizeof(events)), i;

	if (ret < 0)
		return -errno;
	ret /= sizeof(events[0]);
	for (i = 0; i < ret; i++)
		f->events[i] = events[i].event;
	return ret;
}

static int call_get(struct faulty *f)
{
	struct callout_entry entry = { .handle = f->handle[PENDING_ID] };
	int ret = callout_dev_ioctl(f->fd, CALLOUT_IOC_GET, &entry);

	return ret ? ret : (int)entry.cookie;
}

static bool get_done(struct faulty *f, int ret)
{
	return ret == PENDING_ID;
}

/* Returns how many are as they were. */
static int call_list(struct faulty *f)
{
	struct callout_entry entries[MANY] = { 0 };
	int n = list_file(f->fd, entries), i;

	for (i = 0; i < n; i++)
		if (!entry_is_same(&entries[i], &f->before.entries[i]))
			return i;
	return n;
}

static bool list_done(struct faulty *f, int ret)
{
	return ret == f->before.n;
}

static int call_next(struct faulty *f)
{
	struct callout_next next = { .clockid = CLOCK_MONOTONIC };
	int ret = callout_dev_ioctl(f->fd, CALLOUT_IOC_NEXT, &next);

	return ret ? ret : next.due == f->before.entries[0].due;
}

static int call_info(struct faulty *f)
{
	struct callout_info info;
	int ret = callout_dev_info(f->fd, &info);

	return ret ? ret : info.outstanding == f->before.info.outstanding;
}

static int call_limit(struct faulty *f)
{
	return set_limit(f->fd, 3);
}

static bool limit_done(struct faulty *f, int ret)
{
	return !ret && info_of(f->fd).max_outstanding == 3;
}

static bool is_right(struct faulty *f, int ret)
{
	return ret == 1;
}

static bool eventfd_prepare(struct faulty *f)
{
	f->other = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return f->other >= 0;
}

static int call_eventfd(struct faulty *f)
{
	return set_eventfd(f->fd, f->other);
}

static bool eventfd_failed(struct faulty *f)
{
	return !readable(f->other) && is_unchanged(f);
}

static bool eventfd_done(struct faulty *f, int ret)
{
	return !ret && readable(f->other);
}

static int call_format(struct faulty *f)
{
	struct callout_format format = {
		.event_size = sizeof(struct longer_event),
	};

	return callout_dev_ioctl(f->fd, CALLOUT_IOC_FORMAT, &format);
}

/* An event has the former size still. */
static bool format_failed(struct faulty *f)
{
	int bytes;

	return !ioctl(f->fd, FIONREAD, &bytes) &&
	       bytes == sizeof(struct callout_event) && is_unchanged(f);
}

static bool format_done(struct faulty *f, int ret)
{
	int bytes;

	return !ret && !ioctl(f->fd, FIONREAD, &bytes) &&
	       bytes == sizeof(struct longer_event);
}

static int call_cancel(struct faulty *f)
{
	struct callout_cancel cancel = { 0 };

	return callout_dev_ioctl(f->fd, CALLOUT_IOC_CANCEL, &cancel);
}

static bool cancel_done(struct faulty *f, int ret)
{
	memset(f->outstanding, 0, sizeof(f->outstanding));
	return ret == (int)f->before.info.outstanding;
}

/* More descriptors than poll(2) has room for on its stack. */
static int poll_many(struct faulty *f, int ms)
{
	struct pollfd p[MANY];
	unsigned int i;
	int ret;

	for (i = 0; i < MANY; i++)
		p[i] = (struct pollfd){ .fd = f->fd, .events = POLLIN };
	ret = poll(p, MANY, ms);
	return ret < 0 ? -errno : ret;
}

static int call_poll(struct faulty *f)
{
	return poll_many(f, WAIT_MS);
}

static int call_poll_sleep(struct faulty *f)
{
	return poll_many(f, 1);
}

static bool poll_done(struct faulty *f, int ret)
{
	return ret == MANY;
}

static bool poll_slept(struct faulty *f, int ret)
{
	return !ret;
}

static bool epoll_prepare(struct faulty *f)
{
	f->other = epoll_create1(EPOLL_CLOEXEC);
	return f->other >= 0;
}

static int call_epoll(struct faulty *f)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(f->other, EPOLL_CTL_ADD, f->fd, &e) ? -errno : 0;
}

static bool epoll_failed(struct faulty *f)
{
	struct epoll_event e;

	return !epoll_wait(f->other, &e, 1, 0) && is_unchanged(f);
}

static bool epoll_done(struct faulty *f, int ret)
{
	struct epoll_event e;

	return !ret && epoll_wait(f->other, &e, 1, WAIT_MS) == 1;
}

static int call_async(struct faulty *f)
{
	return fcntl(f->fd, F_SETFL, O_NONBLOCK | O_ASYNC) ? -errno : 0;
}

static bool async_failed(struct faulty *f)
{
	return !(fcntl(f->fd, F_GETFL) & O_ASYNC) && is_unchanged(f);
}

static bool async_done(struct faulty *f, int ret)
{
	return !ret && fcntl(f->fd, F_GETFL) & O_ASYNC;
}

static const struct operation operations[] = {
	{ "open", .opens = true, .nomem = 2, .call = call_open,
	  .failed = open_failed, .done = open_done },
	{ "GET", .pending = 3, .efault = 2, .call = call_get,
	  .done = get_done },
	{ "LIST", .pending = 3, .efault = 4, .call = call_list,
	  .done = list_done },
	{ "NEXT", .pending = 3, .efault = 1, .call = call_next,
	  .done = is_right },
	{ "INFO", .pending = 3, .efault = 1, .call = call_info,
	  .done = is_right },
	{ "LIMIT", .pending = 3, .efault = 1, .call = call_limit,
	  .done = limit_done },
	{ "EVENTFD", .unread = 3, .efault = 1, .prepare = eventfd_prepare,
	  .call = call_eventfd, .failed = eventfd_failed,
	  .done = eventfd_done },
	{ "FORMAT", .unread = 1, .efault = 1, .call = call_format,
	  .failed = format_failed, .done = format_done },
	{ "CANCEL", .pending = 3, .unread = 3, .efault = 1,
	  .call = call_cancel, .done = cancel_done },
	{ "read", .pending = 3, .unread = MANY, .efault = 1, .call = call_read,
	  .done = read_done },
	{ "read of longer events", .unread = 3, .efault = 1,
	  .prepare = read_longer_prepare, .call = call_read_longer,
	  .done = read_done },
	{ "poll", .unread = 3, .call = call_poll, .done = poll_done },
	{ "poll that sleeps", .pending = 3, .pages = true, .nomem = 1,
	  .call = call_poll_sleep, .done = poll_slept },
	{ "epoll", .unread = 3, .nomem = 1, .prepare = epoll_prepare,
	  .call = call_epoll, .failed = epoll_failed, .done = epoll_done },
	{ "O_ASYNC", .pending = 3, .pages = true, .nomem = 1,
	  .call = call_async, .failed = async_failed, .done = async_done },
	{ "close", .pending = 3, .unread = 3, .call = call_close,
	  .done = close_done },
};

TEST_F(faults, each)
{
	walk_all(_metadata, self->walk, operations, ARRAY_SIZE(operations));
}

TEST_HARNESS_MAIN
