/* SPDX-License-Identifier: GPL-2.0 */
/*
 * associated.h - the lock that the core holds around a handler, of any type
 */
#ifndef _CALLOUT_ASSOCIATED_H
#define _CALLOUT_ASSOCIATED_H

#include <linux/callout.h>
#include <linux/irqflags.h>
#include <linux/spinlock.h>

/* The lock of callouts made by callout_init() with mpsafe = 0: BSD's Giant. */
extern spinlock_t callout_giant;

/*
 * Does the handler run with interrupts off? As with spin_lock_irq(), on PREEMPT_RT
 * only if the lock is a raw spinlock.
 */
static inline bool co_associated_irqs_off(u8 lock_flags)
{
	return lock_flags & CALLOUT_IRQLOCK &&
	       (!IS_ENABLED(CONFIG_PREEMPT_RT) ||
		(lock_flags & CALLOUT_L_TYPES) == CALLOUT_L_RAW);
}

static inline void co_associated_lock(void *lock, u8 lock_flags)
	__acquires(lock)
{
	if (co_associated_irqs_off(lock_flags))
		local_irq_disable();
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_lock((spinlock_t *)lock);
		break;
	case CALLOUT_L_RAW:
		raw_spin_lock((raw_spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_lock((rwlock_t *)lock);
		break;
	default:
		read_lock((rwlock_t *)lock);
	}
}

static inline void co_associated_unlock(void *lock, u8 lock_flags)
	__releases(lock)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock((spinlock_t *)lock);
		break;
	case CALLOUT_L_RAW:
		raw_spin_unlock((raw_spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_unlock((rwlock_t *)lock);
		break;
	default:
		read_unlock((rwlock_t *)lock);
	}
	if (co_associated_irqs_off(lock_flags))
		local_irq_enable();
}

/*
 * Interrupts are off, and the caller leaves them off for the handler if the handler
 * needs that. For sparse the caller marks the lock as held.
 */
static inline bool co_associated_trylock(void *lock, u8 lock_flags)
{
	raw_spinlock_t *raw = lock;
	spinlock_t *spin = lock;
	rwlock_t *rw = lock;

	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		if (!spin_trylock(spin))
			return false;
		__release(spin);
		return true;
	case CALLOUT_L_RAW:
		if (!raw_spin_trylock(raw))
			return false;
		__release(raw);
		return true;
	case CALLOUT_L_WRITE:
		if (!write_trylock(rw))
			return false;
		__release(rw);
		return true;
	default:
		if (!read_trylock(rw))
			return false;
		__release(rw);
		return true;
	}
}

#endif /* _CALLOUT_ASSOCIATED_H */
