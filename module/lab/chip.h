/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chip.h - simulated timer chips: their state and their counters
 */
#ifndef _CALLOUT_TICK_CHIP_H
#define _CALLOUT_TICK_CHIP_H

#include "base/base.h"
#include "wheel/scheme.h"

/**
 * struct callout_chip_source - a chip as a tick source
 * @tick: the tick source
 * @under: the source on which the chip is simulated
 * @counts: the host reports what it queues: the chip has a bit for each bucket
 * @interrupt: called when @under has come to base.armed, in softirq context, with
 *	the base not locked; returns whether the chip interrupts the host
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
 * @ops: the operations of the base's scheme: @inner, with reports of what is queued
 * @inner: the scheme's own operations
 * @base: the base
 * @interrupts: number of times that the chip has interrupted the host
 * @passes: number of times that the simulation was woken and the chip did not
 *	interrupt: a bucket had become idle, or there was work that the chip does
 *	itself
 * @queued: callouts that were queued; for chip_busy only
 * @asked: a tick at which the host wants an interrupt even if no bucket is
 *	busy, or U64_MAX
 * @bulk: advance or take runs: what it removes is reported at its end, not by stop
 * @mask: number of buckets - 1
 * @busy: a bit for each bucket
 * @count: the host's side: how many callouts are queued for each bucket
 */
struct callout_chip {
	struct callout_scheme_ops ops;
	const struct callout_scheme_ops *inner;
	struct callout_base *base;
	u64 interrupts;
	u64 passes;
	u64 queued;
	u64 asked;
	bool bulk;
	unsigned int mask;
	unsigned long *busy;
	unsigned int count[];
};

/* The chip of a base whose tick source is a chip. */
static inline struct callout_chip *co_chip(struct callout_base *base)
{
	return container_of(base->scheme->ops, struct callout_chip, ops);
}

static inline const struct callout_chip_source *
co_chip_source(struct callout_base *base)
{
	return container_of(base->tick, struct callout_chip_source, tick);
}

#endif /* _CALLOUT_TICK_CHIP_H */
