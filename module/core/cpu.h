/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cpu.h - a base for each class and CPU, as CPUs come and go
 */
#ifndef _CALLOUT_CPU_H
#define _CALLOUT_CPU_H

#include <linux/atomic.h>
#include "base/base.h"

/*
 * Moves of pending callouts away from the base of a CPU that goes offline: the
 * number of moves in progress, plus CALLOUT_MOVE_ENDED for each move that has
 * ended. A search base by base can miss a callout that moves in the opposite
 * direction. It must retry if any move took place since the search began.
 */
extern atomic_t callout_moves;

#define CALLOUT_MOVE_ENDED	0x10000

/* Called before a callout leaves its base. Pairs with co_moves_since(). */
static inline void co_move_begin(void)
{
	atomic_inc_return(&callout_moves);
}

/* Called when the callout is in the other base. Pairs with co_moves_read(). */
static inline void co_move_end(void)
{
	atomic_add_return_release(CALLOUT_MOVE_ENDED - 1, &callout_moves);
}

/* Called before a search. */
static inline unsigned int co_moves_read(void)
{
	return atomic_read_acquire(&callout_moves);
}

/*
 * Has a callout moved since @before, or was a move in progress at that time? Called
 * after taking the locks of all bases, under which callouts leave them.
 */
static inline bool co_moves_since(unsigned int before)
{
	return before % CALLOUT_MOVE_ENDED ||
	       before != atomic_read(&callout_moves);
}

/**
 * struct callout_config - the parameters of bases
 * @tick: the tick source of kernel code's class
 * @tick_ns: the length of a tick of @tick
 * @device_tick: the tick source of programs' classes
 * @device_tick_ns: the length of a tick of @device_tick
 * @device_wake_gap: callout_base.wake_gap of programs' bases
 * @scheme: the scheme
 * @params: for the scheme's create, which also gets time and node; without buckets,
 *	the number of buckets follows the number of callouts
 * @single: all CPUs share one base of each class
 */
struct callout_config {
	const struct callout_tick_source *tick;
	u64 tick_ns;
	const struct callout_tick_source *device_tick;
	u64 device_tick_ns;
	unsigned int device_wake_gap;
	const struct callout_scheme_ops *scheme;
	struct callout_scheme_params params;
	bool single;
};

/* The number of classes. Written while CPUs are kept from coming and going. */
extern unsigned int callout_nr_classes;

int co_cpus_init(const struct callout_config *config);
int co_class_add(void);
bool co_take_over(struct callout_base *from, struct callout_base *to);
void co_cpus_kill(void);
u64 co_cpus_exit(void);

#endif /* _CALLOUT_CPU_H */
