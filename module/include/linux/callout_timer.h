/* SPDX-License-Identifier: GPL-2.0 */
/*
 * callout_timer.h - makes a module's timers callouts, by one include
 *
 * From here on "struct timer_list" is struct callout_timer, and each call of
 * linux/timer.h takes either a struct callout_timer or the kernel's own struct. The
 * type of the pointer decides at compile time, and a pointer of any other type,
 * such as void *, is an error. So include this after all headers of the kernel, so
 * that their structures have the kernel's timers, and before the module's own
 * structures with timers. A kernel header that is included later, and names the
 * struct, is an error: a timer in it would have another layout than in the kernel.
 * The headers that most modules use are included here, first.
 *
 * For callouts, calls have their present names and all names since 6.1, whichever
 * kernel is used. For the kernel's timers, they have the names whose function the
 * kernel has. A name that is not called, as in "fn = mod_timer", is the kernel's
 * function.
 *
 * linux/timer.h's macros that prepare timers, DEFINE_TIMER(), timer_setup() and the
 * macros for delayed work, are the kernel's: they name the struct, or call a
 * function that is dispatched here.
 */
#ifndef _LINUX_CALLOUT_TIMER_H
#define _LINUX_CALLOUT_TIMER_H

#include <linux/container_of.h>
#include <linux/kthread.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#ifdef CONFIG_BLOCK
#include <linux/blkdev.h>
#endif
#ifdef CONFIG_NET
#include <linux/netdevice.h>
#include <net/sock.h>
#endif
#ifdef CONFIG_INET
#include <linux/inetdevice.h>
#include <net/if_inet6.h>
#include <net/inet_connection_sock.h>
#include <net/inet_frag.h>
#include <net/inet_timewait_sock.h>
#include <net/neighbour.h>
#include <net/request_sock.h>
#endif
#include <linux/callout_timer_types.h>

/* The kernel's own struct, which the name struct timer_list no longer denotes. */
typedef struct timer_list callout_linux_timer_t;

/*
 * Kernels before 6.9 lack the first two functions, and kernels before 6.1.158 the
 * other two. Where they exist this changes nothing.
 */
void add_timer_local(callout_linux_timer_t *timer);
void add_timer_global(callout_linux_timer_t *timer);
int timer_shutdown(callout_linux_timer_t *timer);
int timer_shutdown_sync(callout_linux_timer_t *timer);

/* 6.1.91 has removed this macro, and has timer_delete() and timer_delete_sync(). */
#ifdef del_singleshot_timer_sync
#undef del_singleshot_timer_sync
#define CALLOUT_LINUX_DELETE		del_timer
/* Before 6.1.84 this is a macro in a kernel for one CPU. */
#ifdef del_timer_sync
#undef del_timer_sync
#define CALLOUT_LINUX_DELETE_SYNC	del_timer
#else
#define CALLOUT_LINUX_DELETE_SYNC	del_timer_sync
#endif
#else
#define CALLOUT_LINUX_DELETE		timer_delete
#define CALLOUT_LINUX_DELETE_SYNC	timer_delete_sync
#endif

/* 6.16 has changed names in linux/timer.h, including this macro's name. */
#ifdef __timer_init
#define CALLOUT_LINUX_TIMER(former, present)	present
#define __init_timer(timer, fn, flags)		__timer_init(timer, fn, flags)
#define __init_timer_on_stack(timer, fn, flags)				\
	__timer_init_on_stack(timer, fn, flags)
#else
#define CALLOUT_LINUX_TIMER(former, present)	former
#define __timer_init(timer, fn, flags)		__init_timer(timer, fn, flags)
#define __timer_init_on_stack(timer, fn, flags)				\
	__init_timer_on_stack(timer, fn, flags)
#endif

/* container_of(), whose message for a wrong type does not name the cause. */
#define CALLOUT_TIMER_CONTAINER(var, callback_timer, member)		\
({									\
	static_assert(__same_type(*(callback_timer),			\
				  ((typeof(var))0)->member) ||		\
		      __same_type(*(callback_timer), void),		\
		      "one of the two timers was declared before "	\
		      "<linux/callout_timer.h>, and is the kernel's: "	\
		      "include it before that structure, or give the "	\
		      "handler a callout_linux_timer_t *");		\
	(typeof(var))((void *)(callback_timer) -			\
		      offsetof(typeof(*(var)), member));		\
})
#undef from_timer
#define from_timer(var, callback_timer, timer_fieldname)		\
	CALLOUT_TIMER_CONTAINER(var, callback_timer, timer_fieldname)
#undef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname)	\
	CALLOUT_TIMER_CONTAINER(var, callback_timer, timer_fieldname)

/* Choose between two functions by the type of @timer. */
#define CALLOUT_TIMER_CALL(timer, callouts, linuxs)			\
	_Generic((timer),						\
		 struct callout_timer *: callouts,			\
		 callout_linux_timer_t *: linuxs)

#define CALLOUT_TIMER_INIT(timer, fn, flags, name, key)			\
	CALLOUT_TIMER_CALL(timer, callout_timer_init_key,		\
			   CALLOUT_LINUX_TIMER(init_timer_key,		\
					       timer_init_key))		\
	(timer, fn, flags, name, key)
#define init_timer_key(timer, fn, flags, name, key)			\
	CALLOUT_TIMER_INIT(timer, fn, flags, name, key)
#define timer_init_key(timer, fn, flags, name, key)			\
	CALLOUT_TIMER_INIT(timer, fn, flags, name, key)

#define CALLOUT_TIMER_INIT_ON_STACK(timer, fn, flags, name, key)	\
	CALLOUT_TIMER_CALL(timer, callout_timer_init_key_on_stack,	\
			   CALLOUT_LINUX_TIMER(init_timer_on_stack_key,	\
					       timer_init_key_on_stack)) \
	(timer, fn, flags, name, key)
#define init_timer_on_stack_key(timer, fn, flags, name, key)		\
	CALLOUT_TIMER_INIT_ON_STACK(timer, fn, flags, name, key)
#define timer_init_key_on_stack(timer, fn, flags, name, key)		\
	CALLOUT_TIMER_INIT_ON_STACK(timer, fn, flags, name, key)

#define CALLOUT_TIMER_DESTROY(timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_destroy_on_stack,	\
			   CALLOUT_LINUX_TIMER(destroy_timer_on_stack,	\
					       timer_destroy_on_stack))	\
	(timer)
#define destroy_timer_on_stack(timer)	CALLOUT_TIMER_DESTROY(timer)
#define timer_destroy_on_stack(timer)	CALLOUT_TIMER_DESTROY(timer)

#define timer_pending(timer)						\
	_Generic((timer),						\
		 struct callout_timer *: callout_timer_pending,		\
		 const struct callout_timer *: callout_timer_pending,	\
		 callout_linux_timer_t *: timer_pending,		\
		 const callout_linux_timer_t *: timer_pending)(timer)

#define add_timer(timer)						\
	CALLOUT_TIMER_CALL(timer, callout_timer_add, add_timer)(timer)
#define add_timer_local(timer)						\
	CALLOUT_TIMER_CALL(timer, callout_timer_add_local,		\
			   add_timer_local)(timer)
#define add_timer_global(timer)						\
	CALLOUT_TIMER_CALL(timer, callout_timer_add_global,		\
			   add_timer_global)(timer)
#define add_timer_on(timer, cpu)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_add_on,			\
			   add_timer_on)(timer, cpu)

#define mod_timer(timer, expires)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_mod,			\
			   mod_timer)(timer, expires)
#define mod_timer_pending(timer, expires)				\
	CALLOUT_TIMER_CALL(timer, callout_timer_mod_pending,		\
			   mod_timer_pending)(timer, expires)
#define timer_reduce(timer, expires)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_reduce,			\
			   timer_reduce)(timer, expires)

#define CALLOUT_TIMER_DELETE(timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_delete,			\
			   CALLOUT_LINUX_DELETE)(timer)
#define timer_delete(timer)		CALLOUT_TIMER_DELETE(timer)
#define del_timer(timer)		CALLOUT_TIMER_DELETE(timer)

#define CALLOUT_TIMER_DELETE_SYNC(timer)				\
	CALLOUT_TIMER_CALL(timer, callout_timer_delete_sync,		\
			   CALLOUT_LINUX_DELETE_SYNC)(timer)
#define timer_delete_sync(timer)	CALLOUT_TIMER_DELETE_SYNC(timer)
#define del_timer_sync(timer)		CALLOUT_TIMER_DELETE_SYNC(timer)
#define del_singleshot_timer_sync(timer) CALLOUT_TIMER_DELETE_SYNC(timer)

#define CALLOUT_TIMER_DELETE_TRY(timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_delete_sync_try,	\
			   CALLOUT_LINUX_TIMER(try_to_del_timer_sync,	\
					       timer_delete_sync_try))	\
	(timer)
#define timer_delete_sync_try(timer)	CALLOUT_TIMER_DELETE_TRY(timer)
#define try_to_del_timer_sync(timer)	CALLOUT_TIMER_DELETE_TRY(timer)

#define timer_shutdown(timer)						\
	CALLOUT_TIMER_CALL(timer, callout_timer_shutdown,		\
			   timer_shutdown)(timer)
#define timer_shutdown_sync(timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_shutdown_sync,		\
			   timer_shutdown_sync)(timer)

/* net/sock.h: a socket's timer holds a reference to the socket while it is pending. */
#ifdef CONFIG_NET
static inline void callout_timer_sk_reset(struct sock *sk,
					  struct callout_timer *timer,
					  unsigned long expires)
{
	if (!callout_timer_mod(timer, expires))
		sock_hold(sk);
}

static inline void callout_timer_sk_stop(struct sock *sk,
					 struct callout_timer *timer)
{
	if (callout_timer_delete(timer))
		__sock_put(sk);
}

static inline void callout_timer_sk_stop_sync(struct sock *sk,
					      struct callout_timer *timer)
{
	if (callout_timer_delete_sync(timer))
		__sock_put(sk);
}

#define sk_reset_timer(sk, timer, expires)				\
	CALLOUT_TIMER_CALL(timer, callout_timer_sk_reset,		\
			   sk_reset_timer)(sk, timer, expires)
#define sk_stop_timer(sk, timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_sk_stop,		\
			   sk_stop_timer)(sk, timer)
#define sk_stop_timer_sync(sk, timer)					\
	CALLOUT_TIMER_CALL(timer, callout_timer_sk_stop_sync,		\
			   sk_stop_timer_sync)(sk, timer)
#endif

/* Programs that check source code only need the struct's new name. */
#if defined(__CHECKER__) || defined(__GENKSYMS__)
#define timer_list callout_timer
#else

/*
 * The location of the kernel's headers is known from this header: all its lines are
 * calls of a macro, one of them is used, and __FILE__ there is the header's path.
 * gcc compares strings at compile time. clang's constants are numbers, so with
 * clang the path of the kernel's tree is identified by its length and its last 12
 * characters.
 */
#define CALLOUT_TREE_LENGTH	CALLOUT_LENGTH_SD_BALANCE_NEWIDLE
#define SD_FLAG(flag, ...)						\
	enum {								\
		CALLOUT_LENGTH_##flag = sizeof(__FILE__) -		\
			sizeof("include/linux/sched/sd_flags.h")	\
	};								\
	CALLOUT_TREE_DECLARE(flag)

/* The rest of the path of the file being read, from @n on; "/" if nothing is left. */
#define CALLOUT_FILE_FROM(n)						\
	(&(__FILE__ "/")[(n) < sizeof(__FILE__) ? (n) : sizeof(__FILE__) - 1])

#ifdef __clang__
#define CALLOUT_CONSTANT(e)	(__builtin_constant_p(e) ? (e) : 0)
#define CALLOUT_FILE_CHAR(n)	((unsigned int)CALLOUT_FILE_FROM(n)[0] % 128)
#define CALLOUT_FILE_CHARS(n)						\
	CALLOUT_CONSTANT(CALLOUT_FILE_CHAR(n) |				\
			 CALLOUT_FILE_CHAR((n) + 1U) << 7 |		\
			 CALLOUT_FILE_CHAR((n) + 2U) << 14 |		\
			 CALLOUT_FILE_CHAR((n) + 3U) << 21)
#define CALLOUT_TREE_DECLARE(flag)					\
	enum {								\
		CALLOUT_CHARS_4_##flag =				\
			CALLOUT_FILE_CHARS(CALLOUT_LENGTH_##flag - 4U),	\
		CALLOUT_CHARS_8_##flag =				\
			CALLOUT_FILE_CHARS(CALLOUT_LENGTH_##flag - 8U),	\
		CALLOUT_CHARS_12_##flag =				\
			CALLOUT_FILE_CHARS(CALLOUT_LENGTH_##flag - 12U)	\
	};
#define CALLOUT_FILE_IN_TREE						\
	(CALLOUT_FILE_CHARS(CALLOUT_TREE_LENGTH - 4U) ==		\
	 CALLOUT_CHARS_4_SD_BALANCE_NEWIDLE &&				\
	 CALLOUT_FILE_CHARS(CALLOUT_TREE_LENGTH - 8U) ==		\
	 CALLOUT_CHARS_8_SD_BALANCE_NEWIDLE &&				\
	 CALLOUT_FILE_CHARS(CALLOUT_TREE_LENGTH - 12U) ==		\
	 CALLOUT_CHARS_12_SD_BALANCE_NEWIDLE)
#else
#define CALLOUT_CONSTANT(e)	(e)
#define CALLOUT_TREE_DECLARE(flag)					\
	static const char callout_file_##flag[] __maybe_unused = __FILE__;
#define CALLOUT_FILE_IN_TREE						\
	(!__builtin_strncmp(__FILE__, callout_file_SD_BALANCE_NEWIDLE,	\
			    CALLOUT_TREE_LENGTH))
#endif

#include <linux/sched/sd_flags.h>
#undef SD_FLAG

#define CALLOUT_FILE_BEGINS(n, name)					\
	(!__builtin_strncmp(CALLOUT_FILE_FROM(n), name, sizeof(name) - 1))
#define CALLOUT_FILE_IN_INCLUDE(n)					\
	(CALLOUT_FILE_BEGINS(n, "include/") ||				\
	 (CALLOUT_FILE_BEGINS(n, "arch/") &&				\
	  !__builtin_strncmp(__builtin_strchr(CALLOUT_FILE_FROM((n) + 5U), '/'), \
			     "/include/", sizeof("/include/") - 1)))
#define CALLOUT_FILE_IS_LINUXS						\
	CALLOUT_CONSTANT(CALLOUT_FILE_IN_TREE &&			\
			 CALLOUT_FILE_IN_INCLUDE(CALLOUT_TREE_LENGTH))

/*
 * After "struct" an assertion fits only in an attribute that has no effect where
 * the struct is not defined: aligned(1), as in the definition. An assertion
 * declares a struct in a list of parameters. The compiler would warn of that, but
 * not in a macro of a system header.
 */
#pragma GCC system_header
#define timer_list							\
	__attribute__((__aligned__(sizeof(struct {			\
		char size;						\
		_Static_assert(sizeof(char[CALLOUT_FILE_IS_LINUXS ? 2 : 1]) == 1, \
			       __FILE__ " belongs to the kernel: include it " \
			       "before <linux/callout_timer.h>");	\
	})))) callout_timer

#endif

#endif /* _LINUX_CALLOUT_TIMER_H */
