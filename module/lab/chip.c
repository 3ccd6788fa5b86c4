// SPDX-License-Identifier: GPL-2.0
/*
 * chip.c - the timer chips of the paper's Appendix A, simulated
 *
 * Varghese and Lauck, Appendix A, have two kinds of hardware assist.
 *
 * chip_busy is a counter with a busy bit for each element of an array. The host
 * reports when a bucket gets its first callout or loses its last one. The chip steps
 * through the array, a bucket a tick, at no cost to the host, and interrupts the
 * host at buckets that are busy. The chip does not know laps: with M buckets a timer
 * of T ticks in Scheme 6 causes T / M interrupts. A callout that is moved is taken
 * out and queued again, never re-armed lazily, so that no callout stays in a bucket
 * where it does not belong.
 *
 * chip_full has the data structure and all timers in its own memory and does the
 * bookkeeping of each tick itself. It interrupts the host only when timers have
 * expired: once for each such tick.
 *
 * Both are simulated on another tick source, which is set for the next tick at which
 * the chip would do anything: base.armed. Finding the next busy bucket is the chip's
 * work, but the simulation does it with the base locked: it looks at up to buckets /
 * 64 words. The work that chip_full does for itself counts in the base's statistics
 * as if the host had done it, but not as a wake-up.
 *
 * The host's side is in the operations of the base's scheme, which it replaces by its
 * own: they call the scheme's, and report each start and stop. So the core knows nothing
 * of chips.
 *
 * The busy bits wake the host in time for every callout of an exact scheme. The host
 * asks for an interrupt where the bits do not show a callout: for a callout whose
 * time has passed when it is queued, for a callout that was put off since its lock
 * was contended, for callouts left when expiry continues at a later tick, and for
 * the tick at which an inexact scheme regards a callout as due. The host gets the
 * requested interrupt even if an earlier bucket is busy now: that bucket may be idle
 * when the chip comes to it.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "core/expiry.h"
#include "kcompat.h"
#include "base/tick.h"
#include "chip.h"

static struct callout_chip *to_chip(struct callout_scheme *s)
{
	return container_of(s->ops, struct callout_chip, ops);
}

static u64 chip_now(struct callout_base *base)
{
	return co_chip_source(base)->under->now(base);
}

static enum hrtimer_restart chip_tick(struct hrtimer *timer)
{
	struct callout_base *base = container_of(timer, struct callout_base,
						 hrtimer);

	if (co_chip_source(base)->interrupt(base))
		co_softclock(base);
	return HRTIMER_NORESTART;
}

static void chip_init(struct callout_base *base)
{
	const struct callout_tick_source *under;

	under = co_chip_source(base)->under;
	if (under == &callout_tick_hrtimer)
		co_hrtimer_setup(base, chip_tick);
	else
		under->init(base);
}

static void chip_shutdown(struct callout_base *base)
{
	co_chip_source(base)->under->shutdown(base);
}

static void chip_program_under(struct callout_base *base, u64 tick)
{
	co_chip_source(base)->under->program(base, tick);
}

/* The first tick after @now at which the chip comes to a bucket. */
static u64 busy_visit(const struct callout_chip *chip, u64 now,
		      unsigned int bucket)
{
	return now + 1 + ((bucket - (now + 1)) & chip->mask);
}

/* The first tick after @now at which the chip comes to a busy bucket, or U64_MAX. */
static u64 busy_next(const struct callout_chip *chip, u64 now)
{
	unsigned int from = (now + 1) & chip->mask, bucket;

	bucket = find_next_bit(chip->busy, chip->mask + 1, from);
	if (bucket <= chip->mask)
		return busy_visit(chip, now, bucket);
	bucket = find_first_bit(chip->busy, from);
	return bucket < from ? busy_visit(chip, now, bucket) : U64_MAX;
}

/* Let time pass until the chip does something, as seen from tick @now. */
static void busy_sleep(struct callout_base *base, u64 now)
{
	struct callout_chip *chip = co_chip(base);

	base->armed = min(chip->asked, busy_next(chip, now));
	if (base->armed != U64_MAX)
		chip_program_under(base, base->armed);
}

static void busy_program(struct callout_base *base, u64 tick)
{
	u64 now = co_now(base);

	lockdep_assert_held(&base->lock);
	/*
	 * The next tick that expiry programs at its end comes from the scheme and has
	 * a busy bucket. Any other tick that is asked for may have no busy bucket when
	 * it comes.
	 */
	if (tick <= now || !base->expiring || base->scheme->ops->late ||
	    !list_empty(&base->put_off))
		co_chip(base)->asked = tick;
	busy_sleep(base, now);
}

static bool busy_interrupt(struct callout_base *base)
{
	struct callout_chip *chip = co_chip(base);
	bool host = false;

	co_base_lock_irq(base);
	/* At 0 the host is running expiry already. */
	if (!base->armed || base->armed > co_now(base))
		goto out;
	host = base->armed >= chip->asked ||
	       test_bit(base->armed & chip->mask, chip->busy);
	if (host) {
		chip->interrupts++;
		chip->asked = U64_MAX;
	} else {
		/* The bucket is idle by now. If this interrupt is late, no bucket is left out. */
		chip->passes++;
		busy_sleep(base, base->armed);
	}
out:
	co_base_unlock_irq(base);
	return host;
}

/* The host has queued @n: is its bucket busy from now on? */
static void chip_queued(struct callout_chip *chip, const struct callout_node *n)
{
	struct callout_base *base = chip->base;
	unsigned int bucket = n->expires & chip->mask;
	u64 now = co_now(base), visit;

	chip->queued++;
	if (unlikely(n->expires <= now))
		chip->asked = n->expires;
	if (chip->count[bucket]++)
		return;
	__set_bit(bucket, chip->busy);
	visit = busy_visit(chip, now, bucket);
	if (visit < base->armed) {
		base->armed = visit;
		chip_program_under(base, visit);
	}
}

/* @n is no longer queued: is its bucket idle from now on? */
static void chip_unqueued(struct callout_chip *chip, const struct callout_node *n)
{
	unsigned int bucket = n->expires & chip->mask;

	if (!--chip->count[bucket])
		__clear_bit(bucket, chip->busy);
}

static void chip_start(struct callout_scheme *s, struct callout_node *n,
		       u64 now, u64 expires)
{
	struct callout_chip *chip = to_chip(s);

	chip->inner->start(s, n, now, expires);
	chip_queued(chip, n);
}

static void chip_stop(struct callout_scheme *s, struct callout_node *n)
{
	struct callout_chip *chip = to_chip(s);

	chip->inner->stop(s, n);
	if (!chip->bulk)
		chip_unqueued(chip, n);
}

/* Report what advance or take has moved to @out, and move it to @to. */
static void chip_report(struct callout_chip *chip, struct list_head *out,
			struct list_head *to)
{
	struct callout_node *n;

	chip->bulk = false;
	list_for_each_entry(n, out, entry)
		chip_unqueued(chip, n);
	list_splice_tail(out, to);
}

static bool chip_advance(struct callout_scheme *s, u64 now,
			 unsigned int *budget, struct list_head *due)
{
	struct callout_chip *chip = to_chip(s);
	LIST_HEAD(out);
	bool more;

	chip->bulk = true;
	more = chip->inner->advance(s, now, budget, &out);
	chip_report(chip, &out, due);
	return more;
}

static bool chip_take(struct callout_scheme *s, unsigned int *budget,
		      struct list_head *out)
{
	struct callout_chip *chip = to_chip(s);
	LIST_HEAD(taken);
	bool more;

	chip->bulk = true;
	more = chip->inner->take(s, budget, &taken);
	chip_report(chip, &taken, out);
	return more;
}

static void chip_destroy(struct callout_scheme *s)
{
	struct callout_chip *chip = to_chip(s);

	chip->inner->destroy(s);
	bitmap_free(chip->busy);
	kvfree(chip);
}

/* Create a base's chip, with no callout in it. Return 0, -EINVAL or -ENOMEM. */
static int chip_create(struct callout_base *base,
		       const struct callout_scheme_params *params)
{
	bool counts = co_chip_source(base)->counts;
	unsigned int buckets = counts ? params->buckets : 1;
	struct callout_chip *chip;

	if (!is_power_of_2(buckets))
		return -EINVAL;
	chip = kvzalloc_node(struct_size(chip, count, buckets), GFP_KERNEL,
			     params->node);
	if (!chip)
		return -ENOMEM;
	chip->mask = buckets - 1;
	chip->asked = U64_MAX;
	chip->base = base;
	chip->inner = base->scheme->ops;
	chip->ops = *chip->inner;
	chip->ops.destroy = chip_destroy;
	if (counts) {
		chip->busy = bitmap_zalloc_node(buckets, GFP_KERNEL,
						params->node);
		if (!chip->busy) {
			kvfree(chip);
			return -ENOMEM;
		}
		chip->ops.start = chip_start;
		chip->ops.stop = chip_stop;
		/* @n must not stay in the bucket for its earlier time. */
		chip->ops.rearm = NULL;
		chip->ops.advance = chip_advance;
		chip->ops.take = chip_take;
	}
	base->scheme->ops = &chip->ops;
	return 0;
}

const struct callout_chip_source callout_chip_busy = {
	.tick		= {
		.name		= "chip_busy",
		.now		= chip_now,
		.from_ns	= co_hrtimer_from_ns,
		.create		= chip_create,
		.init		= chip_init,
		.program	= busy_program,
		.shutdown	= chip_shutdown,
	},
	.under		= &callout_tick_hrtimer,
	.counts		= true,
	.interrupt	= busy_interrupt,
};
EXPORT_SYMBOL_IF_KUNIT(callout_chip_busy);

/* PERTICKBOOKKEEPING in the chip, one budget at a time. */
static bool full_interrupt(struct callout_base *base)
{
	struct callout_chip *chip = co_chip(base);
	bool host = false, more;

	co_base_lock_irq(base);
	/* At 0 the host is running expiry already. */
	if (!base->armed || base->armed > co_now(base))
		goto out;
	base->edge = READ_ONCE(*base->jiffies);
	base->left = 1;
	more = co_collect(base);
	host = !list_empty(&base->due);
	if (host) {
		chip->interrupts++;
	} else {
		chip->passes++;
		if (more)
			co_program(base, base->now);
		else
			co_program_next(base, CALLOUT_BUDGET);
	}
out:
	co_base_unlock_irq(base);
	return host;
}

const struct callout_chip_source callout_chip_full = {
	.tick		= {
		.name		= "chip_full",
		.now		= chip_now,
		.from_ns	= co_hrtimer_from_ns,
		.create		= chip_create,
		.init		= chip_init,
		.program	= chip_program_under,
		.shutdown	= chip_shutdown,
	},
	.under		= &callout_tick_hrtimer,
	.interrupt	= full_interrupt,
};
EXPORT_SYMBOL_IF_KUNIT(callout_chip_full);
