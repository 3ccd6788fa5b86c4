/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chip.h - simulated timer chips: what they know, and their counters
 */
#ifndef _CALLOUT_TICK_CHIP_H
#define _CALLOUT_TICK_CHIP_H

#include "base/base.h"
#include "wheel/scheme.h"

/**
 * struct callout_chip_source - a chip as a tick source
 * @tick: the tick source
 * @under: the source that it is simulated on
 * @counts: the host reports what it files: the chip has a bit for each bucket
 * @interrupt: what the chip does when @under has come to base.armed; returns
 *	whether it interrupts the host; softirq, the base is not locked
 */
struct callout_chip_source {
	struct callout_tick_source tick;
	const struct callout_tick_source *under;
	bool counts;
	bool (*interrupt)(struct callout_base *base);
};

extern const struct callout_chip_source callout_chip_busy;
extern const struct callout_chip_source callout_chip_full;

/**
 * struct callout_chip - the chip of a base; protected by the base's lock
 * @s: the scheme that the base sees: @inner, with what is queued reported
 * @ops: its operations
 * @inner: the scheme
 * @base: the base
 * @interrupts: times that the chip has interrupted the host
 * @passes: times that its simulation was woken and it did not interrupt: a
 *	bucket had become idle, or there was work that the chip does itself
 * @queued: callouts that were queued; of chip_busy only
 * @asked: a tick at which the host wants an interrupt even if no bucket is
 *	busy, or U64_MAX
 * @mask: number of buckets - 1
 * @busy: a bit for each bucket
 * @count: the host's side: how many callouts are queued for each bucket
 */
struct callout_chip {
	struct callout_scheme s;
	struct callout_scheme_ops ops;
	struct callout_scheme *inner;
	struct callout_base *base;
	u64 interrupts;
	u64 passes;
	u64 queued;
	u64 asked;
	unsigned int mask;
	unsigned long *busy;
	unsigned int count[];
};

/* The chip of a base whose tick source is one. */
static inline struct callout_chip *co_chip(struct callout_base *base)
{
	return container_of(base->scheme, struct callout_chip, s);
}

static inline const struct callout_chip_source *
co_chip_source(struct callout_base *base)
{
	return container_of(base->tick, struct callout_chip_source, tick);
}

bool co_has_chip(struct callout_base *base);

#endif /* _CALLOUT_TICK_CHIP_H */
