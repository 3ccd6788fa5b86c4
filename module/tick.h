/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick.h - conversions between nanoseconds and ticks
 */
#ifndef _CALLOUT_TICK_H
#define _CALLOUT_TICK_H

#include "core.h"

u64 callout_tick_from_ns(struct callout_base *base, u64 due, u64 now);

#endif /* _CALLOUT_TICK_H */
