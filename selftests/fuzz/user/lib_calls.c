// SPDX-License-Identifier: GPL-2.0
/*
 * lib_calls.c - the library's calls, one by one: the device gets what the caller
 * has asked for, and the caller what the device has answered
 */
#include <errno.h>
#include <fcntl.h>
#include "lib_fuzz.h"
#include "mock_device.h"

#define HANDLES	8U
#define REACH	(1ULL << 40)

static callout_handle_t handle[HANDLES];

static void check_set(struct mock_file *f, int ret, callout_handle_t h,
		      clockid_t clockid, __u64 due, __u64 cookie,
		      __u64 period, __u64 func)
{
	struct mock_callout *c = mock_find(f, h);

	if (ret) {
		fuzz_assert(ret == -ENOSPC || ret == -ENOMEM, "%d", ret);
		return;
	}
	fuzz_assert(c, "no such callout");
	fuzz_assert(c->due == due && c->set.clockid == clockid &&
		    c->set.cookie == cookie && c->set.period == period &&
		    c->set.func == func, "another callout");
}

static void set(struct input *in, int fd)
{
	__u64 time = input_distance(in, MOCK_TICK, REACH), cookie, now;
	struct mock_file *f = mock_file(fd);
	callout_handle_t *h = &handle[input_below(in, HANDLES)];
	int ret;

	cookie = input_byte(in);
	now = mock.now;
	switch (input_below(in, 5)) {
	case 0:
		ret = callout_set(fd, time, cookie, h);
		check_set(f, ret, *h, CLOCK_MONOTONIC, now + time, cookie, 0, 0);
		break;
	case 1:
		ret = callout_set_at(fd, CLOCK_BOOTTIME, time, cookie, h);
		check_set(f, ret, *h, CLOCK_BOOTTIME, time, cookie, 0, 0);
		break;
	case 2:
		ret = callout_set_every(fd, time, cookie, h);
		if (!time)
			fuzz_assert(ret == -EINVAL, "%d", ret);
		else
			check_set(f, ret, *h, CLOCK_MONOTONIC, now + time,
				  cookie, time, 0);
		break;
	case 3:
		ret = callout_timeout(fd, cookie + 1, cookie, time, h);
		check_set(f, ret, *h, CLOCK_MONOTONIC, now + time, cookie, 0,
			  cookie + 1);
		break;
	default:
		ret = callout_set_key(fd, cookie, time);
		fuzz_assert(ret >= 0 || ret == -ENOSPC || ret == -ENOMEM, "%d",
			    ret);
	}
}

/* Whether what was cancelled, or moved, has @c as it was. */
static void check_was(int ret, bool was, bool unread)
{
	int want = !was ? -ENOENT : unread ? CALLOUT_WITHDRAWN :
					     CALLOUT_CANCELLED;

	fuzz_assert(ret == want, "%d, not %d", ret, want);
}

static void cancel(struct input *in, int fd)
{
	callout_handle_t h = handle[input_below(in, HANDLES)];
	struct mock_file *f = mock_file(fd);
	struct mock_callout *c;
	bool was, unread;
	__u64 time;

	mock_fire();
	c = mock_find(f, h);
	was = c;
	unread = c && c->unread;
	time = input_distance(in, MOCK_TICK, REACH);
	switch (input_below(in, 4)) {
	case 0:
		check_was(callout_unset(fd, h), was, unread);
		fuzz_assert(!mock_find(f, h), "still set");
		break;
	case 1:
		check_was(callout_reset(fd, h, time), was, unread);
		fuzz_assert(!c || c->due == mock_clock(c->set.clockid) + time,
			    "another time");
		break;
	case 2:
		check_was(callout_reset_at(fd, h, time), was, unread);
		fuzz_assert(!c || c->due == time, "another time");
		break;
	default:
		if (!c || c->set.op != CALLOUT_OP_TIMEOUT)
			break;
		check_was(callout_untimeout(fd, c->set.func, c->set.cookie, h),
			  was, unread);
		fuzz_assert(!mock_find(f, h), "still set");
	}
}

static void cancel_named(struct input *in, int fd)
{
	__u64 name = input_byte(in), left = 0, cursor = 0;
	struct callout_entry entry[3];
	int n, ret;

	if (input_below(in, 2)) {
		ret = callout_unset_key(fd, name);
		fuzz_assert(ret == -ENOENT || ret > 0, "%d", ret);
		fuzz_assert(callout_get_key(fd, name, entry) == -ENOENT,
			    "still set");
		return;
	}
	fuzz_assert(callout_cancel(fd, 1, 0) == -EINVAL, "taken");
	n = callout_cancel(fd, name & 1, 1);
	fuzz_assert(n >= 0, "%d", n);
	do {
		n = callout_list(fd, &cursor, entry, 3);
		fuzz_assert(n >= 0 && n <= 3, "%d", n);
		for (; n; n--) {
			left = entry[n - 1].flags & CALLOUT_KEY ?
			       entry[n - 1].handle : entry[n - 1].cookie;
			fuzz_assert((left & 1) != (name & 1), "still set");
		}
	} while (cursor);
}

static void look(struct input *in, int fd)
{
	callout_handle_t h = handle[input_below(in, HANDLES)];
	struct mock_file *f = mock_file(fd);
	struct mock_callout *c = mock_find(f, h);
	struct callout_entry entry;
	struct callout_info info;
	__u64 due = 1ULL << 63, cursor = 0;
	int ret;

	ret = callout_get(fd, h, &entry);
	fuzz_assert(ret == (c ? 0 : -ENOENT), "%d", ret);
	fuzz_assert(ret || (entry.due == c->due &&
			    entry.cookie == c->set.cookie), "another callout");
	fuzz_assert(!callout_get_info(fd, &info), "no info");
	fuzz_assert(callout_unread_bytes(fd) ==
		    (int)(info.unread * sizeof(struct callout_event)), "unread");
	fuzz_assert(!callout_get_next(fd, CLOCK_MONOTONIC, &due) &&
		    due != 1ULL << 63,
		    "no due time");
	fuzz_assert(callout_get_next(fd, 99, &due) == -EINVAL, "taken");
	fuzz_assert(callout_list(fd, &cursor, &entry, 0) == -EINVAL, "taken");
	fuzz_assert(callout_now(CLOCK_MONOTONIC) == mock.now &&
		    callout_now(CLOCK_BOOTTIME) == mock.now + mock.asleep &&
		    !callout_now(99), "the time");
	ret = callout_set_eventfd(fd, input_byte(in));
	fuzz_assert(!ret, "%d", ret);
	fuzz_assert(callout_set_limit(fd, 0) == -EINVAL, "taken");
	fuzz_assert(callout_unread_bytes(-1) == -EBADF, "bytes");
}

static void read_events(struct input *in, int fd)
{
	unsigned int want = 1 + input_below(in, 4), n;
	struct mock_file *f = mock_file(fd);
	struct callout_event event[4];
	struct callout_batch batch;
	struct callout_wait wait = { .time = MOCK_TICK };
	int ret;

	n = mock_unread(f);
	n = n < want ? n : want;
	if (input_below(in, 2)) {
		ret = callout_read(fd, event, want);
		fuzz_assert(ret == (n ? (int)n : -EAGAIN), "%d, not %u", ret, n);
		return;
	}
	callout_batch_init(&batch, NULL, 0, event, want);
	callout_batch_wait(&batch, &wait, NULL);
	ret = callout_batch_submit(fd, &batch);
	fuzz_assert(ret >= (int)n && ret <= (int)want, "%d, not %u", ret, n);
}

/* What a file has is set again in another, with the same times left. */
static void copy(int fd, int to)
{
	struct callout_entry entry, again;
	struct callout_op op;
	__u64 cursor = 0;

	if (callout_list(fd, &cursor, &entry, 1) != 1)
		return;
	op = callout_op_entry(&entry);
	if (callout_do(to, &op) < 0)
		return;
	if (entry.flags & CALLOUT_KEY)
		fuzz_assert(!callout_get_key(to, entry.handle, &again), "not set");
	else
		fuzz_assert(!callout_get(to, op.handle, &again), "not set");
	fuzz_assert(again.period == entry.period && again.slack == entry.slack &&
		    again.func == entry.func && again.op == entry.op &&
		    (entry.flags & CALLOUT_ABSTIME ? again.due == entry.due :
						     again.left == entry.left),
		    "another callout");
}

void fuzz_calls(struct input *in)
{
	int fd = callout_open(O_NONBLOCK), to = callout_open(0);
	struct callout_op op = { .op = CALLOUT_OP_UNTIMEOUT + 1 };

	fuzz_assert(fd >= 0 && to >= 0, "%d %d", fd, to);
	fuzz_assert(mock_file(fd)->flags & O_NONBLOCK &&
		    !(mock_file(to)->flags & O_NONBLOCK), "not as asked");
	fuzz_assert(callout_open(O_APPEND) == -EINVAL, "opened");
	fuzz_assert(callout_do(fd, &op) == -EINVAL, "done");
	op.op = 0;
	fuzz_assert(callout_do(fd, &op) == -EINVAL, "done");
	memset(handle, 0, sizeof(handle));
	while (input_left(in)) {
		switch (input_below(in, 8)) {
		case 0:
		case 1:
			set(in, fd);
			break;
		case 2:
			cancel(in, fd);
			break;
		case 3:
			cancel_named(in, fd);
			break;
		case 4:
			look(in, fd);
			break;
		case 5:
			read_events(in, fd);
			break;
		case 6:
			copy(fd, to);
			break;
		default:
			mock.now += input_distance(in, MOCK_TICK, REACH);
		}
	}
}
