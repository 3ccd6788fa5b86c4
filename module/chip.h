/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chip.h - simulated timer chips: what they know, and their counters
 */
#ifndef _CALLOUT_CHIP_H
#define _CALLOUT_CHIP_H

#include "core.h"

/**
 * struct callout_chip - the chip of a base; protected by the base's lock
 * @interrupts: times that it has interrupted the host
 * @passes: times that its simulation was woken and it did not interrupt: a
 *	bucket had become idle, or there was work that the chip does itself
 * @filed: callouts that were queued; of chip_busy only
 * @asked: a tick at which the host wants an interrupt even if no bucket is
 *	busy, or U64_MAX
 * @mask: number of buckets - 1
 * @busy: a bit for each bucket
 * @count: the host's side: how many callouts are queued for each bucket
 */
struct callout_chip {
	u64 interrupts;
	u64 passes;
	u64 filed;
	u64 asked;
	unsigned int mask;
	unsigned long *busy;
	unsigned int count[];
};

int callout_chip_create(struct callout_base *base,
			const struct callout_scheme_params *params);
void callout_chip_destroy(struct callout_base *base);

#endif /* _CALLOUT_CHIP_H */
