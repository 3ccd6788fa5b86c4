/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file.pml - a slot of the device, its handle, and threads that wait for events, for
 * spin
 *
 * As core.pml, of module/device/event.c, op.c, file.c and module/handles/table.c. There is one
 * base, whose lock is outside callout_file.lock, except where free slots are stolen.
 *
 * The properties checked, by the words of the assertion:
 *
 *	mine		a cancel that succeeds cancels the setting that its handle names
 *	ended		no setting fires, and no reader takes its event, after it was cancelled
 *	states		a slot is free, pending, ready, or a reader's
 *	unread		callout_file.unread is the length of the ready list
 *	books		D4: set = cancelled + withdrawn + delivered + outstanding
 *	freed		a file that is freed is not touched
 *	sleeps		at the end no reader sleeps while there is an event
 *	missed		a search finds a free slot if a slot is free all the time
 *	stuck		at the end each thread has returned
 */

/* CANCEL, by two, an expiry, a reader whose copy may fail, and SET, which reuses it */
#ifdef CONFIG_slot
#define CONFIG	set(); threads = 4; run expiry(2); run reader(2); run setter(1); \
		run canceller(0, 1)
#define SLOT
#define SETS
#endif

/* Two cancels and two readers of one event. */
#ifdef CONFIG_cancels
#define CONFIG	set(); threads = 5; run expiry(1); run reader(1); run reader(1); \
		run canceller(0, 1); run canceller(0, 1)
#define SLOT
#endif

/* A periodic callout, that SET moves and CANCEL cancels. */
#ifdef CONFIG_period
#define CONFIG	set(); threads = 4; run expiry(2); run reader(2); run canceller(0, 1); \
		run resetter(0)
#define SLOT
#define PERIOD
#define RESETS
#endif

/* Two readers, one of which may be interrupted, and two events. */
#ifdef CONFIG_wait
#define CONFIG	threads = 3; run source(2); run waiter(1, true); run waiter(2, false)
#define WAIT
#endif

/* close() during an expiry. */
#ifdef CONFIG_close
#define CONFIG	set(); threads = 2; run expiry(1); run closer()
#define SLOT
#define CLOSES
#endif

/* Two CPUs without free slots, and another that has two. */
#ifdef CONFIG_steal
#define CONFIG	cpu[0] = 1; cpu[1] = 1; threads = 3; run thief(0); run thief(2); \
		run stale(0)
#define STEAL
#endif

#define MOVING	7
#define NONE	6
#define SLOTS	2
#define CPUS	3

byte threads;

#ifdef SLOT
bool base_locked;	/* callout_base.lock */
bool file_locked;	/* callout_file.lock */
bool rcu;		/* the expiry's read-side critical section */
bool file_freed;
byte unread;

/* struct callout_slot; of its flags, READY, REPEAT and MOVED */
bool pending, ready, repeat, moved, is_free;
byte handle;		/* its generation */
byte setting;		/* the setting; settings are numbered, as handles are */
byte held;		/* held by readers that have detached it */

byte sets = 0, cancelled, withdrawn, delivered;
bool ended[4];

#define lock_base	!base_locked -> base_locked = true
#define unlock_base	base_locked = false
#define lock_file	!file_locked -> file_locked = true
#define unlock_file	file_locked = false

inline check()
{
	assert(unread == ready);
	assert(is_free + pending + ready + held == 1)	/* states */
}

/* co_slot_put(), co_slot_renew() */
inline put()
{
	pending = false;
	ready = false;
	repeat = false;
	moved = false;
	is_free = true;
#ifndef BUG_handle_kept
	handle++
#endif
}

/* file_start() */
inline set()
{
	is_free = false;
	pending = true;
	sets++;
	setting = sets - 1
}

/* co_file_set() */
#ifdef SETS
proctype setter(byte times)
{
	do
	:: times > 0 ->
		if
		:: atomic { is_free && !base_locked -> base_locked = true };
		   atomic { set(); check(); unlock_base }
		:: true
		fi;
		times--
	:: else -> break
	od;
	threads--
}
#endif

/* events_expire() */
proctype expiry(byte times)
{
	bool wake;

	do
	:: times > 0 ->
		rcu = true;
		atomic { lock_base };
		if
		:: pending ->
			atomic { lock_file };
			atomic {
				assert(!ended[setting]);
				pending = false;
				ready = true;
				wake = unread == 0;
				unread++;
				check();
				unlock_file
			};
			unlock_base;
			if
			:: wake -> assert(!file_freed)	/* file_wake() */
			:: else
			fi
		:: else -> unlock_base
		fi;
		rcu = false;
		times--
	:: else -> break
	od;
	threads--
}

/* co_file_read(): events_detach(), events_attach(), events_finish() */
proctype reader(byte times)
{
	bool taken, periodic, stale, copied;

	do
	:: times > 0 ->
		/* events_detach() */
		atomic {
			!file_locked ->
			taken = ready;
			if
			:: ready ->
				assert(!ended[setting]);
				ready = false;
				moved = false;
				unread--;
				held++;
#ifdef PERIOD
				repeat = true;
				periodic = true;
#endif
				check()
			:: else
			fi
		};
		if
		:: taken ->
			/* events_put(): the copy may fail */
			if
			:: copied = true
			:: copied = false
			fi;
			stale = false;
			if
			:: !copied ->
				/* events_attach() */
				atomic {
					!file_locked ->
#ifdef BUG_attach_not_stale
					stale = false;
#else
					stale = periodic && (!repeat || moved);
#endif
					if
					:: !stale ->
						assert(!ended[setting]);
						repeat = false;
						ready = true;
						unread++;
						held--;
						check()
					:: else
					fi
				}
			:: else
			fi;
			if
			:: copied || stale ->
				/* events_finish(), slot_repeat() */
				atomic { lock_base };
				atomic {
					held--;
					if
#ifdef BUG_repeat_not_read
					:: periodic ->
#else
					:: periodic && repeat ->
#endif
						pending = true
					:: else ->
						delivered = delivered + !periodic;
						ended[setting] = true;
						put()
					fi;
					check();
					unlock_base
				}
			:: else
			fi
		:: else
		fi;
		taken = false;
		times--
	:: else -> break
	od;
	threads--
}

/* co_file_withdraw(): the base is locked; did is 0, -ENOENT, 1 or 2 */
inline withdraw(DID)
{
#ifdef BUG_withdraw_unlocked
	DID = (ready -> 1 : (repeat -> 2 : 0));
#else
	atomic { lock_file };
#endif
	atomic {
#ifndef BUG_withdraw_unlocked
		DID = (ready -> 1 : (repeat -> 2 : 0));
#endif
		if
		:: DID == 1 ->
			ready = false;
			unread--;
			held++
		:: DID == 2 -> repeat = false
		:: else
		fi;
#ifndef BUG_withdraw_unlocked
		unlock_file
#endif
	}
}

/* co_file_unset(), ctx_lock_slot(), file_cancel() */
proctype canceller(byte mine, times)
{
	byte did;

	do
	:: times > 0 ->
		atomic { lock_base };
		if
		:: handle != mine -> unlock_base
		:: handle == mine && pending ->
			atomic {
				assert(setting == mine);
				ended[setting] = true;
				cancelled++;
				put();
				check();
				unlock_base
			}
		:: handle == mine && !pending ->
			withdraw(did);
			atomic {
				if
				:: did > 0 ->
					assert(setting == mine);
					ended[setting] = true;
					cancelled = cancelled + (did == 2);
					withdrawn = withdrawn + (did == 1)
				:: else
				fi;
				if
				:: did == 1 -> held--; put(); check()
				:: else
				fi;
				unlock_base
			}
		fi;
		times--
	:: else -> break
	od;
	threads--
}

/* co_file_reset(), file_reset_slow(), file_reset_detached() */
#ifdef RESETS
proctype resetter(byte mine)
{
	byte did;

	atomic { lock_base };
	if
	:: handle == mine && !pending && (ready || repeat) ->
		withdraw(did);
		if
		:: did == 1 -> atomic { held--; pending = true; check() }
		:: did == 2 ->
			/* The base has been locked throughout. */
			atomic { lock_file; repeat = true; moved = true; unlock_file }
		:: else
		fi
	:: else
	fi;
	unlock_base;
	threads--
}
#endif

/* co_file_destroy(), file_free() */
#ifdef CLOSES
proctype closer()
{
	atomic {
		lock_base;
		if
		:: pending -> cancelled++; put()
		:: else
		fi;
		unlock_base
	};
#ifndef BUG_close_no_grace
	/* queue_rcu_work() */
	!rcu;
#endif
	file_freed = true;
	threads--
}
#endif
#endif /* SLOT */

#ifdef WAIT
byte unread;
byte asleep;		/* bits: threads on callout_file.readers that are not woken yet */

/* wake_up() of exclusive waiters: one of them */
inline wake_up()
{
	if
	:: asleep & 1 -> asleep = asleep & ~1
	:: asleep & 2 -> asleep = asleep & ~2
	:: asleep == 0
	fi
}

/* events_expire(), for events that are not due together */
proctype source(byte times)
{
	bool wake;

	do
	:: times > 0 ->
		atomic { wake = unread == 0; unread++ };
		if
		:: wake -> atomic { wake_up() }
		:: else
		fi;
		times--
	:: else -> break
	od;
	threads--
}

/* co_file_read(), with room for one event; events_wait(), events_copy() */
proctype waiter(byte me; bool interrupted)
{
	bool waited, taken, wake;

	do
	:: /* events_copy(): events_detach() */
	   atomic {
		taken = unread > 0;
		unread = unread - taken
	   };
	   if
	   :: taken ->
		if
		:: waited && unread > 0 -> atomic { wake_up() }
		:: else
		fi;
		if
		:: break
		:: /* The copy fails: events_attach(). */
		   atomic { wake = unread == 0; unread++ };
#ifndef BUG_attach_not_woken
		   if
		   :: wake -> atomic { wake_up() }
		   :: else
		   fi;
#endif
		   break
		fi
	   :: else
	   fi;
	   /* events_wait() */
	   waited = true;
	   do
	   :: asleep = asleep | me;
	      if
	      :: unread > 0 -> asleep = asleep & ~me; break
	      :: else
	      fi;
	      if
	      :: !(asleep & me)
	      :: atomic { interrupted -> asleep = asleep & ~me; taken = true; break }
	      fi
	   od;
#ifndef BUG_interrupted_leaves
	   if
	   :: taken && unread == 0 -> break
	   :: else -> taken = false
	   fi
#else
	   if
	   :: taken -> threads--; goto left
	   :: else
	   fi
#endif
	od;
	/* Events that came, or came back, are for the next waiter. */
	if
	:: waited && unread > 0 -> atomic { wake_up() }
	:: else
	fi;
	threads--;
left:	skip
}
#endif

#ifdef STEAL
bool locked[CPUS];	/* the bases */
bool stealing;		/* callout_table.steal */
byte cpu[SLOTS];	/* node.cpu; for a free slot, the base of its pool */
bool used[SLOTS];
byte handle[SLOTS];

/* co_slot_get() in a hold of base B */
inline get(B, GOT)
{
	if
	:: !used[0] && cpu[0] == B -> used[0] = true; GOT = true
	:: !(!used[0] && cpu[0] == B) && !used[1] && cpu[1] == B ->
		used[1] = true;
		GOT = true
	:: else
	fi
}

/* handle_set(), co_slot_steal(), pool_take(), pool_give() */
proctype thief(byte me)
{
	byte other;
	bool got, first, second;

	atomic {
		!locked[me] -> get(me, got);
		if
		:: got -> goto done
		:: else
		fi
	};
#ifndef BUG_steal_unserialised
	atomic { !stealing -> stealing = true };
#endif
	do
	:: other < CPUS ->
		if
		:: other != me ->
			atomic {
				!locked[other] ->
				first = !used[0] && cpu[0] == other;
				second = !used[1] && cpu[1] == other;
				cpu[0] = (first -> MOVING : cpu[0]);
				cpu[1] = (second -> MOVING : cpu[1])
			}
		:: else
		fi;
		if
		:: first || second -> break
		:: else -> other++
		fi
	:: else -> break
	od;
	atomic { !locked[me] -> locked[me] = true };
	atomic {
		cpu[0] = (first -> me : cpu[0]);
		cpu[1] = (second -> me : cpu[1]);
		get(me, got)
	};
	stealing = false;
	locked[me] = false;
done:
	/* Two slots, and two threads that look for a slot. */
	assert(got);	/* missed */
	threads--
}

/* co_lock_slow() with a stale handle: a thread that passes holds the slot's base */
proctype stale(byte n)
{
	byte b;

	do
	:: atomic { cpu[n] != MOVING -> b = cpu[n] };
	   atomic {
		!locked[b] ->
		if
#ifdef BUG_steal_no_retry
		:: true -> locked[b] = true; break
#else
		:: cpu[n] == b -> locked[b] = true; break
		:: else
#endif
		fi
	   }
	od;
	assert(cpu[n] == b);
	locked[b] = false;
	threads--
}
#endif

proctype end()
{
	bool stuck, sleeps, books;

	timeout;
	atomic {
#ifdef WAIT
		sleeps = unread > 0 && asleep > 0;
		assert(!sleeps);
		/* A sleeping reader has no event to read. */
		stuck = threads > 0 && !asleep;
#else
		stuck = threads > 0;
#endif
		assert(!stuck);
#ifdef SLOT
		books = sets == cancelled + withdrawn + delivered + (1 - is_free);
		assert(books)
#endif
	}
}

init {
	atomic {
		CONFIG;
		run end()
	}
}
