// SPDX-License-Identifier: GPL-2.0
/*
 * schemes.c - the table of schemes
 */
#include <linux/string.h>
#include "wheel/scheme.h"

const struct callout_scheme_ops *const callout_schemes[] = {
	&callout_hashed_wheel,
	&callout_unsorted_list,
	&callout_sorted_list,
	&callout_timing_wheel,
	&callout_logic_wheel,
	&callout_sorted_wheel,
	&callout_hashed_wheel_paper,
	&callout_tree,
	&callout_pairing_heap,
	&callout_dary_heap,
	&callout_skip_list,
	&callout_hierarchical_wheel,
	&callout_lawn,
	&callout_calendar_queue,
	NULL
};

/* The scheme named @name, or NULL. */
const struct callout_scheme_ops *co_scheme_find(const char *name)
{
	const struct callout_scheme_ops *const *ops = callout_schemes;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}
