// SPDX-License-Identifier: GPL-2.0
/*
 * class.c - suite callout_class: each user has separate bases, and so has kernel
 * code
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/timer.h>
#include "lib/common.h"
#include "core/cpu.h"
#include "lib/crowd.h"
#include "device/ctx.h"
#include "device/file.h"
#include "device/set.h"

/* Callouts of a program that are due together. */
#define BURST		CALLOUT_CROWD_MANY
#define BATCH		16U

/* Users that no other test has. */
#define FIRST_UID	70000U
#define USERS		(2 * CALLOUT_CLASSES)

/* Open a file as user @uid. Return NULL on failure. */
static struct callout_file *open_as(unsigned int uid)
{
	struct callout_file *file;
	const struct cred *old;
	struct cred *cred;

	cred = prepare_creds();
	if (!cred)
		return NULL;
	cred->uid = KUIDT_INIT(uid);
	old = override_creds(cred);
	file = co_file_create();
	revert_creds(old);
	put_cred(cred);
	return IS_ERR(file) ? NULL : file;
}

struct users {
	struct callout_file *file[USERS + 1];
};

static void users_close(void *data)
{
	struct users *users = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(users->file); i++)
		if (users->file[i])
			co_file_destroy(users->file[i]);
}

static struct users *users_create(struct kunit *test)
{
	struct users *users = kunit_kzalloc(test, sizeof(*users), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, users);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, users_close,
							   users));
	return users;
}

/* Users get classes in turn, and never the class of kernel code or of root. */
static void classes_are_shared_last(struct kunit *test)
{
	struct users *users = users_create(test);
	unsigned int in[CALLOUT_CLASSES] = {}, least = UINT_MAX, most = 0;
	unsigned int i, class;

	for (i = 0; i < USERS; i++) {
		users->file[i] = open_as(FIRST_UID + i);
		KUNIT_ASSERT_NOT_NULL(test, users->file[i]);
		class = users->file[i]->table.class;
		KUNIT_ASSERT_LT(test, class, CALLOUT_CLASSES);
		in[class]++;
	}
	KUNIT_EXPECT_EQ(test, callout_nr_classes, CALLOUT_CLASSES);
	KUNIT_EXPECT_EQ(test, in[CALLOUT_CLASS_KERNEL], 0U);
	KUNIT_EXPECT_EQ(test, in[CALLOUT_CLASS_ROOT], 0U);
	for (class = CALLOUT_CLASS_ROOT + 1; class < CALLOUT_CLASSES; class++) {
		least = min(least, in[class]);
		most = max(most, in[class]);
	}
	/* Other files may be open. */
	KUNIT_EXPECT_GE(test, least, 1U);
	KUNIT_EXPECT_LE(test, most - least, 2U);
}

/* All files of a user have one class, and the next user another. Root's is 1. */
static void class_is_the_users(struct kunit *test)
{
	struct users *users = users_create(test);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		users->file[i] = open_as(FIRST_UID);
		KUNIT_ASSERT_NOT_NULL(test, users->file[i]);
		KUNIT_EXPECT_EQ(test, users->file[i]->table.class,
				users->file[0]->table.class);
	}
	users->file[3] = open_as(FIRST_UID + 1);
	KUNIT_ASSERT_NOT_NULL(test, users->file[3]);
	KUNIT_EXPECT_NE(test, users->file[3]->table.class,
			users->file[0]->table.class);
	users->file[4] = open_as(0);
	KUNIT_ASSERT_NOT_NULL(test, users->file[4]);
	KUNIT_EXPECT_EQ(test, users->file[4]->table.class, CALLOUT_CLASS_ROOT);
}

/* Set @n callouts of @file, due at @due. Return how many were set. */
static unsigned int set_all(struct callout_file *file, unsigned int n, u64 due)
{
	struct callout_op_ctx ctx = {};
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct callout_op op = {
			.op = CALLOUT_OP_SET,
			.flags = CALLOUT_OPF_ABSTIME,
			.clockid = CLOCK_MONOTONIC,
			.time = due,
		};

		if (co_file_set(file, &op, &ctx))
			break;
		if (i % BATCH == BATCH - 1) {
			co_ctx_flush(file, &ctx);
			ctx = (struct callout_op_ctx){};
			cond_resched();
		}
	}
	co_ctx_flush(file, &ctx);
	return i;
}

/*
 * Create a file with BURST callouts that are due at @due. Return NULL on failure.
 * However long setting them takes, no callout has fired before the last is set.
 */
static struct callout_file *burst_create(unsigned int uid, u64 *due)
{
	u64 headroom = BURST * 2000ULL;
	struct callout_file *file;

	for (;;) {
		file = open_as(uid);
		if (!file)
			return NULL;
		*due = ktime_get_ns() + headroom;
		if (set_all(file, BURST, *due) == BURST &&
		    ktime_get_ns() < *due)
			return file;
		co_file_destroy(file);
		headroom *= 2;
		if (headroom > 120 * NSEC_PER_SEC)
			return NULL;
	}
}

/* The maximum number of bursts, and how often the timer must run amid them. */
#define BURSTS		8U
#define ENOUGH		4U

/* A callout of kernel code and a timer. Both run at each tick, and look at a file. */
struct witness {
	struct callout c;
	struct timer_list timer;
	struct callout_file *file;
	unsigned int before;
	unsigned int amid;
	unsigned int timer_amid;
};

static void witness_handler(void *arg)
{
	struct witness *w = arg;
	u64 fired = READ_ONCE(w->file->fired);

	w->before += !fired;
	w->amid += fired && fired < BURST;
	if (fired < BURST)
		callout_schedule(&w->c, 1);
}

static void witness_timer(struct timer_list *timer)
{
	struct witness *w = container_of(timer, struct witness, timer);
	u64 fired = READ_ONCE(w->file->fired);

	w->timer_amid += fired && fired < BURST;
	if (fired < BURST)
		mod_timer(timer, jiffies + 1);
}

/* A burst fires while the witnesses run. */
static void witness_a_burst(struct kunit *test, struct users *users,
			    unsigned int i, struct witness *w)
{
	u64 due;

	/* Each burst belongs to another user, since a closed file counts until it is freed. */
	w->file = burst_create(FIRST_UID + i, &due);
	KUNIT_ASSERT_NOT_NULL(test, w->file);
	users->file[i] = w->file;
	callout_init(&w->c, 1);
	timer_setup(&w->timer, witness_timer, TIMER_PINNED);
	callout_reset(&w->c, 1, witness_handler, w);
	mod_timer(&w->timer, jiffies + 1);
	/* This wait may be longer than the timeout of the wait that follows. */
	while (ktime_get_ns() < due)
		usleep_range(500, 1000);
	KUNIT_EXPECT_TRUE(test, callout_test_wait_until(READ_ONCE(w->file->fired) ==
							BURST));
	callout_drain(&w->c);
	timer_delete_sync(&w->timer);
	users->file[i] = NULL;
	co_file_destroy(w->file);
}

/*
 * Callouts of kernel code run at their ticks while many callouts of a program are
 * due on the same CPU, as Linux's own timers do: both miss the ticks that the
 * machine misses. In a common base, callouts set for later ticks would run after
 * all that were due before. A fast machine may have finished a burst at the second
 * tick.
 */
static void kernel_beside_a_burst(struct kunit *test)
{
	struct users *users = users_create(test);
	struct witness *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	callout_test_pin(test, raw_smp_processor_id());
	for (i = 0; i < BURSTS && w->timer_amid < ENOUGH; i++)
		witness_a_burst(test, users, i, w);
	kunit_info(test, "ran %u times before, %u amid %u callouts of a program; a timer %u\n",
		   w->before, w->amid, i * BURST, w->timer_amid);
	KUNIT_EXPECT_GE(test, w->timer_amid, ENOUGH);
	KUNIT_EXPECT_GE(test, w->amid, w->timer_amid / 4);
}

/* A callout set while the base's CPU is coming or going is in the user's class too. */
static void class_of_a_cpu_that_goes(struct kunit *test)
{
	struct users *users = users_create(test);
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = 3600 * NSEC_PER_SEC,
	};
	struct callout_op_ctx ctx = {};
	struct callout_base *base;
	struct callout_slot *slot;
	int ret;

	users->file[0] = open_as(FIRST_UID);
	KUNIT_ASSERT_NOT_NULL(test, users->file[0]);
	callout_test_pin(test, raw_smp_processor_id());
	base = co_base_of(users->file[0]->table.class,
			  co_home_cpu());
	callout_test_set_online(base, false);
	ret = co_file_set(users->file[0], &op, &ctx);
	co_ctx_flush(users->file[0], &ctx);
	callout_test_set_online(base, true);
	KUNIT_ASSERT_EQ(test, ret, 0);
	slot = co_table_lookup(&users->file[0]->table, op.handle);
	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_EQ(test, slot->node.cpu, base->index);
}

static struct kunit_case class_cases[] = {
	KUNIT_CASE(class_is_the_users),
	KUNIT_CASE(classes_are_shared_last),
	KUNIT_CASE(class_of_a_cpu_that_goes),
	KUNIT_CASE(kernel_beside_a_burst),
	{}
};

static struct kunit_suite class_suite = {
	.name = "callout_class",
	.test_cases = class_cases,
};

kunit_test_suite(class_suite);
