/* SPDX-License-Identifier: GPL-2.0 */
/*
 * facility.h - what the facility for programs consists of
 */
#ifndef _CALLOUT_FACILITY_H
#define _CALLOUT_FACILITY_H

#include <linux/types.h>

struct callout_facility {
	u64 tick_ns;	/* the length of a tick */
	bool exact;	/* the scheme runs no callout late */
};

void callout_facility_info(unsigned int class, struct callout_facility *info);

#endif /* _CALLOUT_FACILITY_H */
