// SPDX-License-Identifier: GPL-2.0
/*
 * faults_file.c - each allocation and copy of operations on a whole file, its
 * events or a ring of io_uring fails
 */
#include <sys/epoll.h>

#include "walk.h"

static int call_open(struct faulty *f)
{
	f->fd = dev_open(O_NONBLOCK);
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
	f->fd = dev_open(O_NONBLOCK);
	return !ret && f->fd >= 0;
}

static int call_read(struct faulty *f)
{
	return dev_read(f->fd, f->events, 64);
}

/* A read that has copied some events returns their number, and the other events stay. */
static bool read_done(struct faulty *f, int ret)
{
	return ret > 0 && events_are_expected(f, ret);
}

static int call_list_one(struct faulty *f)
{
	struct callout_entry entry;
	int ret = list_one(f->fd, CALLOUT_LISTF_HANDLE, f->handle[PENDING_ID], &entry);

	return ret ? ret : (int)entry.cookie;
}

static bool list_one_done(struct faulty *f, int ret)
{
	return ret == PENDING_ID;
}

/* Return how many events are as they were. */
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

static int call_info(struct faulty *f)
{
	struct callout_info info;
	int ret = dev_info(f->fd, &info);

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

static int call_cancel(struct faulty *f)
{
	struct callout_match match = { 0 };

	return dev_ioctl(f->fd, CALLOUT_IOC_CANCEL_MATCHING, &match);
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

static const struct operation operations[] = {
	{ "open", .opens = true, .nomem = 2, .call = call_open,
	  .failed = open_failed, .done = open_done },
	{ "LIST of one", .pending = 3, .efault = 2, .call = call_list_one,
	  .done = list_one_done },
	{ "LIST", .pending = 3, .efault = 4, .call = call_list,
	  .done = list_done },
	{ "INFO", .pending = 3, .efault = 1, .call = call_info,
	  .done = is_right },
	{ "LIMIT", .pending = 3, .efault = 1, .call = call_limit,
	  .done = limit_done },
	{ "CANCEL_MATCHING", .pending = 3, .unread = 3, .efault = 1,
	  .call = call_cancel, .done = cancel_done },
	{ "read", .pending = 3, .unread = MANY, .efault = 1, .call = call_read,
	  .done = read_done },
	{ "poll", .unread = 3, .call = call_poll, .done = poll_done },
	{ "poll that sleeps", .pending = 3, .pages = true, .nomem = 1,
	  .call = call_poll_sleep, .done = poll_slept },
	{ "epoll", .unread = 3, .nomem = 1, .prepare = epoll_prepare,
	  .call = call_epoll, .failed = epoll_failed, .done = epoll_done },
	{ "close", .pending = 3, .unread = 3, .call = call_close,
	  .done = close_done },
};

TEST_F(faults, each)
{
	walk_all(_metadata, self->walk, operations, ARRAY_SIZE(operations));
}

TEST_HARNESS_MAIN
