// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * wheel.c - files timers by time, and finds the timers that are due
 */
#include "wheel.h"

/* log2 of the slots of a level. */
#define LEVEL_BITS	6

static inline unsigned int shift_of(unsigned int level)
{
	return level * LEVEL_BITS;
}

void callout_wheel_init(struct wheel *wheel, __u64 now)
{
	unsigned int level;

	wheel->min = CALLOUT_FOREVER;
	wheel->base = now;
	link_init(&wheel->taken);
	wheel->levels = 0;
	for (level = 0; level < WHEEL_LEVELS; level++)
		wheel->used[level] = 0;
}

/* The time at which a timer is filed. A past time counts as the base. */
static inline __u64 position(const struct wheel *wheel,
			     const struct callout_timer *timer)
{
	return timer->_at > wheel->base ? timer->_at : wheel->base;
}

static void file(struct wheel *wheel, struct callout_timer *timer)
{
	__u64 at = timer->_at, pos = position(wheel, timer);
	__u64 differs = pos ^ wheel->base;
	unsigned int level = 0, index;
	struct slot *slot;

	if (differs)
		level = (63 - __builtin_clzll(differs)) / LEVEL_BITS;
	index = pos >> shift_of(level) & (WHEEL_SLOTS - 1);
	slot = &wheel->slots[level][index];
	if (!(wheel->used[level] & 1ULL << index)) {
		wheel->used[level] |= 1ULL << index;
		wheel->levels |= 1U << level;
		link_init(&slot->timers);
		slot->min = CALLOUT_FOREVER;
	}
	link_add_tail(&timer->_wheel, &slot->timers);
	timer->_filed = true;
	if (at < slot->min)
		slot->min = at;
	if (at < wheel->min)
		wheel->min = at;
}

/*
 * File a timer for timer._at. Of equal times, timers that were taken and not filed
 * again yet come first: within their span, this timer goes behind them.
 */
void callout_wheel_add(struct wheel *wheel, struct callout_timer *timer)
{
	if (link_empty(&wheel->taken) ||
	    position(wheel, timer) > wheel->taken_last) {
		file(wheel, timer);
		return;
	}
	link_add_tail(&timer->_wheel, &wheel->taken);
	timer->_filed = true;
	if (timer->_at < wheel->min)
		wheel->min = timer->_at;
}

/*
 * Move the base to @now, or as far as each timer can stay in its slot: to
 * before the start of the first slot in use.
 */
static void move_base(struct wheel *wheel, __u64 now, __u64 first)
{
	if (now >= first)
		now = first - 1;
	if (now > wheel->base)
		wheel->base = now;
}

static void slot_unused(struct wheel *wheel, unsigned int level,
			unsigned int index)
{
	wheel->used[level] &= ~(1ULL << index);
	if (!wheel->used[level])
		wheel->levels &= ~(1U << level);
}

/*
 * File all timers again: the clock shows a time before the base, so a slot has timers that
 * are due beside others that are not. The cost is linear in the number of timers.
 */
void callout_wheel_set_back(struct wheel *wheel, __u64 now)
{
	struct callout_timer *timer;
	struct callout_link all;
	unsigned int level, index;

	link_init(&all);
	link_splice_tail(&wheel->taken, &all);
	while (wheel->levels) {
		level = __builtin_ctz(wheel->levels);
		index = __builtin_ctzll(wheel->used[level]);
		link_splice_tail(&wheel->slots[level][index].timers, &all);
		slot_unused(wheel, level, index);
	}
	callout_wheel_init(wheel, now);
	while (!link_empty(&all)) {
		timer = link_timer(all.next, _wheel);
		link_del(&timer->_wheel);
		file(wheel, timer);
	}
}

/*
 * Take the first slot if a timer in it can have come. Either way the wheel's least
 * time is known again. Empty slots are passed over.
 */
static bool take_slot(struct wheel *wheel, __u64 now)
{
	unsigned int level, index;
	struct slot *slot;
	__u64 begin;

	while (wheel->levels) {
		level = __builtin_ctz(wheel->levels);
		index = __builtin_ctzll(wheel->used[level]);
		slot = &wheel->slots[level][index];
		if (link_empty(&slot->timers)) {
			slot_unused(wheel, level, index);
			continue;
		}
		/* The digits above equal the base's. */
		begin = wheel->base >> shift_of(level) >> LEVEL_BITS;
		begin = (begin << LEVEL_BITS | index) << shift_of(level);
		wheel->min = slot->min;
		if (slot->min > now) {
			move_base(wheel, now, begin);
			return false;
		}
		wheel->base = begin;
		slot_unused(wheel, level, index);
		wheel->taken = slot->timers;
		wheel->taken.next->prev = &wheel->taken;
		wheel->taken.prev->next = &wheel->taken;
		wheel->taken_last = begin + ((1ULL << shift_of(level)) - 1);
		return true;
	}
	wheel->min = CALLOUT_FOREVER;
	wheel->base = now;
	return false;
}

/*
 * Remove and return the first timer that is due, or NULL if there is none. @work,
 * which is counted down, limits how many timers are looked at. If the limit is the
 * reason for NULL, wheel.min is not after @now.
 *
 * A taken timer is returned at once if no other can be before it: its time is the
 * wheel's least, or the base, as all times of a slot of level 0 are. The others
 * move down. So a timer is looked at once for each level that it passes, at most 11
 * times, and many in one slot are moved down in many turns, if need be. Nothing is
 * taken before all taken timers are returned or filed, so the order of the slots
 * stays.
 */
struct callout_timer *callout_wheel_pop(struct wheel *wheel, __u64 now,
					unsigned int *work)
{
	struct callout_timer *timer;

	if (wheel->min > now)
		return NULL;
	do {
		while (!link_empty(&wheel->taken)) {
			if (!*work)
				return NULL;
			--*work;
			timer = link_timer(wheel->taken.next, _wheel);
			wheel_remove(timer);
			if (timer->_at <= wheel->min ||
			    timer->_at <= wheel->base)
				return timer;
			file(wheel, timer);
		}
	} while (take_slot(wheel, now));
	return NULL;
}
