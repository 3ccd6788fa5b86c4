// SPDX-License-Identifier: GPL-2.0
/*
 * facility.c - what the facility for programs consists of
 */
#include <linux/math64.h>
#include "base.h"
#include "facility.h"
#include "tick.h"

void callout_facility_info(unsigned int class, struct callout_facility *info)
{
	struct callout_base *base = callout_base_of(class, 0);

	info->scheme = base->scheme->ops->name;
	info->tick_ns = base->tick_ns;
}

/* How many ticks late the scheme may run a callout set for @ns from now. */
u64 callout_facility_late(unsigned int class, u64 ns)
{
	struct callout_base *base = callout_base_of(class, 0);
	struct callout_scheme *s = base->scheme;

	if (!s->ops->late)
		return 0;
	return s->ops->late(s, div64_u64(ns, base->tick_ns));
}
