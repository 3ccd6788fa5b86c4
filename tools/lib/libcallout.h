/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libcallout.h - /dev/callout for programs: calls, batches; timers of a loop, with or
 * without the device
 *
 * Times are in nanoseconds. Functions that can fail return a negative errno
 * value; the value of errno itself is unspecified afterwards. See
 * libcallout(3).
 */
#ifndef _LIBCALLOUT_H
#define _LIBCALLOUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK_MONOTONIC
#error "libcallout.h needs clockid_t: define _POSIX_C_SOURCE as 199309L before any #include"
#endif

/* An unnamed union needs C11. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <linux/callout.h>
#pragma GCC diagnostic pop

#ifdef __cplusplus
extern "C" {
#endif

#define CALLOUT_DEVICE		"/dev/callout"

/* Names a callout of one open file; never 0. */
typedef __u64 callout_handle_t;

/* A time that never comes. */
#define CALLOUT_FOREVER		(~0ULL)

/*
 * Operations. Each of these functions fills a struct callout_op. The time is
 * relative, on CLOCK_MONOTONIC or, to move a callout, on the callout's clock. The
 * caller may then change flags and, except to move a callout, clockid, period, slack
 * and cookie.
 */

static inline struct callout_op callout_op_set(__u64 time, __u64 cookie)
{
	struct callout_op op;

	memset(&op, 0, sizeof(op));
	op.op = CALLOUT_OP_SET;
	op.clockid = CLOCK_MONOTONIC;
	op.time = time;
	op.cookie = cookie;
	return op;
}

/* Give an outstanding callout another time, and change nothing else. */
static inline struct callout_op callout_op_move(callout_handle_t handle,
						__u64 time)
{
	struct callout_op op;

	memset(&op, 0, sizeof(op));
	op.op = CALLOUT_OP_MOVE;
	op.time = time;
	op.handle = handle;
	return op;
}

static inline struct callout_op callout_op_cancel(callout_handle_t handle)
{
	struct callout_op op;

	memset(&op, 0, sizeof(op));
	op.op = CALLOUT_OP_CANCEL;
	op.handle = handle;
	return op;
}

/* Make an operation that sets, moves or cancels name its callout by a key. */
static inline struct callout_op callout_op_key(struct callout_op op, __u64 key)
{
	op.flags |= CALLOUT_OPF_KEY;
	op.key = key;
	return op;
}

static inline struct callout_op callout_op_timeout(__u64 func, __u64 arg,
						   __u64 time)
{
	struct callout_op op = callout_op_set(time, arg);

	op.op = CALLOUT_OP_TIMEOUT;
	op.func = func;
	return op;
}

static inline struct callout_op callout_op_untimeout(__u64 func, __u64 arg,
						     callout_handle_t handle)
{
	struct callout_op op = callout_op_cancel(handle);

	op.op = CALLOUT_OP_UNTIMEOUT;
	op.cookie = arg;
	op.func = func;
	return op;
}

/* Set a callout that equals the callout of @entry, also in another file. */
static inline struct callout_op callout_op_entry(const struct callout_entry *entry)
{
	struct callout_op op;

	memset(&op, 0, sizeof(op));
	op.op = entry->op;
	op.flags = entry->op_flags;
	op.clockid = entry->clockid;
	op.time = entry->op_flags & CALLOUT_OPF_ABSTIME ? entry->due : entry->left;
	op.period = entry->period;
	op.slack = entry->slack;
	op.cookie = entry->cookie;
	op.func = entry->func;
	if (entry->op_flags & CALLOUT_OPF_KEY)
		op.key = entry->key;
	return op;
}

/* Fill a batch of @nr_ops operations, with room for @nr_events events. */
static inline void callout_batch_init(struct callout_batch *batch,
				      struct callout_op *ops,
				      unsigned int nr_ops,
				      struct callout_event *events,
				      unsigned int nr_events)
{
	memset(batch, 0, sizeof(*batch));
	batch->ops = (uintptr_t)ops;
	batch->nr_ops = nr_ops;
	batch->op_size = sizeof(*ops);
	batch->events = (uintptr_t)events;
	batch->nr_events = nr_events;
}

/*
 * Make a batch wait for @time, on CLOCK_MONOTONIC, with the signal mask @sigmask during
 * the wait or, if @sigmask is NULL, the thread's mask. The caller may then change
 * clockid and flags, and set min_events.
 */
static inline void callout_batch_wait(struct callout_batch *batch, __u64 time,
				      const sigset_t *sigmask)
{
	batch->flags |= CALLOUT_BATCHF_WAIT;
	batch->time = time;
	batch->clockid = CLOCK_MONOTONIC;
	batch->sigmask = (uintptr_t)sigmask;
	/* The kernel's signal mask is shorter than the C library's. */
	batch->sigmask_size = sigmask ? _NSIG / 8 : 0;
}

#pragma GCC visibility push(default)

/* Calls. Each is one system call, from any thread. */

int callout_dev_open(int flags);
int callout_dev_do(int fd, struct callout_op *op);
int callout_dev_set(int fd, __u64 time, __u64 cookie, callout_handle_t *handle);
int callout_dev_cancel(int fd, callout_handle_t handle);
int callout_dev_cancel_matching(int fd, __u64 cookie, __u64 mask);
int callout_dev_batch(int fd, struct callout_batch *batch);
int callout_dev_read(int fd, struct callout_event *events,
		     unsigned int nr_events);
int callout_dev_list(int fd, __u64 *cursor, struct callout_entry *entries,
		     unsigned int nr_entries);
int callout_dev_list_one(int fd, __u32 flags, __u64 name,
			 struct callout_entry *entry);
int callout_dev_limit(int fd, __u64 limit);
int callout_dev_info(int fd, struct callout_info *info);
__u64 callout_now(clockid_t clockid);

/*
 * Timers of a loop. They wait in the program, in a wheel of their context. In the
 * kernel the context has one callout for each clock, or one timerfd where the device
 * cannot be used. This callout is moved when a timer is due earlier. So arming and
 * disarming make no system call, and a turn makes one only to wait or to move the
 * callout. One thread at a time may use a context and its timers, and while a timer
 * moves from one context to another, both contexts.
 */

struct callout_ctx;
struct callout_clock;

/* private: of the library */
struct callout_link {
	struct callout_link *next, *prev;
};

/**
 * struct callout_timer - a timer of a context; must be all 0 to begin with
 * @data: the caller's
 * @period: read when the timer is armed: 0, or the period at which it fires
 * @slack: read when the timer is armed: by how much it may fire later, together
 *	with other timers
 * @clockid: read when the timer is armed: any clock of timerfd_create(2). A relative
 *	time of CLOCK_REALTIME, which is 0, counts in CLOCK_MONOTONIC, and a relative
 *	time of its alarm clock in CLOCK_BOOTTIME_ALARM.
 */
struct callout_timer {
	void *data;
	__u64 period;
	__u64 slack;
	clockid_t clockid;

	/* private: of the library, see ctx.c */
	bool _armed;
	__u8 _filed;
	__u8 _queued;
	struct callout_link _wheel;
	__u64 _at;
	struct callout_clock *_clock;
	__u64 _due;
	__u64 _slack;
	__u64 _period;
	struct callout_link _queue;
	__u64 _fired_due;
	__u64 _overrun;
	__u64 _reserved;
};

const char *callout_open_strerror(int error);
size_t callout_timer_size(void);
int callout_ctx_create(struct callout_ctx **ctx, unsigned int nr_events);
int callout_ctx_create_fd(struct callout_ctx **ctx, unsigned int nr_events,
			  int fd);
int callout_ctx_create_timerfd(struct callout_ctx **ctx, unsigned int nr_events);
int callout_ctx_on_timerfd(const struct callout_ctx *ctx);
void callout_ctx_destroy(struct callout_ctx *ctx);
int callout_ctx_fd(const struct callout_ctx *ctx);
bool callout_ctx_pending(const struct callout_ctx *ctx);
bool callout_ctx_more(const struct callout_ctx *ctx);
__u64 callout_ctx_next_due(struct callout_ctx *ctx);
int callout_ctx_turn(struct callout_ctx *ctx, __u64 timeout);
int callout_ctx_flush(struct callout_ctx *ctx);
struct callout_timer *callout_ctx_next(struct callout_ctx *ctx,
				       struct callout_event *event);
int callout_arm(struct callout_ctx *ctx, struct callout_timer *timer,
		__u64 time);
int callout_arm_at(struct callout_ctx *ctx, struct callout_timer *timer,
		   __u64 time);
bool callout_disarm(struct callout_ctx *ctx, struct callout_timer *timer);
bool callout_armed(const struct callout_timer *timer);
__u64 callout_remaining(const struct callout_timer *timer);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* _LIBCALLOUT_H */
