/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timens.h - a time namespace with offsets
 */
#ifndef _CALLOUT_SELFTESTS_TIMENS_H
#define _CALLOUT_SELFTESTS_TIMENS_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif

/* This file does not exist where the kernel has no time namespaces. */
#define NS_FILE		"/proc/self/ns/time"

/*
 * Make a time namespace for children of the caller. Its clocks are this many seconds ahead.
 */
static inline bool shift_children(int monotonic, int boottime)
{
	FILE *f;
	bool ok;

	if (unshare(CLONE_NEWTIME))
		return false;
	f = fopen("/proc/self/timens_offsets", "w");
	if (!f)
		return false;
	ok = fprintf(f, "monotonic %d 0\nboottime %d 0\n", monotonic, boottime) > 0;
	return !fclose(f) && ok;
}

#endif /* _CALLOUT_SELFTESTS_TIMENS_H */
