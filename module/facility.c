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
	struct callout_scheme *s = base->scheme;
	u64 day = div64_u64(86400ULL * NSEC_PER_SEC, base->tick_ns);

	info->tick_ns = base->tick_ns;
	info->exact = !s->ops->late || !s->ops->late(s, day);
}
