// SPDX-License-Identifier: GPL-2.0
/*
 * top.c - suite callout_top: counts by handler and by program, as debugfs has them
 */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "device/clock.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/op.h"
#include "top.h"
#include "lib/virtual.h"

/* Room for the lines of all owners. */
#define TEXT_SIZE	(2 * (CALLOUT_TOP_OWNERS + 1) * 128)

#define HOUR	(3600ULL * NSEC_PER_SEC)

struct counts {
	u64 armed, cancelled, expired, pending, late_ns, max_late_ns;
};

static void top_handler(void *arg)
{
	callout_virtual_handler(arg);
}

static void top_handler2(void *arg)
{
	callout_virtual_handler(arg);
}

/* The end of a line of a handler. */
#define OF(func)	top_owner(test, func)

static const char *top_owner(struct kunit *test, callout_func_t *func)
{
	char *s = kunit_kzalloc(test, KSYM_SYMBOL_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	snprintf(s, KSYM_SYMBOL_LEN, "- - %ps", func);
	return s;
}

/* What the line that ends with @owner says; zeros if there is none. */
static struct counts top_read(struct kunit *test, const char *owner)
{
	struct seq_file m = { .size = TEXT_SIZE };
	char *rest, *line;
	int n;

	m.buf = callout_test_vcalloc(test, 1, TEXT_SIZE);
	callout_top_show(&m);
	KUNIT_ASSERT_FALSE(test, seq_has_overflowed(&m));
	rest = m.buf;
	while ((line = strsep(&rest, "\n"))) {
		struct counts c;

		if (sscanf(line, "%llu %llu %llu %llu %llu %llu %n", &c.armed,
			   &c.cancelled, &c.expired, &c.pending, &c.late_ns,
			   &c.max_late_ns, &n) == 6 && !strcmp(line + n, owner))
			return c;
	}
	return (struct counts){};
}

static void top_expect(struct kunit *test, const char *owner, u64 armed,
		       u64 cancelled, u64 expired, u64 pending)
{
	struct counts c = top_read(test, owner);

	KUNIT_EXPECT_EQ_MSG(test, c.armed, armed, "%s", owner);
	KUNIT_EXPECT_EQ_MSG(test, c.cancelled, cancelled, "%s", owner);
	KUNIT_EXPECT_EQ_MSG(test, c.expired, expired, "%s", owner);
	KUNIT_EXPECT_EQ_MSG(test, c.pending, pending, "%s", owner);
}

static void top_end(void *unused)
{
	callout_top_end();
}

/* Counts until the end of the case. */
static void top_begin(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, callout_top_begin(), 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, top_end, NULL));
}

static void top_set(struct callout_item *item, long distance)
{
	callout_reset(&item->c, distance, top_handler, item);
}

/* A setting, a cancel and an expiry count once each, and lateness in time. */
static void top_counts(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 3);
	struct callout_virtual *v = test->priv;
	struct counts c;

	top_begin(test);
	top_expect(test, OF(top_handler), 0, 0, 0, 0);
	top_set(&a[0], 5);
	top_set(&a[1], 7);
	top_set(&a[2], 9);
	top_expect(test, OF(top_handler), 3, 0, 0, 3);
	top_set(&a[1], 8);
	callout_schedule(&a[1].c, 6);
	top_expect(test, OF(top_handler), 5, 0, 0, 3);
	callout_stop(&a[2].c);
	callout_stop(&a[2].c);
	top_expect(test, OF(top_handler), 5, 1, 0, 2);
	/* 3 and 2 ticks late. */
	callout_virtual_run_to(v, v->now + 8);
	KUNIT_EXPECT_EQ(test, v->ran, 2);
	top_expect(test, OF(top_handler), 5, 1, 2, 0);
	c = top_read(test, OF(top_handler));
	KUNIT_EXPECT_EQ(test, c.late_ns, 5 * TICK_NSEC);
	KUNIT_EXPECT_EQ(test, c.max_late_ns, 3 * TICK_NSEC);
}

/* A pending callout goes from one handler to another as by a cancel. */
static void top_other_handler(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);

	top_begin(test);
	top_set(a, 5);
	callout_reset(&a->c, 5, top_handler2, a);
	top_expect(test, OF(top_handler), 1, 1, 0, 0);
	top_expect(test, OF(top_handler2), 1, 0, 0, 1);
}

/*
 * Of callouts that were set earlier only the end counts: pending is not more than
 * there are, and right again when the handler has had none.
 */
static void top_earlier(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 3);

	top_set(&a[0], 5);
	top_set(&a[1], 5);
	top_begin(test);
	top_expect(test, OF(top_handler), 0, 0, 0, 0);
	callout_stop(&a[0].c);
	top_expect(test, OF(top_handler), 0, 1, 0, 0);
	top_set(&a[2], 5);
	callout_stop(&a[1].c);
	top_expect(test, OF(top_handler), 1, 2, 0, 0);
	callout_stop(&a[2].c);
	top_set(&a[0], 5);
	top_expect(test, OF(top_handler), 2, 3, 0, 1);
}

/* All users have the same counts, and the last one ends the counting. */
static void top_users(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);

	top_set(a, 5);
	top_expect(test, OF(top_handler), 0, 0, 0, 0);
	KUNIT_ASSERT_EQ(test, callout_top_begin(), 0);
	top_set(a, 6);
	KUNIT_EXPECT_EQ(test, callout_top_begin(), 0);
	callout_top_end();
	top_set(a, 7);
	top_expect(test, OF(top_handler), 2, 0, 0, 0);
	callout_top_end();
	top_set(a, 8);
	top_expect(test, OF(top_handler), 0, 0, 0, 0);
	top_begin(test);
	top_expect(test, OF(top_handler), 0, 0, 0, 0);
}

static u64 file_set(struct kunit *test, struct callout_file *file,
		    clockid_t clockid)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = clockid,
		.time = HOUR,
	};
	struct callout_op_ctx ctx = {};

	KUNIT_EXPECT_EQ(test, 0, callout_file_set(file, &op, &ctx));
	callout_ctx_flush(file, &ctx);
	return op.handle;
}

/*
 * A program's files count together. To move a callout because its clock was set is
 * no setting, to close a file cancels what is pending.
 */
static void top_files(struct kunit *test)
{
	struct callout_file *file[2];
	char owner[64];
	unsigned int i;

	snprintf(owner, sizeof(owner), "%d 0 %s", task_tgid_nr(current),
		 current->comm);
	top_begin(test);
	for (i = 0; i < ARRAY_SIZE(file); i++) {
		file[i] = callout_file_create();
		KUNIT_ASSERT_FALSE(test, IS_ERR(file[i]));
	}
	file_set(test, file[0], CLOCK_MONOTONIC);
	file_set(test, file[0], CLOCK_BOOTTIME);
	file_set(test, file[1], CLOCK_BOOTTIME);
	top_expect(test, owner, 3, 0, 0, 3);
	callout_boot_step += HOUR / 2;
	callout_clock_stepped();
	callout_boot_step = 0;
	top_expect(test, owner, 3, 0, 0, 3);
	callout_file_destroy(file[0]);
	top_expect(test, owner, 3, 2, 0, 1);
	callout_file_destroy(file[1]);
	top_expect(test, owner, 3, 3, 0, 0);
}

static void top_close(void *file)
{
	callout_file_destroy(file);
}

static struct callout_file *top_open(struct kunit *test, const char *comm)
{
	struct callout_file *file = callout_file_create();

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	strscpy(file->comm, comm, sizeof(file->comm));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, top_close, file));
	return file;
}

/* A program's name is one word, whatever is in it. */
static void top_name(struct kunit *test)
{
	char owner[64];

	snprintf(owner, sizeof(owner), "%d 0 %s", task_tgid_nr(current),
		 "a\\040b\\134\\011c\\012");
	top_begin(test);
	file_set(test, top_open(test, "a b\\\tc\n"), CLOCK_MONOTONIC);
	top_expect(test, owner, 1, 0, 0, 1);
}

/* What a command of io_uring's has set is its program's. */
static void top_command(struct kunit *test)
{
	struct callout_file *file = top_open(test, "program");
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.flags = CALLOUT_KEY,
		.clockid = CLOCK_MONOTONIC,
		.time = HOUR,
		.handle = 1,
	};
	struct callout_op_ctx ctx = {};
	struct callout_slot *slot;
	char owner[64];

	snprintf(owner, sizeof(owner), "%d 0 program", task_tgid_nr(current));
	top_begin(test);
	/* No command is attached: nothing completes when the file is closed. */
	slot = callout_file_set_keyed(file, &op, CALLOUT_KIND_COMMAND, &ctx);
	callout_ctx_flush(file, &ctx);
	KUNIT_EXPECT_FALSE(test, IS_ERR(slot));
	top_expect(test, owner, 1, 0, 0, 1);
}

/* Owners that find no room count together, those that are known go on. */
static void top_full(struct kunit *test)
{
	struct callout_item *a = callout_virtual_items(test, 1);
	callout_func_t *func;
	char owner[64];
	unsigned int i;

	top_begin(test);
	top_set(a, 5);
	callout_stop(&a->c);
	/* Never called. One that found room is the last to do so. */
	for (i = 1; i < CALLOUT_TOP_OWNERS + 3; i++) {
		func = (callout_func_t *)(unsigned long)i;
		callout_reset(&a->c, 5, func, a);
		if (i == CALLOUT_TOP_OWNERS - 1)
			top_expect(test, "- - (handlers)", 0, 0, 0, 0);
		callout_stop(&a->c);
	}
	top_expect(test, "- - (handlers)", 3, 3, 0, 0);
	top_set(a, 5);
	top_expect(test, OF(top_handler), 2, 1, 0, 1);
	/* Files have room of their own. */
	snprintf(owner, sizeof(owner), "%d 0 program", task_tgid_nr(current));
	file_set(test, top_open(test, "program"), CLOCK_MONOTONIC);
	top_expect(test, owner, 1, 0, 0, 1);
	top_expect(test, "- - (programs)", 0, 0, 0, 0);
}

static struct kunit_case top_cases[] = {
	KUNIT_CASE(top_counts),
	KUNIT_CASE(top_other_handler),
	KUNIT_CASE(top_earlier),
	KUNIT_CASE(top_users),
	KUNIT_CASE(top_files),
	KUNIT_CASE(top_name),
	KUNIT_CASE(top_command),
	KUNIT_CASE(top_full),
	{}
};

static int top_init(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs tracepoints");
	return callout_virtual_init(test);
}

static struct kunit_suite top_suite = {
	.name = "callout_top",
	.init = top_init,
	.test_cases = top_cases,
};

kunit_test_suite(top_suite);
