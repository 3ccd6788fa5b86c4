/* SPDX-License-Identifier: GPL-2.0 */
/*
 * facility.h - what the facility for programs consists of
 */
#ifndef _CALLOUT_FACILITY_H
#define _CALLOUT_FACILITY_H

#include <linux/types.h>

struct callout_facility {
	const char *scheme;	/* the scheme's name */
	u64 tick_ns;		/* the length of a tick */
};

void callout_facility_info(unsigned int class, struct callout_facility *info);
u64 callout_facility_late(unsigned int class, u64 ns);

#endif /* _CALLOUT_FACILITY_H */
