/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tick.h - the length of a tick
 */
#ifndef _CALLOUT_TICK_H
#define _CALLOUT_TICK_H

#include "core.h"

#define CALLOUT_MAX_HZ	1000000U

int callout_tick_set_hz(const struct callout_tick_source *tick,
			unsigned int hz);
u64 callout_tick_ns(void);

#endif /* _CALLOUT_TICK_H */
