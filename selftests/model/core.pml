/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core.pml - arm, stop, drain, migrate, expire, hotplug and unload, for spin
 *
 * A configuration, -DCONFIG_NAME, has a few threads that race in two or three functions of
 * module/core/arm.c, stop.c, run.c, expiry.c, base.c and cpu.c, and is searched
 * exhaustively: scripts/check/model.sh. Names are the code's. -DBUG_NAME makes one mistake.
 *
 * A step is atomic. A hold of a base's lock is one step or several. In between
 * base.locked is set, and a thread that wants the lock waits. A read without
 * the lock, or under another lock, is a separate step: node.cpu in co_lock(),
 * run_seq in co_wait_seq(), stage when the handler has ended. A spin is a step
 * that waits. There are no interrupts: interleavings that disabling them
 * excludes on one CPU are possible here.
 *
 * The scheme is a set: node.list says in which base's set the callout is, and each
 * due callout may come first. The clock has LAST ticks. The last tick stands for
 * all later ticks.
 *
 * The properties checked, by the words of the assertion:
 *
 *	started, live		a handler starts once for each setting that was not
 *				cancelled
 *	func			stop returned 1 or -1: the handler does not run
 *	inside			drain has returned: the core is done with the callout
 *	freed			the core does not touch a callout that may be freed
 *	list			a callout is in one set, the set of node.cpu
 *	lost			at the end no callout is pending without a tick to come
 *	stuck			at the end each thread has returned: no deadlock
 */

/* The configurations: the racing threads. The first line says what a handler does. */

/* stop and reset against the handler, which sets its callout again */
#ifdef CONFIG_stop
#define SETS
#define STOPS
#define REARM_OWN
#define REARMS	1
#define CONFIG	set(0, 0); threads = 2; run softirq(0, true, true); \
		run setter(0, NONE, 1, 1); run stopper(0, 2)
#endif

/* Timer and tasklet of one base on two CPUs. */
#ifdef CONFIG_twice
#define SETS
#define STOPS
#define NODES	2
#define CONFIG	set(0, 0); set(1, 0); threads = 2; run setter(0, NONE, 1, 1); \
		run stopper(1, 1); \
		run softirq(0, true, false); run softirq(0, false, true)
#endif

/* The handler sets its callout again, twice; drain, then free. */
#ifdef CONFIG_drain
#define DRAINS
#define REARM_OWN
#define REARMS	2
#define FREES
#define CONFIG	set(0, 0); threads = 1; run softirq(0, true, true); \
		run drainer(0, 1, false)
#endif

/* Two drains, and a thread that sets the callout concurrently. */
#ifdef CONFIG_drains
#define SETS
#define DRAINS
#define REARM_OWN
#define REARMS	1
#define CONFIG	set(0, 0); threads = 3; run softirq(0, true, true); \
		run setter(0, NONE, 1, 1); run drainer(0, 1, false); \
		run drainer(0, 2, false)
#endif

/* Two callouts, whose handlers set each other, are shut down and freed. */
#ifdef CONFIG_shutdown
#define DRAINS
#define NODES	2
#define REARM_OTHER
#define REARMS	2
#define CONFIG	set(0, 0); threads = 2; run softirq(0, true, true); \
		run drainer(0, 1, true); run drainer(1, 2, true)
#endif

/* callout_async_drain(), twice, and settings */
#ifdef CONFIG_async
#define SETS
#define ASYNC
#define REARM_OWN
#define REARMS	1
#define CONFIG	set(0, 0); threads = 3; run softirq(0, true, true); \
		run async_drainer(0); run async_drainer(0); \
		run setter(0, NONE, 1, 1)
#endif

/* An associated lock: stop and reset by its holder, drain by another. */
#ifdef CONFIG_lock
#define SETS
#define STOPS
#define DRAINS
#define LOCKED
#define REARM_OWN
#define REARMS	1
#define CONFIG	set(0, 0); threads = 3; run softirq(0, true, true); \
		run setter(0, NONE, 1, 1); run stopper(0, 1); \
		run drainer(0, 1, false)
#endif

/* An associated lock that the core only tries: callouts are put off. */
#ifdef CONFIG_trylock
#define SETS
#define STOPS
#define TRYLOCK
#define NODES	2
#define LAST	2
#define CONFIG	set(0, 0); set(1, 0); threads = 2; run softirq(0, true, true); \
		run setter(0, NONE, 1, 1); run stopper(1, 1); run ticker()
#endif

/* A callout moves between two CPUs, and is stopped by a third. */
#ifdef CONFIG_move
#define SETS
#define STOPS
#define BASES	2
#define CONFIG	set(0, 0); threads = 3; run softirq(0, true, true); \
		run softirq(1, true, true); run setter(0, 1, 1, 1); \
		run setter(0, 0, 1, 1); run stopper(0, 1)
#endif

/* The handler sends its callout to the other CPU: co_leave(). Drain, free. */
#ifdef CONFIG_leave
#define DRAINS
#define BASES	2
#define REARM_ON
#define REARMS	2
#define FREES
#define CONFIG	set(0, 0); threads = 1; run softirq(0, true, true); \
		run softirq(1, true, true); run drainer(0, 1, false)
#endif

/* As leave, with a stop by one thread and settings by another. */
#ifdef CONFIG_leave_stop
#define SETS
#define STOPS
#define BASES	2
#define REARM_ON
#define REARMS	1
#define CONFIG	set(0, 0); threads = 2; run softirq(0, true, true); \
		run softirq(1, true, true); run stopper(0, 1); \
		run setter(0, NONE, 1, 1)
#endif

/* Settings while expiry searches for the next tick, hold by hold. */
#ifdef CONFIG_expiry
#define SETS
#define NODES	2
#define LAST	4
#define HOLDS
#define CONFIG	set(0, 0); threads = 2; run softirq(0, true, true); run ticker(); \
		run setter(0, NONE, 2, 1); run setter(1, NONE, 1, 1)
#endif

/* CPU 1 goes offline while its callout is due, and set and stopped by CPU 0. */
#ifdef CONFIG_hotplug
#define SETS
#define STOPS
#define HOTPLUG
#define BASES	2
#define CONFIG	set(0, 1); threads = 3; run softirq(0, true, true); \
		run softirq(1, true, false); run softirq(1, false, true); \
		run hotplug(false); run setter(0, NONE, 1, 1); \
		run stopper(0, 1)
#endif

/* CPU 1 goes offline while the handler runs, which sets its callout. Drain, free. */
#ifdef CONFIG_hotplug_drain
#define DRAINS
#define HOTPLUG
#define BASES	2
#define REARM_OWN
#define REARMS	2
#define FREES
#define CONFIG	set(0, 1); threads = 2; run softirq(0, true, true); \
		run softirq(1, true, false); run softirq(1, false, true); \
		run hotplug(false); run drainer(0, 1, false)
#endif

/* CPU 1 goes offline and comes back, and callouts return home. */
#ifdef CONFIG_hotplug_back
#define SETS
#define HOTPLUG
#define BASES	2
#define REARM_OWN
#define REARMS	1
#define CONFIG	set(0, 1); threads = 2; run softirq(0, true, true); \
		run softirq(1, true, true); run hotplug(true); \
		run setter(0, 1, 1, 2)
#endif

/* CPU 1 goes offline with callouts that are put off. */
#ifdef CONFIG_hotplug_trylock
#define STOPS
#define HOTPLUG
#define BASES	2
#define TRYLOCK
#define LAST	2
#define CONFIG	set(0, 1); threads = 2; run softirq(0, true, true); \
		run softirq(1, true, true); run hotplug(false); run ticker(); \
		run stopper(0, 1)
#endif

/* Unload, while handlers set callouts, here and in the other base. */
#ifdef CONFIG_unload
#define BASES	2
#define NODES	2
#define REARM_ON
#define REARM_OTHER
#define REARMS	2
#define UNLOADS
#define CONFIG	set(0, 0); set(1, 1); threads = 1; run softirq(0, true, true); \
		run softirq(1, true, true); run unload()
#endif

/* A handler frees its callout, and another gets the memory. */
#ifdef CONFIG_reuse
#define HANDLER_FREES
#define REARMS	1
#define CONFIG	set(0, 0); threads = 1; run softirq(0, true, true); run reuser(0)
#endif

#ifndef BASES
#define BASES	1
#endif
#ifndef NODES
#define NODES	1
#endif
#ifndef LAST
#define LAST	1
#endif
#ifndef REARMS
#define REARMS	0	/* how often all handlers together set callouts */
#endif

#define NONE	7	/* no callout, no base */
#define MOVING	6	/* CALLOUT_CPU_MOVING */
#define NEVER	7	/* U64_MAX, as a tick */

/* enum callout_stage */
#define STARTED		0
#define WAITING		1
#define CANCELLED	2
#define OVER		3

/* struct callout_base. timer is the tick source's; again, that it is scheduled. */
typedef base_t {
	bool locked;
	bool online;
	bool dead;
	bool attention;
	bool expiring;
	bool drain;
	byte running;
	byte leaving;
	byte stage;
	byte run_seq;
	byte waiters;
	byte armed;
	byte now;
	byte timer;
	bool timer_runs;
	bool again;
	bool again_runs;
	bool again_off;
	bool again_killed;
	bool shut_down;
};

/* struct callout_node; its state, bit by bit. put_off is the list. */
typedef node_t {
	byte cpu;
	byte home;
	byte list;
	byte expires;
	bool pending;
	bool due;
	bool put_off;
	bool draining;
	bool shut;
	bool ran;
	bool away;
};

base_t base[BASES];
node_t node[NODES];
byte clock = 1;
byte rearms = REARMS;
bool associated;	/* the associated lock of all callouts is held */
bool cpu_gone;		/* CPU 1 is dead */
byte asleep;		/* bits: threads on a base's wait queue */

/* The state that the user may expect. */
bool live[NODES];	/* set, and neither started nor cancelled */
bool func[NODES];	/* its function is called and has not returned */
bool inside[NODES];	/* the core is between taking it and the end of the run */
bool freed[NODES];	/* may be freed */
byte drains;		/* calls owed by callout_async_drain() */
byte threads;		/* threads that have not returned */

#define is_running(b, n)	(base[b].running == (n) && RAN(n))
#ifdef BUG_no_ran
#define RAN(n)	true
#else
#define RAN(n)	node[n].ran
#endif
#define lower(x, y)	(x < y -> x : y)

/* The base of the caller: CPU 0's or 2's, or 1's while that is not dead. */
#define alive(cpu)	(cpu == 1 && cpu_gone -> 0 : cpu)

/* co_base_lock() */
#define lock(b)		!base[b].locked -> base[b].locked = true
#define unlock(b)	base[b].locked = false

/* co_program() */
inline program(B, TICK)
{
	assert(!base[B].shut_down);	/* lost: there is no CPU to wake */
	base[B].armed = lower(TICK, LAST);
	base[B].timer = base[B].armed
}

/* co_start_locked(), co_scheme_rearm(); co_started() */
inline start_locked(B, N, TICK)
{
	assert(!freed[N]);
	assert(node[N].list == NONE || node[N].list == B);
	assert(node[N].cpu == B);	/* list */
	node[N].pending = true;
	node[N].due = false;
	node[N].list = B;
	node[N].expires = TICK;
	if
	:: TICK < base[B].armed -> program(B, TICK)
	:: else
	fi
}

/* co_unqueue_locked() */
inline unqueue(B, N)
{
	assert(!freed[N]);
	assert(node[N].list == B);
	node[N].list = NONE;
	node[N].put_off = false
}

/* co_dequeue_locked() */
inline dequeue(B, N)
{
	unqueue(B, N);
	node[N].pending = false;
	node[N].due = false
}

/* co_lock_irqs_off(), co_lock_slow(): b is the base that is locked afterwards */
inline lock_node(N, B)
{
	do
	:: atomic { node[N].cpu != MOVING -> B = node[N].cpu };
	   atomic {
		!base[B].locked ->
		if
#ifdef BUG_lock_no_retry
		:: base[B].locked = true -> break
#else
		:: node[N].cpu == B -> base[B].locked = true; break
		:: else
#endif
		fi
	   }
	od
}

/* co_move_locked(): from b, which is locked, to t, which is locked then */
inline move_locked(B, N, T, CPU)
{
	atomic {
		node[N].ran = false;
		node[N].away = false;
		node[N].cpu = MOVING;
		unlock(B)
	};
#ifndef BUG_move_one_lock
	atomic { lock(T) };
	if
	:: atomic { !base[T].online && T != alive(CPU) -> unlock(T) };
	   atomic { T = alive(CPU); lock(T) }
	:: else
	fi;
#endif
	atomic {
		node[N].cpu = T;
		node[N].away = node[N].home != T
	}
}

#ifdef BUG_move_one_lock
#define unlock_moved(b)	skip
#else
#define unlock_moved(b)	unlock(b)
#endif

/*
 * co_stop_locked(): in a hold. to is 1, 0 or 2, which is -1. The setting that it
 * takes out is no longer live.
 */
inline stop_locked(B, N, TO)
{
	TO = (node[N].pending -> 1 : 2);
	if
	:: node[N].pending -> dequeue(B, N); live[N] = false
	:: else
	fi;
	if
#ifdef BUG_stop_ignores_running
	:: is_running(B, N) -> base[B].leaving = NONE
#else
	:: is_running(B, N) ->
#ifndef BUG_stop_leaves
		base[B].leaving = NONE;
#endif
		if
		:: base[B].stage < CANCELLED -> TO = 0
		:: else
		fi
#endif
	:: else
	fi
}

/* co_cancel_start(): in a hold */
inline cancel_start(B, N, DONE)
{
	if
	:: is_running(B, N) && base[B].stage == WAITING ->
		base[B].stage = CANCELLED;
		assert(live[N]);
		live[N] = false;
		DONE = true
	:: else
	fi
}

/* co_arm(), co_arm_slow(), by a caller on cpu. If target is NONE, the callout stays where it is. */
inline arm(N, TARGET, TICKS, CPU)
{
	lock_node(N, ab);
	atomic {
		cancelled = false;
		tick = lower(clock + TICKS, LAST);
		at = TARGET;
		if
		:: node[N].shut -> at = MOVING
		:: else ->
			cancel_start(ab, N, cancelled);
			if
			:: node[N].draining || (is_running(ab, N) && base[ab].drain) ->
				at = MOVING
			:: else
			fi
		fi;
		if
		:: at == MOVING -> unlock(ab)
		:: else ->
			if
			:: node[N].due -> unqueue(ab, N)
			:: else
			fi;
			if
			:: at != NONE ->
				node[N].home = at;
				node[N].away = at != ab
			:: else
			fi;
			if
			:: is_running(ab, N) ->
				/* The callout stays: see co_leave(). */
				base[ab].leaving = (node[N].away -> N : NONE);
				base[ab].attention = true;
				at = ab
			:: else ->
				node[N].ran = false;
				if
				:: at == NONE && node[N].away && base[node[N].home].online ->
					at = node[N].home
				:: at == NONE && !(node[N].away && base[node[N].home].online) ->
					at = ab
				:: else
				fi;
				if
				:: !base[at].online -> at = alive(CPU)
				:: else
				fi;
				if
				:: at != ab && node[N].pending && !node[N].due ->
					unqueue(ab, N);
					node[N].due = true
				:: else
				fi
			fi
		fi
	};
	if
	:: at == MOVING
	:: at == ab ->
		atomic {
			start_locked(at, N, tick);
			live[N] = true;
			unlock(at)
		}
#if BASES > 1
	:: else ->
		move_locked(ab, N, at, CPU);
		atomic {
			start_locked(at, N, tick);
			live[N] = true;
			unlock_moved(at)
		}
#endif
	fi
}
#define ARM_LOCALS	byte ab, at, tick; bool cancelled

/* callout_stop(), with the associated lock held if there is one */
inline stop(N)
{
	lock_node(N, sb);
	atomic {
		stop_locked(sb, N, ret);
		kept = false;
		if
		:: ret == 0 ->
			cancel_start(sb, N, kept);
			if
			:: kept -> ret = 1
			:: else
			fi
		:: else
		fi;
		assert(!live[N]);
		assert(ret == 0 || !func[N]);
#ifdef LOCKED
		/* The holder of the lock can always stop it. */
		assert(ret != 0);
#endif
		assert(ret != 0 || func[N] || inside[N]);
		unlock(sb)
	}
}
#define STOP_LOCALS	byte sb, ret; bool kept

/*
 * co_wait_for_handler(): a thread, whose bit is me, waits for the run seq of base b to
 * end; wait_event() queues it before each look at run_seq
 */
inline wait_run(B, SEQ, ME)
{
	atomic {
		lock(B);
		base[B].waiters++;
#ifndef BUG_wait_no_attention
		base[B].attention = true;
#endif
		unlock(B)
	};
	do
	:: asleep = asleep | ME;
	   if
	   :: base[B].run_seq != SEQ -> break
	   :: else -> !(asleep & ME)
	   fi
	od;
	atomic {
		lock(B);
		asleep = asleep & ~ME;
		base[B].waiters--;
		unlock(B)
	}
}

/* co_cancel_wait(): callout_drain(), and callout_shutdown() if shutting */
inline cancel_wait(N, ME, SHUTTING)
{
	lock_node(N, sb);
	atomic {
		stop_locked(sb, N, ret);
		node[N].shut = node[N].shut || SHUTTING
	};
	do
	:: atomic {
		is_running(sb, N) ->
		node[N].draining = true;
		seq = base[sb].run_seq;
		unlock(sb)
	   };
	   wait_run(sb, seq, ME);
	   lock_node(N, sb);
	   atomic { stop_locked(sb, N, ret) };
	:: else -> break
	od;
	atomic {
		node[N].draining = false;
		assert(!inside[N]);
		assert(!live[N]);
#ifdef FREES
		freed[N] = true;
#endif
		unlock(sb)
	}
}
#define DRAIN_LOCALS	byte sb, ret, seq

/* callout_async_drain() */
inline async_drain(N)
{
	lock_node(N, sb);
	atomic {
		stop_locked(sb, N, ret);
		if
		:: is_running(sb, N) ->
			ret = 0;
			if
			:: !base[sb].drain -> base[sb].drain = true; drains++
			:: else
			fi;
			base[sb].attention = true
		:: else ->
			assert(!inside[N]);
			assert(ret == 1 || ret == 2)
		fi;
		unlock(sb)
	}
}

/* co_leave(): in a hold of b, which it ends and begins again */
inline leave(B)
{
	if
	:: atomic {
		base[B].leaving != NONE ->
		ln = base[B].leaving;
		base[B].leaving = NONE;
		assert(!freed[ln]);
		lt = node[ln].home
	   };
	   if
	   :: atomic {
		base[lt].online ->
		unqueue(B, ln);
		node[ln].due = false
	      };
	      move_locked(B, ln, lt, B);
	      atomic {
		start_locked(lt, ln, node[ln].expires);
		unlock_moved(lt)
	      };
	      atomic { lock(B) }
	   :: else
	   fi
	:: else
	fi
}

/* A handler sets its own callout, on the same or on another CPU. */
inline handler(N, B)
{
	if
#ifdef REARM_OTHER
	:: atomic { rearms > 0 -> rearms-- };
	   arm((N + 1) % NODES, NONE, 1, B)
#endif
#ifdef REARM_OWN
	:: atomic { rearms > 0 -> rearms-- };
	   arm(N, NONE, 1, B)
#endif
#ifdef REARM_ON
	:: atomic { rearms > 0 -> rearms-- };
	   arm(N, (B + 1) % BASES, 1, B)
#endif
#ifdef HANDLER_FREES
	:: atomic {
		rearms > 0 ->
		rearms--;
		func[N] = false;
		inside[N] = false;
		freed[N] = true
	   }
#endif
	:: true
	fi
}

/* co_begin_tick(). The last tick stands for later ticks, a different one each time. */
inline begin_tick(B)
{
	if
	:: clock != base[B].now || clock == LAST ->
		n = 0;
		do
		:: n < NODES ->
			if
			:: node[n].list == B -> node[n].put_off = false
			:: else
			fi;
			n++
		:: n == NODES -> break
		od
	:: else
	fi;
	base[B].now = clock
}

#define is_due(b, n)	(node[n].list == (b) && !node[n].put_off && \
			 (node[n].due || node[n].expires <= base[b].now))
#ifdef BUG_dead_programs
#define GOES_ON(b)	(true)
#else
#define GOES_ON(b)	(!base[b].dead)
#endif

/*
 * co_expire() of base b: the timer's function and, with tasklet, co_again()
 */
proctype softirq(byte b; bool timer; bool tasklet)
{
	ARM_LOCALS;
	byte n, next, ln, lt;
	bool by_timer, more, did, looked;
#ifdef LOCKED
	bool started;
#endif

idle:
end_idle:
	/* co_softclock(), co_again() */
	atomic {
		if
		:: timer && base[b].timer <= clock ->
			base[b].timer = NEVER;
			base[b].timer_runs = true;
			by_timer = true
		:: tasklet && base[b].again && !base[b].again_off ->
			base[b].again = false;
			base[b].again_runs = true;
			by_timer = false
		fi;
		did = false;
		looked = false;
		more = false
	};
	/* expire() */
	atomic {
		!base[b].locked ->
		if
		:: base[b].dead || base[b].expiring -> goto ended
		:: else ->
			if
			:: by_timer && base[b].armed > clock && base[b].armed != NEVER ->
				/* A hop, or an earlier setting for an earlier tick. */
				base[b].timer = base[b].armed;
				goto ended
			:: else ->
				base[b].locked = true;
				base[b].expiring = true;
				base[b].armed = 0;
				begin_tick(b)
			fi
		fi
	};
look:	/* co_expire_due() */
	atomic {
		if
		:: is_due(b, 0) -> n = 0
		:: is_due(b, NODES - 1) -> n = NODES - 1
		:: else -> n = NODES
		fi;
		if
		:: n < NODES && (did || base[b].dead) ->
			/* At the limit, expiry continues in the tasklet. */
			more = true;
			goto out
		:: n < NODES && !base[b].dead
		:: n == NODES && !looked && clock != base[b].now ->
			looked = true;
			begin_tick(b);
			goto look
		:: n == NODES && (looked || clock == base[b].now) -> goto search
		fi
	};
	/* co_run_func() */
#ifdef TRYLOCK
	atomic {
		if
		:: associated ->
			/* co_put_off() */
			unqueue(b, n);
			node[n].due = true;
			node[n].list = b;
			node[n].put_off = true;
			unlock(b);
			goto relock
		:: else -> associated = true
		fi
	};
#endif
	/* co_take_started(), co_run_begin() */
	atomic {
		dequeue(b, n);
		node[n].ran = true;
		base[b].running = n;
		base[b].run_seq++;
		assert(!inside[n]);
		inside[n] = true;
#ifdef LOCKED
		base[b].stage = WAITING;
#else
		assert(live[n]);
		live[n] = false;
		func[n] = true;
#endif
		unlock(b)
	};
	/* co_run_with_lock() */
#ifdef LOCKED
	atomic { !associated -> associated = true };
	atomic {
		!base[b].locked ->
		started = base[b].stage == WAITING;
#ifdef BUG_stage_not_read
		started = true;
#endif
		if
		:: started ->
			base[b].stage = STARTED;
			assert(live[n]);
			live[n] = false;
			func[n] = true
		:: else
		fi
	};
	if
	:: started -> handler(n, b)
	:: else
	fi;
	func[n] = false;
#ifndef BUG_stage_not_over
	if
	:: started -> base[b].stage = OVER
	:: else
	fi;
#endif
	associated = false;
#else
	handler(n, b);
	atomic {
		func[n] = false;
#ifdef TRYLOCK
		associated = false
#endif
	};
#endif
	did = true;
	/* co_run_end() */
	atomic {
		lock(b);
		base[b].running = NONE;
#ifndef HANDLER_FREES
		inside[n] = false;
#endif
		if
		:: !base[b].attention ->
			base[b].run_seq++;
			base[b].stage = STARTED;
			goto look
		:: else
		fi
	};
	/* co_run_end_slow() */
	base[b].attention = base[b].waiters > 0;
#if BASES > 1
	leave(b);
#endif
#ifdef ASYNC
	if
	:: atomic { base[b].drain -> base[b].drain = false; unlock(b) };
	   atomic {
		/* The callout may be set by now: callout_async_drain() promises no more. */
		assert(!inside[0]);
		drains--
	   };
	   atomic { lock(b) }
	:: else
	fi;
#endif
	base[b].run_seq++;
#ifdef DRAINS
	if
	:: atomic { base[b].waiters > 0 -> unlock(b) };
	   /* expiry_wake() */
	   atomic { asleep = 0; lock(b) }
	:: else
	fi;
#endif
	base[b].stage = STARTED;
	goto look;
#ifdef TRYLOCK
relock:
	atomic { lock(b); goto look };
#endif
search:	/* co_program_next(), co_search_next(): the search takes steps */
	atomic {
		next = NEVER;
		n = 0;
		do
		:: n < NODES && node[n].list == b ->
			next = (node[n].put_off -> 0 : lower(next, node[n].expires));
			n++
		:: n < NODES && node[n].list != b -> n++
		:: n == NODES -> break
		od;
		n = 0
	};
#ifdef HOLDS
	if
	:: unlock(b);
	   /* co_relock(): the search continues, in the callouts that are there by now */
	   atomic { lock(b) };
#ifndef BUG_search_not_repeated
	   goto search
#endif
	:: true
	fi;
#endif
	atomic {
		if
		:: !GOES_ON(b)
		:: GOES_ON(b) && next == NEVER -> base[b].armed = NEVER
		:: GOES_ON(b) && next != NEVER ->
			if
			:: next <= base[b].now -> program(b, base[b].now + 1)
			:: else -> program(b, next)
			fi
		fi
	};
out:
	atomic {
		base[b].expiring = false;
		unlock(b)
	};
ended:
	atomic {
		base[b].again = base[b].again || more && !base[b].again_killed;
		base[b].timer_runs = base[b].timer_runs && !by_timer;
		base[b].again_runs = base[b].again_runs && by_timer;
		goto idle
	}
}

#if LAST > 1
/* The clock. */
proctype ticker()
{
	do
	:: clock < LAST -> clock++
	:: else -> break
	od
}
#endif

#ifdef SETS
proctype setter(byte n, target; byte ticks, times)
{
	ARM_LOCALS;

	do
	:: times > 0 ->
#if defined(LOCKED) || defined(TRYLOCK)
		atomic { !associated -> associated = true };
#endif
		arm(n, target, ticks, 0);
#if defined(LOCKED) || defined(TRYLOCK)
		associated = false;
#endif
		times--
	:: else -> break
	od;
	threads--
}
#endif

#ifdef STOPS
proctype stopper(byte n, times)
{
	STOP_LOCALS;

	do
	:: times > 0 ->
#if defined(LOCKED) || defined(TRYLOCK)
		atomic { !associated -> associated = true };
#endif
		stop(n);
#if defined(LOCKED) || defined(TRYLOCK)
		associated = false;
#endif
		times--
	:: else -> break
	od;
	threads--
}
#endif

#ifdef DRAINS
proctype drainer(byte n, me; bool shutting)
{
	DRAIN_LOCALS;

	cancel_wait(n, me, shutting);
	threads--
}
#endif

#ifdef ASYNC
proctype async_drainer(byte n)
{
	byte sb, ret;

	async_drain(n);
	threads--
}
#endif

#ifdef HANDLER_FREES
/*
 * The handler of the callout that was here has freed it. This is another
 * callout, at the same address.
 */
proctype reuser(byte n)
{
	ARM_LOCALS;
	STOP_LOCALS;

	if
	:: atomic {
		freed[n] ->
		/* callout_init() */
		freed[n] = false;
		node[n].ran = false
	   };
	   arm(n, NONE, 1, 0);
	   stop(n)
	:: true
	fi;
	threads--
}
#endif

/* co_take_over(): the set of callouts that it finds */
#define is_left(n)	(node[n].list == 1)

/* co_base_evacuate(): CPU 1's base, to CPU 0's; a hold for each callout */
inline evacuate()
{
#ifndef BUG_evacuate_tasklet
	base[1].again_off = true;
	!base[1].again_runs;
#endif
	atomic {
		!base[1].timer_runs ->
		base[1].timer = NEVER;
		base[1].shut_down = true
	};
	do
	:: atomic { lock(0) };
#ifndef BUG_evacuate_one_lock
	   atomic { lock(1) };
#endif
	   atomic {
		if
		:: is_left(0) -> n = 0
		:: is_left(NODES - 1) -> n = NODES - 1
		:: else -> n = NONE
		fi;
		if
		:: n != NONE -> unqueue(1, n)
		:: else
		fi
	   };
	   atomic {
		if
		:: n != NONE ->
			node[n].due = false;
			node[n].ran = false;
			node[n].away = node[n].home != 0;
			node[n].cpu = 0;
			start_locked(0, n, node[n].expires)
		:: else -> base[1].armed = NEVER
		fi;
#ifndef BUG_evacuate_one_lock
		unlock(1);
#endif
		unlock(0);
		if
		:: n == NONE -> break
		:: else
		fi
	   }
	od;
	base[1].again_off = false
}

#ifdef HOTPLUG
/* CPU 1 goes offline: co_cpu_offline(), co_cpu_dead(); and may come back */
proctype hotplug(bool back)
{
	byte n;

	/* co_base_set_online() */
	atomic { lock(1); base[1].online = false; unlock(1) };
	cpu_gone = true;
	evacuate();
	if
	:: back ->
		atomic { cpu_gone = false; base[1].shut_down = false };
		atomic { lock(1); base[1].online = true; unlock(1) }
	:: else
	fi;
	threads--
}
#endif

#ifdef UNLOADS
/* co_cpus_kill(): co_base_kill() of each; then co_base_destroy() */
proctype unload()
{
	byte b;

	do
	:: b < BASES ->
		atomic {
			lock(b);
			base[b].dead = true;
			base[b].attention = true;
#ifndef BUG_kill_armed
			base[b].armed = 0;
#endif
			unlock(b)
		};
		atomic {
			!base[b].timer_runs ->
			base[b].timer = NEVER;
			base[b].shut_down = true
		};
		/* tasklet_kill(): from the first step on it cannot be queued */
		atomic { !base[b].again -> base[b].again_killed = true };
		atomic { !base[b].again_runs -> base[b].again_killed = false };
		b++
	:: else -> break
	od;
	b = 0;
	do
	:: b < BASES ->
		assert(!base[b].locked && base[b].running == NONE);
		assert(base[b].timer == NEVER && !base[b].again);
		b++
	:: else -> break
	od;
	threads--
}
#endif

/* The conditions that must hold when no further step is possible. */
proctype end()
{
	bool lost, stuck;
	byte n;

	timeout;
	atomic {
		stuck = threads > 0 || drains > 0;
#ifndef UNLOADS
		do
		:: n < NODES -> lost = lost || live[n] || node[n].pending; n++
		:: else -> break
		od;
#endif
		n = 0;
		do
		:: n < BASES -> stuck = stuck || base[n].locked || base[n].expiring; n++
		:: else -> break
		od;
		assert(!stuck);
		assert(!lost)
	}
}

/* A callout that was set for the first tick, in base b. */
inline set(N, B)
{
	node[N].cpu = B;
	node[N].home = B;
	start_locked(B, N, 1);
	live[N] = true
}

init {
	byte n;

	atomic {
		do
		:: n < BASES ->
			base[n].online = true;
			base[n].running = NONE;
			base[n].leaving = NONE;
			base[n].armed = NEVER;
			base[n].timer = NEVER;
			n++
		:: else -> break
		od;
		n = 0;
		do
		:: n < NODES -> node[n].list = NONE; n++
		:: else -> break
		od;
		CONFIG;
		run end()
	}
}
