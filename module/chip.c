// SPDX-License-Identifier: GPL-2.0
/*
 * chip.c - the timer chips of the paper's Appendix A, simulated tick sources
 *
 * Varghese and Lauck, Appendix A, have two kinds of hardware assist.
 *
 * chip_busy is a counter with a busy bit for each element of an array. The
 * host tells it when a bucket gets its first callout or loses its last one. The
 * chip steps through the array, a bucket a tick, at no cost to the host, and
 * interrupts it at buckets that are busy. It does not know laps: with M buckets
 * a timer of T ticks in Scheme 6 has T / M interrupts. So that nothing stays in
 * a bucket where it does not belong, a callout that is moved is taken out and
 * filed again, never re-armed lazily.
 *
 * chip_full has the data structure and all timers in a memory of its own, does
 * the bookkeeping of each tick itself and interrupts the host only when
 * something has expired: once for each tick at which something does.
 *
 * Both are simulated on another tick source, which is set for the next tick at
 * which the chip would do anything: base.armed. To find the next busy bucket is
 * the chip's work, but here it is done with the base locked: it looks at up to
 * buckets / 64 words. What chip_full does for itself counts in the base's
 * statistics as if the host had done it, but not as a wake-up.
 *
 * The busy bits wake the host in time for every callout of an exact scheme.
 * Three things they do not know, and for those the host asks: a callout whose
 * time has passed when it is filed, one that was put off since its lock was
 * taken, and an inexact scheme's own idea of when it is due.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "chip.h"
#include "kcompat.h"

/**
 * callout_chip_create - makes a base's chip, with no callout in it
 * @base: the base; its tick source is a chip
 * @params: of its scheme: the number of buckets, and the node
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int callout_chip_create(struct callout_base *base,
			const struct callout_scheme_params *params)
{
	unsigned int buckets = base->tick->filed ? params->buckets : 1;
	struct callout_chip *chip;

	if (!is_power_of_2(buckets))
		return -EINVAL;
	chip = kvzalloc_node(struct_size(chip, count, buckets), GFP_KERNEL,
			     params->node);
	if (!chip)
		return -ENOMEM;
	chip->busy = bitmap_zalloc_node(buckets, GFP_KERNEL, params->node);
	if (!chip->busy) {
		kvfree(chip);
		return -ENOMEM;
	}
	chip->mask = buckets - 1;
	chip->asked = U64_MAX;
	base->chip = chip;
	return 0;
}

/**
 * callout_chip_destroy - frees a base's chip, if it has one
 * @base: the base
 */
void callout_chip_destroy(struct callout_base *base)
{
	if (!base->chip)
		return;
	bitmap_free(base->chip->busy);
	kvfree(base->chip);
}

static u64 chip_now(struct callout_base *base)
{
	return base->tick->under->now(base);
}

static u64 chip_from_ns(u64 due, u64 now)
{
	return callout_tick_hrtimer.from_ns(due, now);
}

static void chip_init(struct callout_base *base)
{
	base->tick->under->init(base);
}

static void chip_shutdown(struct callout_base *base)
{
	base->tick->under->shutdown(base);
}

/* The first tick after @now at which the chip comes to a bucket. */
static u64 busy_visit(const struct callout_chip *chip, u64 now,
		      unsigned int bucket)
{
	return now + 1 + ((bucket - (now + 1)) & chip->mask);
}

/* The first tick after @now at which it comes to a busy one; U64_MAX: none. */
static u64 busy_next(const struct callout_chip *chip, u64 now)
{
	unsigned int from = (now + 1) & chip->mask, bucket;

	bucket = find_next_bit(chip->busy, chip->mask + 1, from);
	if (bucket <= chip->mask)
		return busy_visit(chip, now, bucket);
	bucket = find_first_bit(chip->busy, from);
	return bucket < from ? busy_visit(chip, now, bucket) : U64_MAX;
}

/* Lets time pass until the chip does something, as seen from tick @now. */
static void busy_sleep(struct callout_base *base, u64 now)
{
	struct callout_chip *chip = base->chip;

	base->armed = min(chip->asked, busy_next(chip, now));
	if (base->armed != U64_MAX)
		base->tick->under->program(base, base->armed);
}

static void busy_program(struct callout_base *base, u64 tick)
{
	u64 now = callout_now(base);

	lockdep_assert_held(&base->lock);
	if (tick <= now || base->scheme->ops->late ||
	    !list_empty(&base->put_off))
		base->chip->asked = tick;
	busy_sleep(base, now);
}

static bool busy_interrupt(struct callout_base *base)
{
	struct callout_chip *chip = base->chip;
	bool host = false;

	raw_spin_lock_irq(&base->lock);
	/* At 0 the host is at work already. */
	if (!base->armed || base->armed > callout_now(base))
		goto out;
	host = base->armed >= chip->asked ||
	       test_bit(base->armed & chip->mask, chip->busy);
	if (host) {
		chip->interrupts++;
		chip->asked = U64_MAX;
	} else {
		/* Idle by now. If this is late, no bucket is left out. */
		chip->passes++;
		busy_sleep(base, base->armed);
	}
out:
	raw_spin_unlock_irq(&base->lock);
	return host;
}

static void busy_filed(struct callout_base *base, u64 expires)
{
	struct callout_chip *chip = base->chip;
	unsigned int bucket = expires & chip->mask;
	u64 now = callout_now(base), visit;

	lockdep_assert_held(&base->lock);
	chip->filed++;
	if (unlikely(expires <= now))
		chip->asked = expires;
	if (chip->count[bucket]++)
		return;
	__set_bit(bucket, chip->busy);
	visit = busy_visit(chip, now, bucket);
	if (visit < base->armed) {
		base->armed = visit;
		base->tick->under->program(base, visit);
	}
}

static void busy_unfiled(struct callout_base *base, u64 expires)
{
	struct callout_chip *chip = base->chip;
	unsigned int bucket = expires & chip->mask;

	lockdep_assert_held(&base->lock);
	if (!--chip->count[bucket])
		__clear_bit(bucket, chip->busy);
}

const struct callout_tick_source callout_tick_chip_busy = {
	.name		= "chip_busy",
	.now		= chip_now,
	.from_ns	= chip_from_ns,
	.init		= chip_init,
	.program	= busy_program,
	.shutdown	= chip_shutdown,
	.under		= &callout_tick_hrtimer,
	.interrupt	= busy_interrupt,
	.filed		= busy_filed,
	.unfiled	= busy_unfiled,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_chip_busy);

static void full_program(struct callout_base *base, u64 tick)
{
	base->tick->under->program(base, tick);
}

/* PERTICKBOOKKEEPING in the chip, a budget at a time. */
static bool full_interrupt(struct callout_base *base)
{
	struct callout_chip *chip = base->chip;
	bool host = false, more;

	raw_spin_lock_irq(&base->lock);
	/* At 0 the host is at work already. */
	if (!base->armed || base->armed > callout_now(base))
		goto out;
	more = callout_collect(base);
	host = !list_empty(&base->due);
	if (host) {
		chip->interrupts++;
	} else {
		chip->passes++;
		if (more)
			callout_program(base, base->now);
		else
			callout_program_next(base, callout_clock(base) +
						   CALLOUT_MAX_NS);
	}
out:
	raw_spin_unlock_irq(&base->lock);
	return host;
}

const struct callout_tick_source callout_tick_chip_full = {
	.name		= "chip_full",
	.now		= chip_now,
	.from_ns	= chip_from_ns,
	.init		= chip_init,
	.program	= full_program,
	.shutdown	= chip_shutdown,
	.under		= &callout_tick_hrtimer,
	.interrupt	= full_interrupt,
};
EXPORT_SYMBOL_IF_KUNIT(callout_tick_chip_full);
