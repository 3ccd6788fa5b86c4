/* SPDX-License-Identifier: GPL-2.0 */
/*
 * check.h - ends a benchmark when a call fails, and reports the call
 */
#ifndef _CALLOUT_BENCH_CHECK_H
#define _CALLOUT_BENCH_CHECK_H

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

static inline void check(bool ok, const char *what)
{
	if (!ok)
		err(EXIT_FAILURE, "failed: %s", what);
}

#endif /* _CALLOUT_BENCH_CHECK_H */
