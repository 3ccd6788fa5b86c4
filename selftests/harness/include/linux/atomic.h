/* SPDX-License-Identifier: GPL-2.0 */
/*
 * atomic.h - the atomic operations of the schemes, by the compiler's builtins
 */
#ifndef _HARNESS_LINUX_ATOMIC_H
#define _HARNESS_LINUX_ATOMIC_H

#include <linux/types.h>

#define atomic_long_add_return(n, v)	\
	__atomic_add_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)

#define atomic_long_sub(n, v)	\
	((void)__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST))

/* The caller's comment names its pair. */
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
