// SPDX-License-Identifier: GPL-2.0
/*
 * callout.c - suite callout_timer_api: callouts through linux/callout_timer.h
 *
 * linux.c runs the same cases on the kernel's own timers.
 */
#define TIMER_IS_CALLOUT 1
#include "cases.h"

static struct kunit_suite timer_callout_suite = {
	.name = "callout_timer_api",
	.test_cases = timer_cases,
};

kunit_test_suite(timer_callout_suite);
