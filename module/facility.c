// SPDX-License-Identifier: GPL-2.0
/*
 * facility.c - what the facility consists of
 */
#include <linux/math64.h>
#include "base.h"
#include "facility.h"
#include "tick.h"

void callout_facility_info(struct callout_facility *info)
{
	info->scheme = callout_base(0)->scheme->ops->name;
	info->tick_ns = callout_tick_ns();
}

/* How many ticks late the scheme may run a callout set for @ns from now. */
u64 callout_facility_late(u64 ns)
{
	struct callout_scheme *s = callout_base(0)->scheme;

	if (!s->ops->late)
		return 0;
	return s->ops->late(s, div64_u64(ns, callout_tick_ns()));
}
