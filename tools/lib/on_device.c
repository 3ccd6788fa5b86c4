// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * on_device.c - a context on /dev/callout
 *
 * Each clock has one callout, whose key is the clock's number. SET moves it, and
 * withdraws its event if it has fired: only a wait reads events.
 */
#include <errno.h>

#include "ctx.h"

/*
 * Advice about an error of callout_dev_open(), or about a context that is on
 * timerfds because of it.
 */
const char *callout_open_strerror(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return CALLOUT_DEVICE " does not exist: load the module, as root: modprobe callout";
	case -EACCES:
	case -EPERM:
		return CALLOUT_DEVICE
		       " is for root and the group callout: usermod -aG callout USER";
	case -ENOTTY:
		return CALLOUT_DEVICE " is of another version than the library: install both";
	case -EDQUOT:
		return CALLOUT_DEVICE
		       " has no callout left for this user: raise the module's max_per_user";
	}
	return error < 0 ? strerror(-error) : "no error";
}

/* Make the callout wait for this time, or for none. */
static struct callout_op move_to(const struct callout_clock *clock, __u64 time)
{
	struct callout_op op;

	if (time == CALLOUT_FOREVER)
		return callout_op_key(callout_op_cancel(0), clock->clockid);
	op = callout_op_set(time, 0);
	op.flags = CALLOUT_OPF_ABSTIME;
	op.clockid = clock->clockid;
	return callout_op_key(op, clock->clockid);
}

/*
 * The first callout may be refused: by a limit of the user or of the file, or because an alarm
 * clock needs a capability. Try one, before a timer needs it.
 */
static int add_clock(struct callout_ctx *ctx, struct callout_clock *clock)
{
	struct callout_op ops[] = {
		move_to(clock, TIME_LAST),
		move_to(clock, CALLOUT_FOREVER),
	};
	struct callout_batch batch;
	int ret;

	callout_batch_init(&batch, ops, 2, NULL, 0);
	ret = callout_dev_batch(ctx->fd, &batch);
	return ret < 0 ? ret : ops[0].result;
}

/* The callout of this clock was reported, so it is no longer outstanding. */
static void reported(struct callout_ctx *ctx, clockid_t clockid)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_clocks; i++)
		if (ctx->clocks[i]->clockid == clockid)
			ctx->clocks[i]->filed = CALLOUT_FOREVER;
}

/*
 * Move all callouts in one system call. If an operation fails, the call does not
 * wait, and the operations after it are done one by one.
 */
static int tell(struct callout_ctx *ctx, struct callout_clock **moved,
		unsigned int n, __u64 timeout)
{
	struct callout_event events[NR_CLOCKS];
	struct callout_op ops[NR_CLOCKS];
	struct callout_batch batch;
	unsigned int i;
	bool stopped;
	int ret;

	for (i = 0; i < n; i++)
		ops[i] = move_to(moved[i], moved[i]->wheel.min);
	callout_batch_init(&batch, ops, n, events, timeout ? NR_CLOCKS : 0);
	if (timeout) {
		batch.flags = CALLOUT_BATCHF_STOP;
		callout_batch_wait(&batch, timeout, NULL);
	}
	ret = callout_dev_batch(ctx->fd, &batch);
	stopped = !ret && batch.done < n;
	for (i = 0; i < batch.done; i++) {
		if (ops[i].result >= 0)
			moved[i]->filed = moved[i]->wheel.min;
		else
			ret = ops[i].result;
	}
	for (; stopped && i < n; i++)
		if (callout_dev_do(ctx->fd, &ops[i]) >= 0)
			moved[i]->filed = moved[i]->wheel.min;
	for (i = 0; i < batch.got; i++)
		reported(ctx, events[i].key);
	return ret < 0 ? ret : 0;
}

const struct kernel callout_on_device = {
	.add_clock = add_clock,
	.tell = tell,
};
