/* SPDX-License-Identifier: GPL-2.0 */
/*
 * list.h - the schemes, a line each; the first is the facility's own
 *
 * CALLOUT_SCHEME(x) stands for schemes/x.c with the ops callout_x.
 */
CALLOUT_SCHEME(hashed_wheel)
CALLOUT_SCHEME(unsorted_list)
CALLOUT_SCHEME(sorted_list)
CALLOUT_SCHEME(timing_wheel)
CALLOUT_SCHEME(logic_wheel)
CALLOUT_SCHEME(sorted_wheel)
CALLOUT_SCHEME(hashed_wheel_paper)
CALLOUT_SCHEME(tree)
CALLOUT_SCHEME(pairing_heap)
CALLOUT_SCHEME(dary_heap)
CALLOUT_SCHEME(skip_list)
CALLOUT_SCHEME(hierarchical_wheel)
CALLOUT_SCHEME(lawn)
CALLOUT_SCHEME(calendar_queue)
