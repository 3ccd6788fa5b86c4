/* SPDX-License-Identifier: GPL-2.0 */
/*
 * point.h - points between critical sections, for tests: CONFIG_CALLOUT_POINTS
 *
 * The functions of a base's lock add a point wherever a base is unlocked. co_point()
 * adds a point where something has been read or published without a lock, or another
 * lock has been released, and a dependent critical section follows. Function and line
 * name a point, as "function:94". point.c makes CPUs wait at pairs of points. Without
 * CONFIG_CALLOUT_POINTS a point compiles to nothing.
 */
#ifndef _CALLOUT_POINT_H
#define _CALLOUT_POINT_H

#ifdef CONFIG_CALLOUT_POINTS
#include <linux/jump_label.h>

/* One for each copy of an inline function; all copies with the same name have the same number. */
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
