/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mutant.h - which mutant of a sample this is; in no other build
 *
 * sites.py puts MUTANT(n) into the code, and each build of a sample includes this
 * header before all others. With MUTANT_IS the compiler knows, and leaves the
 * rest out. Else the kernel is told by mutant.ko's parameter "mutant", and a
 * program by CALLOUT_MUTANT in its environment; and what was reached is noted.
 */
#ifndef CALLOUT_MUTANT_H
#define CALLOUT_MUTANT_H

#ifndef __ASSEMBLY__
#ifdef MUTANT_IS
static inline __attribute__((__always_inline__)) _Bool mutant_is(unsigned int n)
{
	return n == MUTANT_IS;
}
#else
extern unsigned int callout_mutant;
#ifdef __KERNEL__
extern unsigned char callout_reached[];
#else
extern unsigned char *callout_reached;
#endif

static inline __attribute__((__always_inline__)) _Bool mutant_is(unsigned int n)
{
	/* Several CPUs come here without a lock. KCSAN knows these. */
	if (!__atomic_load_n(&callout_reached[n], __ATOMIC_RELAXED))
		__atomic_store_n(&callout_reached[n], 1, __ATOMIC_RELAXED);
	return n == callout_mutant;
}
#endif

#define MUTANT(n)	mutant_is(n)

/* 0 or NULL for what is not, and 1 for what is. */
#define MUTANT_VALUE(n, ...) ({						\
	__auto_type mutant_value = (__VA_ARGS__);			\
	mutant_is(n) ? (__typeof__(mutant_value))(unsigned long)!mutant_value : \
		       mutant_value;					\
})

#define MUTANT_READ_ONCE(n, x)	(mutant_is(n) ? (x) : READ_ONCE(x))
#define MUTANT_WRITE_ONCE(n, x, value) do {				\
	if (mutant_is(n))						\
		(x) = (value);						\
	else								\
		WRITE_ONCE(x, value);					\
} while (0)
#define MUTANT_smp_load_acquire(n, p)					\
	(mutant_is(n) ? READ_ONCE(*(p)) : smp_load_acquire(p))
#define MUTANT_smp_store_release(n, p, value) do {			\
	if (mutant_is(n))						\
		WRITE_ONCE(*(p), value);				\
	else								\
		smp_store_release(p, value);				\
} while (0)
#define MUTANT_atomic_read_acquire(n, v)				\
	(mutant_is(n) ? atomic_read(v) : atomic_read_acquire(v))

#endif /* __ASSEMBLY__ */
#endif
