// SPDX-License-Identifier: GPL-2.0
/*
 * boot.c - suite callout_boot: the facility built in, used before there are drivers
 *
 * An initcall at the level of subsystems sets callouts of each kind. Another initcall,
 * before the level of drivers, waits for them. The cases check the results afterwards.
 */
#include <linux/callout.h>
#include <linux/callout_timer_types.h>
#include <linux/callout_work.h>
#include <linux/init.h>
#include "lib/common.h"
#include "handles/kernel.h"

#define TICKS	2L

/**
 * struct boot_set - a callout of one kind, set while the kernel boots
 * @refused: the callout could not be set
 * @runs: the handler has run
 * @early: the handler had run before the level of drivers
 */
struct boot_set {
	bool refused;
	bool runs;
	bool early;
};

enum {
	BOOT_CALLOUT,
	BOOT_TIME,
	BOOT_TIMER,
	BOOT_WORK,
	BOOT_ORDERED,
	BOOT_HANDLE,
	BOOT_TIMEOUT,
	BOOT_SETS
};

static struct boot_set sets[BOOT_SETS];
static struct callout callouts[2];
static struct callout_timer timer;
static struct callout_work works[2];
static bool cancelled;

static void boot_runs(void *arg)
{
	struct boot_set *set = arg;

	callout_test_tell(&set->runs);
}

static void boot_timer_runs(struct callout_timer *t)
{
	boot_runs(&sets[BOOT_TIMER]);
}

/* net/ and block/ begin at this level. */
static int __init boot_subsystem(void)
{
	static struct lock_class_key key;
	callout_handle_t handle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(callouts); i++)
		callout_init(&callouts[i], CALLOUT_MPSAFE);
	callout_reset(&callouts[0], TICKS, boot_runs, &sets[BOOT_CALLOUT]);
	callout_reset_sbt(&callouts[1], SBT_1MS, 0, boot_runs, &sets[BOOT_TIME], 0);
	callout_timer_init_key(&timer, boot_timer_runs, 0, "boot", &key);
	callout_timer_mod(&timer, jiffies + TICKS);

	callout_work_init(&works[0]);
	callout_work_init_as(&works[1], CALLOUT_WORK_ORDERED);
	callout_work_reset(&works[0], TICKS, boot_runs, &sets[BOOT_WORK]);
	callout_work_reset(&works[1], TICKS, boot_runs, &sets[BOOT_ORDERED]);

	sets[BOOT_HANDLE].refused = !setcallout(boot_runs, &sets[BOOT_HANDLE], TICKS);
	sets[BOOT_TIMEOUT].refused = !callout_timeout(boot_runs, &sets[BOOT_TIMEOUT],
						      TICKS);
	handle = setcallout(boot_runs, NULL, CALLOUT_TEST_FAR);
	cancelled = resetcallout(handle, 2 * CALLOUT_TEST_FAR) == 1 &&
		    unsetcallout(handle) == 1 && unsetcallout(handle) == -1;
	return 0;
}
subsys_initcall(boot_subsystem);

/* The level of drivers is next. */
static int __init boot_ends(void)
{
	unsigned int i;

	for (i = 0; i < BOOT_SETS; i++)
		sets[i].early = callout_test_wait_until(callout_test_told(&sets[i].runs));
	return 0;
}
rootfs_initcall(boot_ends);

/* A callout set by an initcall at the level of subsystems runs before the level of drivers. */
static void boot_sets_and_runs(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < BOOT_SETS; i++) {
		KUNIT_EXPECT_FALSE_MSG(test, sets[i].refused, "%u", i);
		KUNIT_EXPECT_TRUE_MSG(test, sets[i].early, "%u", i);
	}
	KUNIT_EXPECT_TRUE(test, cancelled);
}

static struct kunit_case boot_cases[] = {
	KUNIT_CASE(boot_sets_and_runs),
	{}
};

static struct kunit_suite boot_suite = {
	.name = "callout_boot",
	.test_cases = boot_cases,
};

kunit_test_suite(boot_suite);
