// SPDX-License-Identifier: GPL-2.0
/*
 * crowd.c - many callouts with one handler
 */
#include "crowd.h"

void callout_crowd_handler(void *arg)
{
	struct callout_crowd *crowd = arg;

	atomic_inc(&crowd->ran);
}

void callout_crowd_drain(void *data)
{
	struct callout_crowd *crowd = data;
	unsigned int i;

	for (i = 0; i < crowd->n; i++) {
		callout_drain(&crowd->c[i]);
		if (i % 1024 == 0)
			cond_resched();
	}
}

/* Create callouts of the real bases. The end of the case drains them. */
struct callout_crowd *callout_crowd_create(struct kunit *test, unsigned int n)
{
	struct callout_crowd *crowd;
	unsigned int i;

	crowd = callout_test_vcalloc(test, 1, struct_size(crowd, c, n));
	crowd->n = n;
	for (i = 0; i < n; i++)
		callout_init(&crowd->c[i], CALLOUT_MPSAFE);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, callout_crowd_drain,
						  crowd));
	return crowd;
}

/* As callout_crowd_create(), for callouts of the virtual base. */
struct callout_crowd *callout_crowd_create_virtual(struct kunit *test,
						   unsigned int n)
{
	struct callout_crowd *crowd = callout_crowd_create(test, n);
	unsigned int i;

	for (i = 0; i < n; i++)
		crowd->c[i].node.cpu = CALLOUT_VIRTUAL;
	return crowd;
}

/* Set the callouts from @first to @end - 1, one for each tick from @distance on. */
void callout_crowd_set(struct callout_crowd *crowd, unsigned int first,
		       unsigned int end, long distance)
{
	unsigned int i;

	for (i = first; i < end; i++)
		callout_reset(&crowd->c[i], distance++, callout_crowd_handler,
			      crowd);
}

void callout_crowd_stop(struct callout_crowd *crowd, unsigned int first,
			unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++)
		callout_stop(&crowd->c[i]);
}
