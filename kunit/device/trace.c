// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - suite callout_trace: tracepoints show whose callouts are set, are cancelled and
 * fire
 */
#include <linux/callout_timer_types.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/callout.h>
#include "device/clock.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/set.h"
#include "lib/virtual.h"

#define HOUR	(3600ULL * NSEC_PER_SEC)

/**
 * struct traced - the events of one owner
 * @owner: the owner
 * @armed: number of callouts that were set, or moved
 * @moved: number of callouts that were moved
 * @cancelled: number of callouts that were cancelled
 * @expired: number of callouts that have expired
 * @late_ns: their total lateness
 */
struct traced {
	struct callout_owner owner;
	u64 armed, moved, cancelled, expired, late_ns;
};

static bool trace_is_of(const struct traced *t, const struct callout_node *n)
{
	struct callout_owner owner = callout_node_owner(n);

	return owner.func == t->owner.func && owner.pid == t->owner.pid &&
	       !owner.comm == !t->owner.comm &&
	       (!owner.comm || !strcmp(owner.comm, t->owner.comm));
}

static void trace_start(void *data, const struct callout_node *n, u64 now,
			bool moved)
{
	struct traced *t = data;

	if (!trace_is_of(t, n))
		return;
	t->armed++;
	t->moved += moved;
}

static void trace_cancel(void *data, const struct callout_node *n)
{
	struct traced *t = data;

	if (trace_is_of(t, n))
		t->cancelled++;
}

static void trace_expire(void *data, const struct callout_node *n, u64 now,
			 u64 tick_ns)
{
	struct traced *t = data;

	if (!trace_is_of(t, n))
		return;
	t->expired++;
	t->late_ns += (now - n->expires) * tick_ns;
}

static void trace_end(void *t)
{
	unregister_trace_callout_start(trace_start, t);
	unregister_trace_callout_cancel(trace_cancel, t);
	unregister_trace_callout_expire_entry(trace_expire, t);
	tracepoint_synchronize_unregister();
}

/* Count the events of @owner until the end of the case. */
static struct traced *trace_owner(struct kunit *test, struct callout_owner owner)
{
	struct traced *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->owner = owner;
	ret = register_trace_callout_start(trace_start, t) ?:
	      register_trace_callout_cancel(trace_cancel, t) ?:
	      register_trace_callout_expire_entry(trace_expire, t);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, trace_end, t));
	KUNIT_ASSERT_EQ(test, ret, 0);
	return t;
}

static struct traced *trace_func(struct kunit *test, callout_func_t *func)
{
	return trace_owner(test, (struct callout_owner){ .func = func });
}

/* Count the events of this process, under the name that its file has. */
static struct traced *trace_program(struct kunit *test, const char *comm)
{
	return trace_owner(test, (struct callout_owner){
		.pid = task_tgid_nr(current),
		.comm = comm,
	});
}

static void trace_expect(struct kunit *test, const struct traced *t, u64 armed,
			 u64 moved, u64 cancelled, u64 expired)
{
	KUNIT_EXPECT_EQ(test, t->armed, armed);
	KUNIT_EXPECT_EQ(test, t->moved, moved);
	KUNIT_EXPECT_EQ(test, t->cancelled, cancelled);
	KUNIT_EXPECT_EQ(test, t->expired, expired);
}

static void trace_handler(void *arg)
{
	callout_virtual_handler(arg);
}

static void trace_handler2(void *arg)
{
	callout_virtual_handler(arg);
}

static void trace_set(struct callout_item *item, long distance)
{
	callout_reset(&item->c, distance, trace_handler, item);
}

/* A setting, a cancel and an expiry give one event each, which has the lateness as a time. */
static void trace_counts(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 3);
	struct traced *t = trace_func(test, trace_handler);
	struct callout_virtual *v = test->priv;

	trace_set(&a[0], 5);
	trace_set(&a[1], 7);
	trace_set(&a[2], 9);
	trace_expect(test, t, 3, 0, 0, 0);
	trace_set(&a[1], 8);
	callout_schedule(&a[1].c, 6);
	trace_expect(test, t, 5, 2, 0, 0);
	callout_stop(&a[2].c);
	callout_stop(&a[2].c);
	trace_expect(test, t, 5, 2, 1, 0);
	/* 3 and 2 ticks late. */
	callout_virtual_run_to(v, v->now + 8);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
	trace_expect(test, t, 5, 2, 1, 2);
	KUNIT_EXPECT_EQ(test, t->late_ns, 5 * TICK_NSEC);
}

/* A pending callout that changes its handler is traced as cancelled and set. */
static void trace_other_handler(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);
	struct traced *t = trace_func(test, trace_handler);
	struct traced *t2 = trace_func(test, trace_handler2);

	trace_set(a, 5);
	callout_reset(&a->c, 5, trace_handler2, a);
	trace_expect(test, t, 1, 0, 1, 0);
	trace_expect(test, t2, 1, 0, 0, 0);
}

static void trace_then_set(struct callout_item *item)
{
	trace_set(item, 5);
}

/**
 * struct traced_address - the events that have a callout's address only
 * @callout: the address
 * @inits: number of initialisations
 * @exits: number of expiries that have ended
 * @exits_inside: @exits when the handler ran
 */
struct traced_address {
	const void *callout;
	unsigned int inits, exits, exits_inside;
};

static void trace_inits(void *data, const void *callout)
{
	struct traced_address *t = data;

	t->inits += callout == t->callout;
}

static void trace_exits(void *data, const void *callout)
{
	struct traced_address *t = data;

	t->exits += callout == t->callout;
}

static void trace_addresses_end(void *t)
{
	unregister_trace_callout_init(trace_inits, t);
	unregister_trace_callout_expire_exit(trace_exits, t);
	tracepoint_synchronize_unregister();
}

static void trace_inside(void *arg)
{
	struct traced_address *t = arg;

	t->exits_inside = t->exits;
}

/* An initialisation gives an event, and an expiry one when the handler has returned. */
static void trace_init_and_exit(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);
	struct callout_virtual *v = test->priv;
	struct traced_address *t;
	struct callout c;
	int ret;

	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t);
	ret = register_trace_callout_init(trace_inits, t) ?:
	      register_trace_callout_expire_exit(trace_exits, t);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, trace_addresses_end, t));
	KUNIT_ASSERT_EQ(test, ret, 0);

	t->callout = &c.node;
	callout_init(&c, CALLOUT_MPSAFE);
	KUNIT_EXPECT_EQ(test, t->inits, 1);

	t->callout = &a->c.node;
	callout_reset(&a->c, 1, trace_inside, t);
	callout_virtual_run_to(v, v->now + 1);
	KUNIT_EXPECT_EQ(test, t->exits_inside, 0);
	KUNIT_EXPECT_EQ(test, t->exits, 1);
}

/* A callout that its handler has set is cancelled as any other. */
static void trace_set_by_handler(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);
	struct traced *t = trace_func(test, trace_handler);
	struct callout_virtual *v = test->priv;

	a->then = trace_then_set;
	trace_set(a, 1);
	callout_virtual_run_to(v, v->now + 1);
	trace_expect(test, t, 2, 0, 0, 1);
	KUNIT_EXPECT_EQ(test, callout_stop(&a->c), 1);
	trace_expect(test, t, 2, 0, 1, 1);
}

static void trace_timer_func(struct callout_timer *timer)
{
}

/* A timer of Linux's API gives the same events. */
static void trace_timer(struct kunit *test)
{
	struct callout_timer *timer = kunit_kzalloc(test, sizeof(*timer), GFP_KERNEL);
	struct traced *t = trace_func(test, (callout_func_t *)trace_timer_func);
	static struct lock_class_key key;

	KUNIT_ASSERT_NOT_NULL(test, timer);
	callout_timer_init_key(timer, trace_timer_func, 0, "trace", &key);
	callout_timer_mod(timer, jiffies + CALLOUT_TEST_FAR);
	callout_timer_mod(timer, jiffies + 2 * CALLOUT_TEST_FAR);
	trace_expect(test, t, 2, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, callout_timer_delete(timer), 1);
	KUNIT_EXPECT_EQ(test, callout_timer_delete(timer), 0);
	trace_expect(test, t, 2, 1, 1, 0);
}

/* Callouts by handle give the same events, however they are cancelled. */
static void trace_handles(struct kunit *test)
{
	struct traced *t = trace_func(test, trace_handler);
	callout_handle_t handle = setcallout(trace_handler, NULL, CALLOUT_TEST_FAR);

	trace_expect(test, t, 1, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, resetcallout(handle, 2 * CALLOUT_TEST_FAR), 1);
	trace_expect(test, t, 2, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	trace_expect(test, t, 2, 1, 1, 0);
	callout_timeout(trace_handler, t, CALLOUT_TEST_FAR);
	KUNIT_EXPECT_EQ(test, callout_untimeout(trace_handler, t), 1);
	trace_expect(test, t, 3, 1, 2, 0);
}

static struct callout_file *trace_open(struct kunit *test, const char *comm)
{
	struct callout_file *file = co_file_create();

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	strscpy(file->comm, comm, sizeof(file->comm));
	return file;
}

static void trace_file_set(struct kunit *test, struct callout_file *file,
			   clockid_t clockid)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = clockid,
		.time = HOUR,
	};
	struct callout_op_ctx ctx = {};

	KUNIT_EXPECT_EQ(test, 0, co_file_set(file, &op, &ctx));
	co_ctx_flush(file, &ctx);
}

/*
 * A program's files have one owner. Moving a callout because its clock was set is
 * no setting. Closing a file cancels its pending callouts.
 */
static void trace_files(struct kunit *test)
{
	struct callout_file *a = trace_open(test, "program");
	struct callout_file *b = trace_open(test, "program");
	struct callout_file *c = trace_open(test, "another");
	struct traced *t = trace_program(test, "program");
	struct traced *t2 = trace_program(test, "another");

	trace_file_set(test, a, CLOCK_MONOTONIC);
	trace_file_set(test, a, CLOCK_BOOTTIME);
	trace_file_set(test, b, CLOCK_BOOTTIME);
	trace_file_set(test, c, CLOCK_MONOTONIC);
	trace_expect(test, t, 3, 0, 0, 0);
	callout_boot_step += HOUR / 2;
	co_clock_stepped();
	callout_boot_step = 0;
	trace_expect(test, t, 3, 0, 0, 0);
	co_file_destroy(a);
	trace_expect(test, t, 3, 0, 2, 0);
	co_file_destroy(b);
	co_file_destroy(c);
	trace_expect(test, t, 3, 0, 3, 0);
	trace_expect(test, t2, 1, 0, 1, 0);
}

/* A callout set by a command of io_uring belongs to the command's program. */
static void trace_command(struct kunit *test)
{
	struct callout_file *file = trace_open(test, "program");
	struct traced *t = trace_program(test, "program");
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_OPF_KEY,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.key = 1,
	};
	struct callout_op_ctx ctx = {};
	struct callout_slot *slot;

	/* No command is attached: nothing completes when the file is closed. */
	slot = co_file_set_keyed(file, &op, CALLOUT_KIND_COMMAND, &ctx);
	co_ctx_flush(file, &ctx);
	KUNIT_EXPECT_FALSE(test, IS_ERR(slot));
	trace_expect(test, t, 1, 0, 0, 0);
	co_file_destroy(file);
	trace_expect(test, t, 1, 0, 1, 0);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE(trace_counts),
	KUNIT_CASE(trace_other_handler),
	KUNIT_CASE(trace_init_and_exit),
	KUNIT_CASE(trace_set_by_handler),
	KUNIT_CASE(trace_timer),
	KUNIT_CASE(trace_handles),
	KUNIT_CASE(trace_files),
	KUNIT_CASE(trace_command),
	{}
};

static int trace_init(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs tracepoints");
	return callout_virtual_init(test);
}

static struct kunit_suite trace_suite = {
	.name = "callout_trace",
	.init = trace_init,
	.test_cases = trace_cases,
};

kunit_test_suite(trace_suite);
