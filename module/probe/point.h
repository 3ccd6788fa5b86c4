/* SPDX-License-Identifier: GPL-2.0 */
/*
 * point.h - points between critical sections, for tests: CONFIG_CALLOUT_POINTS
 *
 * A point is where a base has been unlocked, which the functions of its lock add; and
 * where co_point() stands: something has been read or published without a lock, or
 * another lock been released, and a critical section that depends on it follows.
 * Function and line name a point, as "function:94". point.c makes CPUs wait at pairs of
 * points. In any other build a point is nothing.
 */
#ifndef _CALLOUT_POINT_H
#define _CALLOUT_POINT_H

#ifdef CONFIG_CALLOUT_POINTS
#include <linux/jump_label.h>

/* One for each copy of an inline function; all of a name have the same number. */
struct callout_point {
	const char *function;
	unsigned int line;
	unsigned int number;	/* in point.c, less 1 */
};

DECLARE_STATIC_KEY_FALSE(callout_points_key);

void co_point_pass(struct callout_point *point);
void co_points_exit(void);

#define co_point() ({						\
	static struct callout_point here = { __func__, __LINE__ };	\
									\
	if (static_branch_unlikely(&callout_points_key))		\
		co_point_pass(&here);					\
})
#else
#define co_point() ({ })

static inline void co_points_exit(void) { }
#endif

#endif /* _CALLOUT_POINT_H */
