/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mock_kernel.h - the kernel functions that table.c and hash.c use, in a program
 *
 * Included before all else. The Makefile makes empty files of the kernel headers
 * that this file replaces. There is one thread, which plays several CPUs: where
 * the code takes a lock, exchanges a word or may be rescheduled, mock_preempt()
 * may run an operation of another CPU. Memory that RCU frees lives until the
 * outermost operation has ended.
 */
#ifndef _FUZZ_MOCK_KERNEL_H
#define _FUZZ_MOCK_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "input.h"

/* checkers' words, and other attributes */
#define __rcu
#define __percpu
#define __must_hold(lock)
#define __acquires(lock)
#define __releases(lock)
#define __acquire(lock)		((void)0)
#define __release(lock)		((void)0)
#define __counted_by(member)
#ifndef noinline
#define noinline		__attribute__((noinline))
#endif

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/build_bug.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/numa.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/atomic.h>

#undef struct_size
#define struct_size(p, member, n)	\
	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))

/* Replaces kcompat.h, since there is no kernel version here. */
#define _CALLOUT_KCOMPAT_H
#define tick_timer		timer_list
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#define KUNIT_STATIC_STUB_REDIRECT(function, ...)	do {} while (0)
#define VISIBLE_IF_KUNIT	static

#define data_race(x)		(x)
#define fallthrough		__attribute__((__fallthrough__))

/* CPUs */
#define MOCK_CPUS		3U
#define nr_cpu_ids		MOCK_CPUS
#define cpu_possible_mask	NULL
#define cpu_online_mask		NULL
#define smp_processor_id()	mock_cpu
#define raw_smp_processor_id()	mock_cpu
#define for_each_possible_cpu(cpu)	\
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
/* No CPU is offline. */
#define for_each_cpu_andnot(cpu, mask, but)				\
	for ((cpu) = 0; false; )
#define for_each_cpu_wrap(cpu, mask, start)				\
	for (unsigned int __n = ((cpu) = (start), 0); __n < nr_cpu_ids;	\
	     __n++, (cpu) = ((cpu) + 1) % nr_cpu_ids)
#define HK_TYPE_TIMER		0
#define housekeeping_cpu(cpu, type)	true
#define housekeeping_any_cpu(type)	0
#define current			((struct task_struct *)&mock_cpu)
#define in_hardirq()		false
#define preempt_disable()	((void)0)
#define preempt_enable()	((void)0)

extern unsigned int mock_cpu;
extern bool mock_irqs_off;

/* Run by the code under test, where another CPU may do something. */
void mock_preempt(void);

#define cond_resched()		mock_preempt()
#define local_irq_disable()	((void)(mock_irqs_off = true))
#define local_irq_enable()	((void)(mock_irqs_off = false))
#define local_irq_save(flags)	\
	((void)((flags) = mock_irqs_off, mock_irqs_off = true))
#define local_irq_restore(flags)	((void)(mock_irqs_off = (flags)))
#define lockdep_assert_irqs_disabled()	\
	fuzz_assert(mock_irqs_off, "interrupts are on")

/* locks: taking a lock that is held is a deadlock */
typedef struct { int held; } arch_spinlock_t;
typedef struct { arch_spinlock_t raw_lock; } raw_spinlock_t;
typedef struct spinlock { raw_spinlock_t rlock; } spinlock_t;
typedef struct rwlock { raw_spinlock_t rlock; } rwlock_t;
struct mutex { arch_spinlock_t raw_lock; };

/* Locks that are held, by all CPUs. */
extern unsigned int mock_locks;

static inline void mock_lock(arch_spinlock_t *lock)
{
	mock_preempt();
	fuzz_assert(!lock->held, "deadlock");
	lock->held = 1;
	mock_locks++;
}

static inline void mock_unlock(arch_spinlock_t *lock)
{
	fuzz_assert(lock->held, "not locked");
	lock->held = 0;
	mock_locks--;
}

#define raw_spin_lock(l)	mock_lock(&(l)->raw_lock)
#define raw_spin_lock_nested(l, class)	raw_spin_lock(l)
#define raw_spin_unlock(l)	mock_unlock(&(l)->raw_lock)
#define raw_spin_lock_irq(l)	\
	do { local_irq_disable(); raw_spin_lock(l); } while (0)
#define raw_spin_unlock_irq(l)	\
	do { raw_spin_unlock(l); local_irq_enable(); } while (0)
#define raw_spin_lock_init(l)	((void)((l)->raw_lock.held = 0))
#define mutex_init(l)		((void)((l)->raw_lock.held = 0))
#define mutex_destroy(l)	((void)(l))
#define mutex_lock(l)		mock_lock(&(l)->raw_lock)
#define mutex_unlock(l)		mock_unlock(&(l)->raw_lock)
#define lockdep_assert_held(l)	\
	fuzz_assert((l)->raw_lock.held, "not locked")
#define lockdep_is_held(l)	((l)->raw_lock.held)

struct lock_class_key { };
struct lockdep_map { int depth; };

#define lockdep_init_map(map, name, key, sub)	\
	((void)((map)->depth = 0, (void)(key)))
#define lock_map_acquire(map)	((void)(map)->depth++)
#define lock_map_release(map)	\
	fuzz_assert((map)->depth-- > 0, "not locked")

/* atomic operations, at each of which another CPU may come first */
#define atomic_read(v)		((v)->counter)
#define atomic_set(v, n)	((void)((v)->counter = (n)))
#define atomic_inc(v)		((void)(v)->counter++)
#define atomic_dec(v)		((void)(v)->counter--)
#define atomic_inc_return(v)	(++(v)->counter)
#define atomic_add_return_release(n, v)	\
	((v)->counter = (int)((unsigned int)(v)->counter + (n)))
#define atomic_read_acquire(v)	((v)->counter)
typedef struct { s64 counter; } atomic64_t;
#define atomic64_read(v)	((v)->counter)
#ifndef smp_mb
#define smp_mb()		((void)0)
#endif
#define smp_store_release(p, v)	((void)(*(p) = (v)))

#define xchg_acquire(p, v)						\
({									\
	__auto_type __p = (p);						\
	typeof(*__p) __old;						\
									\
	mock_preempt();							\
	__old = *__p;							\
	*__p = (v);							\
	__old;								\
})

#define try_cmpxchg(p, old, new)					\
({									\
	__auto_type __p = (p);						\
	__auto_type __old = (old);					\
	bool __done;							\
									\
	mock_preempt();							\
	__done = *__p == *__old;					\
	if (__done)							\
		*__p = (new);						\
	else								\
		*__old = *__p;						\
	__done;								\
})

#define spin_until_cond(cond)						\
do {									\
	for (unsigned int __n = 0; __n < 16 && !(cond); __n++)		\
		mock_preempt();						\
	fuzz_assert(cond, "deadlock");					\
} while (0)

/* RCU */
struct rcu_head { struct rcu_head *next; };

void mock_free_later(void *p);
void mock_free_now(void);

#define rcu_read_lock()			((void)0)
#define rcu_read_unlock()		((void)0)
#define rcu_read_lock_any_held()	true
#define rcu_dereference_check(p, c)	(p)
#define rcu_dereference_protected(p, c)	(p)
#define rcu_dereference_raw(p)		(p)
#define rcu_assign_pointer(p, v)	((void)((p) = (v)))
#define kvfree_rcu(p, member)		mock_free_later(p)

/* memory: chunks are aligned to their size */
void *mock_kmalloc(size_t size);

#define kmalloc(size, gfp)		mock_kmalloc(size)
#define alloc_percpu_gfp(type, gfp)	\
	((type *)harness_alloc(MOCK_CPUS * sizeof(type), true))
#define per_cpu_ptr(p, cpu)		(&(p)[cpu])
#define free_percpu(p)			harness_free(p)
#undef GFP_KERNEL
#define GFP_KERNEL	0
#define __GFP_ZERO	0
#define __GFP_NOWARN	0

u64 get_random_u64(void);

/* static keys */
#define DEFINE_STATIC_KEY_FALSE(name)	bool name
#define DECLARE_STATIC_KEY_FALSE(name)	extern bool name
#define static_branch_unlikely(key)	(*(key))
#define static_branch_enable(key)	((void)(*(key) = true))
#define array_index_nospec(i, n)	(i)

/* members of struct callout_base that nothing here uses */
struct timer_list { };
struct irq_work { };
struct hrtimer { };
enum hrtimer_restart { HRTIMER_NORESTART };
struct tasklet_struct { };
typedef struct { } wait_queue_head_t;
typedef struct { } call_single_data_t;
struct delayed_work { };
#define TICK_NSEC		1000000ULL
#define get_jiffies_64()	0ULL
#define ktime_get_ns()		0ULL

/* tracepoints */
struct callout_node;
#define trace_callout_start_enabled()	false
static inline void trace_callout_start(struct callout_node *n, u64 now) { }

/* kunit/lib/hash_model.c */
struct kunit { };
struct completion { };
struct task_struct;
#define HZ			250UL
#define kunit_kzalloc(test, size, gfp)	harness_alloc(size, true)
#define kunit_add_action_or_reset(test, fn, p)	((void)(fn), (void)(p), 0)
#define KUNIT_ASSERT_NOT_NULL(test, p)	fuzz_assert(p, "no memory")
#define KUNIT_ASSERT_EQ(test, a, b)	fuzz_assert((a) == (b), "differ")
#define KUNIT_ASSERT_TRUE(test, cond)	fuzz_assert(cond, "false")

#endif /* _FUZZ_MOCK_KERNEL_H */
