// SPDX-License-Identifier: GPL-2.0
/*
 * lib_calls.c - the library's calls, one by one: each passes the caller's
 * request to the device, and the device's answer to the caller
 */
#include <errno.h>
#include <fcntl.h>
#include "lib_fuzz.h"
#include "mock_device.h"

#define HANDLES	8U
#define REACH	(1ULL << 40)

static callout_handle_t handle[HANDLES];

/* Check that the callout of an operation is as the operation says. */
static void check_set(struct mock_file *f, const struct callout_op *op,
		      uint64_t now)
{
	bool keyed = op->flags & CALLOUT_OPF_KEY;
	struct mock_callout *c = keyed ? mock_find_key(f, op->key) :
					 mock_find(f, op->handle);
	uint64_t due = op->time;

	if (!(op->flags & CALLOUT_OPF_ABSTIME))
		due += now;
	fuzz_assert(c, "no such callout");
	fuzz_assert(c->due == due && c->set.op == op->op, "another callout");
	fuzz_assert(c->set.clockid == op->clockid &&
		    c->set.cookie == op->cookie && c->set.period == op->period &&
		    c->set.slack == op->slack, "another callout");
	if (op->op == CALLOUT_OP_TIMEOUT)
		fuzz_assert(c->set.func == op->func, "another callout");
}

static struct callout_op some_set(struct input *in)
{
	__u64 time = input_distance(in, MOCK_TICK, REACH);
	struct callout_op op;

	op = callout_op_set(time, input_byte(in));
	switch (input_below(in, 4)) {
	case 0:
		op.clockid = CLOCK_BOOTTIME;
		op.flags |= CALLOUT_OPF_ABSTIME;
		break;
	case 1:
		op.period = time;
		break;
	case 2:
		op.slack = time;
	}
	return op;
}

static void set(struct input *in, int fd)
{
	callout_handle_t *h = &handle[input_below(in, HANDLES)];
	struct mock_file *f = mock_file(fd);
	struct callout_op op = some_set(in);
	uint64_t now = mock_clock(op.clockid);
	int ret;

	switch (input_below(in, 4)) {
	case 0:
		op = callout_op_set(op.time, op.cookie);
		now = mock.now;
		ret = callout_dev_set(fd, op.time, op.cookie, h);
		op.handle = *h;
		break;
	case 1:
		op = callout_op_timeout(op.cookie + 1, op.cookie, op.time);
		now = mock.now;
		ret = callout_dev_do(fd, &op);
		break;
	case 2:
		op = callout_op_key(op, op.cookie % 4);
		ret = callout_dev_do(fd, &op);
		break;
	default:
		ret = callout_dev_do(fd, &op);
	}
	if (ret < 0) {
		fuzz_assert(ret == -ENOSPC || ret == -ENOMEM, "%d", ret);
		return;
	}
	fuzz_assert(!ret || op.flags & CALLOUT_OPF_KEY, "%d", ret);
	if (!(op.flags & CALLOUT_OPF_KEY))
		*h = op.handle;
	check_set(f, &op, now);
}

/* Check the result of a cancel or a move: was the callout outstanding, and unread? */
static void check_was(int ret, bool was, bool unread)
{
	int want = !was ? -ENOENT : unread ? CALLOUT_STATE_UNREAD :
					     CALLOUT_STATE_PENDING;

	fuzz_assert(ret == want, "%d, not %d", ret, want);
}

/* Do an operation on the callout @c, which may be NULL, by this handle or key. */
static void change(struct input *in, int fd, struct mock_callout *c,
		   struct callout_op cancel, struct callout_op move)
{
	struct mock_callout was = { 0 };
	struct callout_op op;
	uint64_t now = mock.now;

	if (c) {
		was = *c;
		now = mock_clock(c->set.clockid);
	}
	switch (input_below(in, 4)) {
	case 0:
		check_was(callout_dev_do(fd, &cancel), c, was.unread);
		fuzz_assert(!c || !c->used, "still set");
		break;
	case 1:
		move.flags |= CALLOUT_OPF_ABSTIME;
		check_was(callout_dev_do(fd, &move), c, was.unread);
		fuzz_assert(!c || c->due == move.time, "another time");
		break;
	case 2:
		check_was(callout_dev_do(fd, &move), c, was.unread);
		fuzz_assert(!c || c->due == now + move.time, "another time");
		fuzz_assert(!c || (c->set.cookie == was.set.cookie &&
				   c->set.period == was.set.period),
			    "another callout");
		break;
	default:
		op = some_set(in);
		op.flags |= (move.flags & CALLOUT_OPF_KEY) | CALLOUT_OPF_ONLY_OLD;
		op.handle = move.handle;
		now = mock_clock(op.clockid);
		if (c && c->set.op == CALLOUT_OP_TIMEOUT) {
			fuzz_assert(callout_dev_do(fd, &op) == -EBUSY, "set");
			break;
		}
		check_was(callout_dev_do(fd, &op), c, was.unread);
		if (c)
			check_set(mock_file(fd), &op, now);
	}
}

static void change_handle(struct input *in, int fd)
{
	callout_handle_t h = handle[input_below(in, HANDLES)];
	__u64 time = input_distance(in, MOCK_TICK, REACH);
	struct mock_callout *c, was;
	struct callout_op op;

	mock_fire();
	c = mock_find(mock_file(fd), h);
	switch (input_below(in, 4)) {
	case 0:
		was.unread = c && c->unread;
		check_was(callout_dev_cancel(fd, h), c, was.unread);
		fuzz_assert(!mock_find(mock_file(fd), h), "still set");
		break;
	case 1:
		if (!c || c->set.op != CALLOUT_OP_TIMEOUT)
			break;
		was = *c;
		op = callout_op_untimeout(c->set.func, c->set.cookie, h);
		check_was(callout_dev_do(fd, &op), true, was.unread);
		fuzz_assert(!mock_find(mock_file(fd), h), "still set");
		break;
	default:
		change(in, fd, c, callout_op_cancel(h), callout_op_move(h, time));
	}
}

static void change_key(struct input *in, int fd)
{
	__u64 key = input_byte(in) % 4;
	__u64 time = input_distance(in, MOCK_TICK, REACH);

	mock_fire();
	change(in, fd, mock_find_key(mock_file(fd), key),
	       callout_op_key(callout_op_cancel(0), key),
	       callout_op_key(callout_op_move(0, time), key));
}

/* Cancel the callouts whose cookie has a tag. */
static void cancel_some(struct input *in, int fd)
{
	__u64 tag = input_byte(in) & 1, cursor = 0;
	struct callout_entry entry[3];
	int n;

	fuzz_assert(callout_dev_cancel_matching(fd, 1, 0) == -EINVAL, "taken");
	n = callout_dev_cancel_matching(fd, tag, 1);
	fuzz_assert(n >= 0, "%d", n);
	do {
		n = callout_dev_list(fd, &cursor, entry, 3);
		fuzz_assert(n >= 0 && n <= 3, "%d", n);
		for (; n; n--)
			fuzz_assert((entry[n - 1].cookie & 1) != tag, "still set");
	} while (cursor);
}

static void look(struct input *in, int fd)
{
	callout_handle_t h = handle[input_below(in, HANDLES)];
	__u64 key = input_byte(in) % 4, cursor = 0;
	struct mock_file *f = mock_file(fd);
	struct mock_callout *c = mock_find(f, h);
	struct callout_entry entry;
	struct callout_info info;
	int ret;

	ret = callout_dev_list_one(fd, CALLOUT_LISTF_HANDLE, h, &entry);
	fuzz_assert(ret == (c ? 0 : -ENOENT), "%d", ret);
	fuzz_assert(ret || (entry.due == c->due && entry.handle == h &&
			    entry.cookie == c->set.cookie), "another callout");
	c = mock_find_key(f, key);
	ret = callout_dev_list_one(fd, CALLOUT_LISTF_KEY, key, &entry);
	fuzz_assert(ret == (c ? 0 : -ENOENT), "%d", ret);
	fuzz_assert(ret || (entry.due == c->due && entry.key == key &&
			    entry.cookie == c->set.cookie), "another callout");
	fuzz_assert(callout_dev_list_one(fd, 0, h, &entry) == -EINVAL, "taken");
	fuzz_assert(!callout_dev_info(fd, &info), "no info");
	fuzz_assert(info.unread == mock_unread(f), "unread");
	fuzz_assert(callout_dev_list(fd, &cursor, &entry, 0) == -EINVAL, "taken");
	fuzz_assert(callout_now(CLOCK_MONOTONIC) == mock.now &&
		    callout_now(CLOCK_BOOTTIME) == mock.now + mock.asleep &&
		    !callout_now(99), "the time");
	fuzz_assert(callout_dev_limit(fd, 0) == -EINVAL, "taken");
	fuzz_assert(callout_dev_info(-1, &info) == -EBADF, "info");
}

static void read_events(struct input *in, int fd)
{
	unsigned int want = 1 + input_below(in, 4), n;
	struct mock_file *f = mock_file(fd);
	struct callout_event event[4];
	struct callout_batch batch;
	sigset_t mask;
	int ret;

	n = mock_unread(f);
	n = n < want ? n : want;
	if (input_below(in, 2)) {
		ret = callout_dev_read(fd, event, want);
		fuzz_assert(ret == (n ? (int)n : -EAGAIN), "%d, not %u", ret, n);
		return;
	}
	callout_batch_init(&batch, NULL, 0, event, want);
	sigemptyset(&mask);
	callout_batch_wait(&batch, MOCK_TICK, want & 1 ? &mask : NULL);
	ret = callout_dev_batch(fd, &batch);
	fuzz_assert(ret >= (int)n && ret <= (int)want, "%d, not %u", ret, n);
}

/* Set a file's callouts again in another file, with the same times left. */
static void copy(int fd, int to)
{
	struct callout_entry entry, again;
	struct callout_op op;
	__u64 cursor = 0;
	bool keyed;

	if (callout_dev_list(fd, &cursor, &entry, 1) != 1)
		return;
	op = callout_op_entry(&entry);
	if (callout_dev_do(to, &op) < 0)
		return;
	keyed = entry.op_flags & CALLOUT_OPF_KEY;
	fuzz_assert(!callout_dev_list_one(to, keyed ? CALLOUT_LISTF_KEY :
						      CALLOUT_LISTF_HANDLE,
					  keyed ? entry.key : op.handle, &again),
		    "not set");
	fuzz_assert(again.period == entry.period && again.slack == entry.slack &&
		    again.func == entry.func && again.op == entry.op &&
		    again.cookie == entry.cookie &&
		    again.clockid == entry.clockid &&
		    (entry.op_flags & CALLOUT_OPF_ABSTIME ? again.due == entry.due :
							 again.left == entry.left),
		    "another callout");
}

void fuzz_calls(struct input *in)
{
	int fd = callout_dev_open(O_NONBLOCK), to = callout_dev_open(0);
	struct callout_op op = { .op = CALLOUT_OP_UNTIMEOUT + 1 };

	fuzz_assert(fd >= 0 && to >= 0, "%d %d", fd, to);
	fuzz_assert(mock_file(fd)->flags & O_NONBLOCK &&
		    !(mock_file(to)->flags & O_NONBLOCK), "not as asked");
	fuzz_assert(callout_dev_open(O_APPEND) == -EINVAL, "opened");
	fuzz_assert(callout_dev_do(fd, &op) == -EINVAL, "done");
	op.op = 0;
	fuzz_assert(callout_dev_do(fd, &op) == -EINVAL, "done");
	memset(handle, 0, sizeof(handle));
	while (input_left(in)) {
		switch (input_below(in, 8)) {
		case 0:
		case 1:
			set(in, fd);
			break;
		case 2:
			change_handle(in, fd);
			break;
		case 3:
			if (input_below(in, 2))
				change_key(in, fd);
			else
				cancel_some(in, fd);
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
