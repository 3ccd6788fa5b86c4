// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * wheel.c - files timers by time, and finds the timers that are due
 */
#include "wheel.h"

/* log2 of the slots of a level, and of the lanes of a slot */
#define LEVEL_BITS	6
#define LANE_BITS	2

/* The most timers of a slot that are sorted when it is taken. The fuzzer has few timers. */
#ifndef FEW
#define FEW		64U
#endif

static inline unsigned int shift_of(unsigned int level)
{
	return level * LEVEL_BITS;
}

/* Which quarter of a slot that spans @shift bits has the time @pos? A nanosecond has one. */
static inline unsigned int lane_of(__u64 pos, unsigned int shift)
{
	return pos << LANE_BITS >> shift & (WHEEL_LANES - 1);
}

void callout_wheel_init(struct wheel *wheel, __u64 now)
{
	unsigned int level;

	wheel->min = CALLOUT_FOREVER;
	wheel->base = now;
	wheel->taken_last = 0;
	link_init(&wheel->sorted);
	wheel->taken_used = 0;
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

static inline void add_to_lane(struct callout_link *lanes, unsigned int *used,
			       unsigned int lane, struct callout_timer *timer)
{
	struct callout_link *head = &lanes[lane];

	if (!(*used >> lane & 1)) {
		*used |= 1U << lane;
		link_init(head);
	}
	link_add_tail(&timer->_wheel, head);
	timer->_filed = FILED_IN_SLOT;
}

static inline void file(struct wheel *wheel, struct callout_timer *timer)
{
	__u64 at = timer->_at, pos = position(wheel, timer);
	__u64 differs = (pos ^ wheel->base) | 1;
	unsigned int level = (63 - __builtin_clzll(differs)) / LEVEL_BITS;
	unsigned int shift = shift_of(level), index;
	struct slot *slot;

	index = pos >> shift & (WHEEL_SLOTS - 1);
	slot = &wheel->slots[level][index];
	if (!(wheel->used[level] & 1ULL << index)) {
		wheel->used[level] |= 1ULL << index;
		wheel->levels |= 1U << level;
		slot->used = 0;
		slot->filed = 0;
		slot->min = CALLOUT_FOREVER;
	}
	add_to_lane(slot->lanes, &slot->used, lane_of(pos, shift), timer);
	slot->filed++;
	if (at < slot->min)
		slot->min = at;
	if (at < wheel->min)
		wheel->min = at;
}

/* Put a timer to its place in @sorted. */
static void sort_in(struct wheel *wheel, struct callout_timer *timer)
{
	struct callout_link *before = wheel->sorted.prev;
	__u64 pos = position(wheel, timer);

	while (before != &wheel->sorted &&
	       position(wheel, link_timer(before, _wheel)) > pos)
		before = before->prev;
	link_add_tail(&timer->_wheel, before->next);
	timer->_filed = FILED_SORTED;
}

/* File all timers of a list again, in their order. */
static void file_all(struct wheel *wheel, struct callout_link *head)
{
	struct callout_timer *timer;

	while (!link_empty(head)) {
		timer = link_timer(head->next, _wheel);
		link_del(&timer->_wheel);
		file(wheel, timer);
	}
}

/*
 * File a timer for timer._at. Of equal times, timers that were taken and not filed
 * again yet come first: within their span, this timer goes behind them.
 */
void callout_wheel_add(struct wheel *wheel, struct callout_timer *timer)
{
	__u64 pos = position(wheel, timer);

	if (pos <= wheel->taken_last && wheel->taken_used) {
		add_to_lane(wheel->taken, &wheel->taken_used,
			    lane_of(pos, wheel->taken_shift), timer);
		if (timer->_at < wheel->min)
			wheel->min = timer->_at;
		return;
	}
	if (pos <= wheel->taken_last)
		file_all(wheel, &wheel->sorted);
	file(wheel, timer);
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

/* Move the timers of lanes to the end of @to. */
static void splice_lanes(const struct callout_link *lanes, unsigned int used,
			 struct callout_link *to)
{
	for (; used; used &= used - 1)
		if (!link_empty(&lanes[__builtin_ctz(used)]))
			link_splice_tail(&lanes[__builtin_ctz(used)], to);
}

/*
 * File all timers again: the clock shows a time before the base, so a slot has timers that
 * are due beside others that are not. The cost is linear in the number of timers.
 */
void callout_wheel_set_back(struct wheel *wheel, __u64 now)
{
	struct callout_link all;
	unsigned int level, index;
	struct slot *slot;

	link_init(&all);
	/* Timers of taken lanes that are in slots again come before the others. */
	while (wheel->levels) {
		level = __builtin_ctz(wheel->levels);
		index = __builtin_ctzll(wheel->used[level]);
		slot = &wheel->slots[level][index];
		splice_lanes(slot->lanes, slot->used, &all);
		slot_unused(wheel, level, index);
	}
	splice_lanes(wheel->taken, wheel->taken_used, &all);
	if (!link_empty(&wheel->sorted))
		link_splice_tail(&wheel->sorted, &all);
	callout_wheel_init(wheel, now);
	file_all(wheel, &all);
}

/* Take the timers of a slot: few into @sorted, many into @taken. */
static void take(struct wheel *wheel, const struct slot *slot, unsigned int *work)
{
	struct callout_timer *timer;
	struct callout_link few;
	unsigned int used, lane;

	if (slot->filed > FEW) {
		for (used = slot->used; used; used &= used - 1) {
			lane = __builtin_ctz(used);
			link_init(&wheel->taken[lane]);
			splice_lanes(slot->lanes, 1U << lane, &wheel->taken[lane]);
			__builtin_prefetch(wheel->taken[lane].next, 1);
		}
		wheel->taken_used = slot->used;
		return;
	}
	link_init(&few);
	splice_lanes(slot->lanes, slot->used, &few);
	while (!link_empty(&few)) {
		timer = link_timer(few.next, _wheel);
		link_del(&timer->_wheel);
		if (timer->_at <= wheel->taken_last) {
			sort_in(wheel, timer);
			continue;
		}
		if (*work)
			--*work;
		file(wheel, timer);
	}
}

static bool is_empty(const struct slot *slot)
{
	unsigned int used;

	for (used = slot->used; used; used &= used - 1)
		if (!link_empty(&slot->lanes[__builtin_ctz(used)]))
			return false;
	return true;
}

/*
 * Take the first slot if a timer in it can have come, and @work is not spent. In any case
 * the wheel's least time is known again. Empty slots are passed over.
 */
static bool take_slot(struct wheel *wheel, __u64 now, unsigned int *work)
{
	unsigned int level, index;
	struct slot *slot;
	__u64 begin;

	while (wheel->levels) {
		level = __builtin_ctz(wheel->levels);
		index = __builtin_ctzll(wheel->used[level]);
		slot = &wheel->slots[level][index];
		if (is_empty(slot)) {
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
		if (!*work)
			return false;
		wheel->base = begin;
		slot_unused(wheel, level, index);
		wheel->taken_shift = shift_of(level);
		wheel->taken_last = begin + ((1ULL << shift_of(level)) - 1);
		take(wheel, slot, work);
		return true;
	}
	wheel->min = CALLOUT_FOREVER;
	wheel->base = now;
	return false;
}

/*
 * File the timers of taken lanes again, the lanes in turn, until @work is spent. Return a
 * timer before which no other can come: its time is the wheel's least, or the base.
 */
static struct callout_timer *move_down(struct wheel *wheel, unsigned int *work)
{
	struct callout_timer *timer;
	unsigned int used, left = *work;
	struct callout_link *lane;

	while (wheel->taken_used) {
		for (used = wheel->taken_used; used; used &= used - 1) {
			lane = &wheel->taken[__builtin_ctz(used)];
			if (link_empty(lane)) {
				wheel->taken_used &= ~(used & -used);
				continue;
			}
			if (!left)
				goto out;
			left--;
			timer = link_timer(lane->next, _wheel);
			link_del(&timer->_wheel);
			__builtin_prefetch(lane->next->next, 1);
			if (timer->_at <= wheel->min || timer->_at <= wheel->base) {
				timer->_filed = FILED_NOT;
				*work = left;
				return timer;
			}
			file(wheel, timer);
		}
	}
out:
	*work = left;
	return NULL;
}

/*
 * Remove and return the first timer that is due, or NULL if there is none. @work,
 * which is counted down, limits how many timers are filed or returned; a slot with
 * few timers may exceed it. If the limit is the reason for NULL, wheel.min is not
 * after @now.
 *
 * A timer is filed again at most 11 times, once for each level that it passes, and once
 * when _at has grown. Many in one slot are moved down in many turns, if need be.
 * Nothing is taken before all taken timers are returned or filed, so the order of
 * the slots stays.
 */
struct callout_timer *callout_wheel_pop(struct wheel *wheel, __u64 now,
					unsigned int *work)
{
	struct callout_timer *timer;

	if (wheel->min > now)
		return NULL;
	do {
		timer = move_down(wheel, work);
		if (timer || wheel->taken_used)
			return timer;
		if (link_empty(&wheel->sorted))
			continue;
		timer = link_timer(wheel->sorted.next, _wheel);
		if (timer->_at > now)
			wheel->min = timer->_at;
		if (timer->_at > now || !*work)
			return NULL;
		--*work;
		wheel_remove(timer);
		return timer;
	} while (take_slot(wheel, now, work));
	return NULL;
}
