/* SPDX-License-Identifier: GPL-2.0 */
/*
 * atomic.h - what the schemes use to hand memory over, by the compiler's own
 */
#ifndef _HARNESS_LINUX_ATOMIC_H
#define _HARNESS_LINUX_ATOMIC_H

#include <linux/types.h>

#define atomic_long_add_return(n, v)	\
	__atomic_add_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)

#define atomic_long_sub(n, v)	\
	((void)__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST))

/* Pairs with whatever the caller says. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

#define cmpxchg(p, old, new)						\
({									\
	__auto_type _old = (old);					\
									\
	__atomic_compare_exchange_n(p, &_old, new, 0, __ATOMIC_SEQ_CST,	\
				    __ATOMIC_SEQ_CST);			\
	_old;								\
})

#endif /* _HARNESS_LINUX_ATOMIC_H */
