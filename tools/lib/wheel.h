/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * wheel.h - the timers of one clock by time: a hierarchical wheel with bitmaps
 *
 * Scheme 7 of Varghese and Lauck. A slot of level 0 spans a nanosecond, a slot of
 * each further level 64 of the level below, and 11 levels span all times. A timer
 * is filed at the level of the highest digit, to the base of 64, in which its time
 * differs from @base. So all timers of a level come before all timers of the next
 * level, and the first slot that is not empty is found in two bitmaps.
 *
 * The first slot is taken when a timer in it is due. Few timers are sorted, and wait
 * in @sorted. Many are filed again, at lower levels. This takes the time that memory
 * needs for each timer, so a slot has a list for each quarter of its span, a lane:
 * while a timer of one lane is filed the next timers of the other lanes arrive.
 *
 * timer._at is the time to hand the timer out. It may grow while the timer is in a
 * slot or a lane: _at is compared when the timer is filed again.
 *
 * Timers come in the order of _at, and timers with equal _at in the order of
 * filing. A time before @base counts as @base. A timer whose _at has grown may
 * come after timers with the same _at that were filed later.
 */
#ifndef _LIBCALLOUT_WHEEL_H
#define _LIBCALLOUT_WHEEL_H

#include <stddef.h>

#include "libcallout.h"

/* The timer of which @link is the @member. */
#define link_timer(link, member)					\
	((struct callout_timer *)((char *)(link) -			\
				  offsetof(struct callout_timer, member)))

#define WHEEL_LEVELS	11
#define WHEEL_SLOTS	64
#define WHEEL_LANES	4

/* callout_timer._filed: in no list of the wheel; in a slot or a lane; in @sorted */
enum filed { FILED_NOT, FILED_IN_SLOT, FILED_SORTED };

/**
 * struct slot - the timers of a span of time
 * @lanes: the timers of each quarter, in the order of filing; undefined if not in @used
 * @used: bit N: lane N was filed into since the slot was taken
 * @filed: how many timers were filed since then
 * @min: a lower bound of the _at of all of them
 */
struct slot {
	struct callout_link lanes[WHEEL_LANES];
	unsigned int used;
	__u64 filed;
	__u64 min;
};

/**
 * struct wheel - timers by time
 * @min: a lower bound of all _at; CALLOUT_FOREVER if there are no timers
 * @base: a time not after any slot that is not empty, nor after the slot taken last
 * @taken_last: the last time of that slot
 * @sorted: the timers of that slot, if it had few, in the order in which they come
 * @taken: its timers if it had many, not filed again yet: lanes; undefined if not in
 *	@taken_used
 * @taken_used: bit N: lane N may have timers
 * @taken_shift: the slot spanned so many bits of the time
 * @levels: bit N: level N has slots in use
 * @used: bit N of a level: slot N was filed into since it was taken
 * @slots: the slots; the content of an unused slot is undefined
 */
struct wheel {
	__u64 min;
	__u64 base;
	__u64 taken_last;
	struct callout_link sorted;
	struct callout_link taken[WHEEL_LANES];
	unsigned int taken_used;
	unsigned int taken_shift;
	unsigned int levels;
	__u64 used[WHEEL_LEVELS];
	struct slot slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

static inline void link_init(struct callout_link *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool link_empty(const struct callout_link *head)
{
	return head->next == head;
}

static inline void link_add_tail(struct callout_link *link,
				 struct callout_link *head)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

/* Move all of @from, which is not empty and left undefined, to the end of @to. */
static inline void link_splice_tail(const struct callout_link *from,
				    struct callout_link *to)
{
	from->next->prev = to->prev;
	from->prev->next = to;
	to->prev->next = from->next;
	to->prev = from->prev;
}

static inline void link_del(struct callout_link *link)
{
	link->next->prev = link->prev;
	link->prev->next = link->next;
}

void callout_wheel_init(struct wheel *wheel, __u64 now);
void callout_wheel_add(struct wheel *wheel, struct callout_timer *timer);
void callout_wheel_set_back(struct wheel *wheel, __u64 now);
struct callout_timer *callout_wheel_pop(struct wheel *wheel, __u64 now,
					unsigned int *work);

/* The slot's bit stays set: the slot is found empty when it is taken. */
static inline void wheel_remove(struct callout_timer *timer)
{
	link_del(&timer->_wheel);
	timer->_filed = FILED_NOT;
}

#endif /* _LIBCALLOUT_WHEEL_H */
