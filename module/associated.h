/* SPDX-License-Identifier: GPL-2.0 */
/*
 * associated.h - the lock that the core holds around a handler, of any type
 */
#ifndef _CALLOUT_ASSOCIATED_H
#define _CALLOUT_ASSOCIATED_H

#include <linux/callout.h>
#include <linux/spinlock.h>

static inline void callout_associated_lock(void *lock, u8 lock_flags)
	__acquires(lock)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_lock((spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_lock((rwlock_t *)lock);
		break;
	default:
		read_lock((rwlock_t *)lock);
	}
}

static inline void callout_associated_unlock(void *lock, u8 lock_flags)
	__releases(lock)
{
	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		spin_unlock((spinlock_t *)lock);
		break;
	case CALLOUT_L_WRITE:
		write_unlock((rwlock_t *)lock);
		break;
	default:
		read_unlock((rwlock_t *)lock);
	}
}

/* sparse: the caller marks the lock as held. */
static inline bool callout_associated_trylock(void *lock, u8 lock_flags)
{
	spinlock_t *spin = lock;
	rwlock_t *rw = lock;

	switch (lock_flags & CALLOUT_L_TYPES) {
	case CALLOUT_L_SPIN:
		if (!spin_trylock(spin))
			return false;
		__release(spin);
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
