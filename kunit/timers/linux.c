// SPDX-License-Identifier: GPL-2.0
/*
 * linux.c - suite callout_timer_linux: the kernel's own timers
 *
 * This suite shows that the cases about timers are right about Linux.
 */
#define TIMER_IS_CALLOUT 0
#include "cases.h"

static struct kunit_suite timer_linux_suite = {
	.name = "callout_timer_linux",
	.test_cases = timer_cases,
};

kunit_test_suite(timer_linux_suite);
