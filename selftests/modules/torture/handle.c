// SPDX-License-Identifier: GPL-2.0
/*
 * handle.c - torture of callouts by handle: setcallout(), timeout()
 *
 * A seat has the handle that was set there last. Any thread or handler cancels
 * the handle of a seat, which may be outstanding, running, or stale. Each
 * setting has a separately allocated ticket, freed by the handler, or by the
 * caller of the unsetcallout() that returned 1: never by both. A thread that
 * waits with unsetcallout_sync() frees its own ticket. At the end
 *
 *	settings == runs + cancels that returned 1
 *
 * and likewise for timeout(), for each pair of function and argument.
 */
#include <linux/slab.h>
#include <linux/smp.h>
#include "torture.h"

#define NR_SEATS	32U
#define NR_PAIRS	16U

/* The maximum number of callouts that may be outstanding with one function and argument. */
#define MAX_SAME	64

/**
 * struct torture_seat - a setting that any thread may cancel
 * @lock: protects the other fields
 * @handle: its handle
 * @ticket: the handler's argument; must not be dereferenced
 */
struct torture_seat {
	raw_spinlock_t lock;
	callout_handle_t handle;
	void *ticket;
};

/**
 * struct torture_ticket - the argument of a callout set by handle
 * @runs: times its handler has run
 * @owner_frees: a thread waits for it and frees it
 * @ambush: that thread waits for the handler to run
 * @cancels: that thread is about to cancel it
 * @handle: its handle, for that thread
 */
struct torture_ticket {
	atomic_t runs;
	bool owner_frees;
	bool ambush;
	atomic_t cancels;
	callout_handle_t handle;
};

/**
 * struct torture_pair - callouts with one argument
 * @sets: times it was set
 * @runs: times it has run
 * @cancelled: times it was cancelled
 * @last: a handle
 */
struct torture_pair {
	atomic_t sets;
	atomic_t runs;
	atomic_t cancelled;
	atomic64_t last;
};

static struct torture_seat seats[NR_SEATS];
static struct torture_pair pairs[NR_PAIRS];

static void torture_ticket_ran(void *arg)
{
	struct torture_ticket *ticket = arg;

	torture_count(T_HANDLE_RUNS);
	if (atomic_inc_return(&ticket->runs) != 1)
		torture_error("a ticket was used twice\n");
	if (READ_ONCE(ticket->ambush))
		torture_wait_for(&ticket->cancels);
	if (!torture_quiet())
		torture_linger();
	/* The last access to a waiter's ticket. */
	if (!READ_ONCE(ticket->owner_frees))
		kfree(ticket);
	if (!torture_quiet() && !torture_below(4))
		torture_handle_op(false, arg);
}

static void torture_ticket_set(void *arg)
{
	struct torture_ticket *ticket = arg;

	ticket->handle = setcallout(torture_ticket_ran, ticket,
				    torture_distance());
}

/* Count a setting; free the ticket if there is no handle. */
static bool torture_ticket_count(struct torture_ticket *ticket,
				 callout_handle_t handle)
{
	torture_count(handle ? T_HANDLE_SETS : T_HANDLE_FULL);
	if (!handle)
		kfree(ticket);
	return handle;
}

static void torture_seat_set(struct torture_seat *seat, gfp_t gfp)
{
	struct torture_ticket *ticket;
	callout_handle_t handle;
	unsigned long flags;

	ticket = kzalloc(sizeof(*ticket), gfp);
	if (!ticket)
		return;
	handle = setcallout(torture_ticket_ran, ticket, torture_distance());
	if (!torture_ticket_count(ticket, handle))
		return;
	raw_spin_lock_irqsave(&seat->lock, flags);
	seat->handle = handle;
	seat->ticket = ticket;
	raw_spin_unlock_irqrestore(&seat->lock, flags);
}

/* Count a cancel that met the handler, another CPU's or its own. */
static void torture_met_handle(bool own)
{
	torture_count(own ? T_OWN_CANCEL : T_RACED_UNSET);
}

static void torture_unset(callout_handle_t handle, void *ticket, bool sync,
			  const void *own)
{
	int ret = sync ? unsetcallout_sync(handle) : unsetcallout(handle);

	if (ret > 0) {
		torture_count(T_HANDLE_UNSET);
		kfree(ticket);
	} else if (!ret) {
		torture_met_handle(own && ticket == own);
	}
}

static void torture_seat_unset(struct torture_seat *seat, bool sync,
			       const void *own)
{
	callout_handle_t handle;
	unsigned long flags;
	void *ticket;

	raw_spin_lock_irqsave(&seat->lock, flags);
	handle = seat->handle;
	ticket = seat->ticket;
	raw_spin_unlock_irqrestore(&seat->lock, flags);
	torture_unset(handle, ticket, sync, own);
}

/*
 * After unsetcallout_sync() a ticket that no other thread knows has run, or
 * never will. Its callout is set on another CPU, and cancelled while it runs
 * there.
 */
static void torture_ticket_sync(void)
{
	struct torture_ticket *ticket = kzalloc(sizeof(*ticket), GFP_KERNEL);
	int ret;

	if (!ticket)
		return;
	ticket->owner_frees = true;
	ticket->ambush = torture_below(4);
	if (smp_call_function_single(torture_cpu(), torture_ticket_set, ticket,
				     1))
		torture_ticket_set(ticket);
	if (!torture_ticket_count(ticket, ticket->handle))
		return;
	if (ticket->ambush)
		torture_wait_for(&ticket->runs);
	atomic_set(&ticket->cancels, 1);
	ret = unsetcallout_sync(ticket->handle);
	if (ret > 0)
		torture_count(T_HANDLE_UNSET);
	else if (!ret)
		torture_count(T_RACED_UNSET);
	if (atomic_read(&ticket->runs) != (ret > 0 ? 0 : 1))
		torture_error("unset returned %d, it ran %d times\n", ret,
			      atomic_read(&ticket->runs));
	kfree(ticket);
}

/*
 * Do a random operation on a handle. @may_sleep: in a thread. @own: the ticket
 * of the handler that calls this, or NULL.
 */
void torture_handle_op(bool may_sleep, const void *own)
{
	struct torture_seat *seat = &seats[torture_below(NR_SEATS)];

	switch (torture_below(may_sleep ? 8 : 4)) {
	case 0:
	case 1:
		torture_seat_set(seat, may_sleep ? GFP_KERNEL : GFP_ATOMIC);
		break;
	case 2:
	case 3:
		torture_seat_unset(seat, false, own);
		break;
	case 4:
		torture_seat_unset(seat, true, own);
		break;
	default:
		torture_ticket_sync();
	}
}

static void torture_pair_ran(void *arg)
{
	struct torture_pair *pair = arg;

	torture_count(T_TIMEOUT_RUNS);
	atomic_inc(&pair->runs);
	if (!torture_quiet() && !torture_below(4))
		torture_timeout_op(pair);
}

static int torture_outstanding(struct torture_pair *pair)
{
	return atomic_read(&pair->sets) - atomic_read(&pair->runs) -
	       atomic_read(&pair->cancelled);
}

static void torture_pair_set(struct torture_pair *pair)
{
	callout_handle_t handle;

	if (torture_outstanding(pair) >= MAX_SAME)
		return;
	/* Count the setting first, since it may run before callout_timeout() returns. */
	atomic_inc(&pair->sets);
	handle = callout_timeout(torture_pair_ran, pair, torture_distance());
	if (!handle) {
		atomic_dec(&pair->sets);
		torture_count(T_HANDLE_FULL);
		return;
	}
	torture_count(T_TIMEOUTS);
	atomic64_set(&pair->last, handle);
}

/* Cancel by function and argument, or also by a handle, of this pair or of another. */
static int torture_pair_cancel(struct torture_pair *pair)
{
	callout_handle_t handle;
	struct torture_pair *other;

	if (torture_below(2))
		return callout_untimeout(torture_pair_ran, pair);
	other = &pairs[torture_below(NR_PAIRS)];
	handle = atomic64_read(&other->last);
	if (other != pair &&
	    callout_untimeout_handle(torture_pair_ran, pair, handle) > 0)
		torture_error("untimeout with another's handle\n");
	handle = atomic64_read(&pair->last);
	return callout_untimeout_handle(torture_pair_ran, pair, handle);
}

/* Call timeout() or untimeout(). @own: the pair of the calling handler, or NULL. */
void torture_timeout_op(const void *own)
{
	struct torture_pair *pair = &pairs[torture_below(NR_PAIRS)];
	int ret;

	if (torture_below(2)) {
		torture_pair_set(pair);
		return;
	}
	ret = torture_pair_cancel(pair);
	if (ret > 0) {
		atomic_inc(&pair->cancelled);
		torture_count(T_UNTIMEOUTS);
	} else if (!ret) {
		torture_met_handle(pair == own);
	}
}

static bool torture_handles_balance(void)
{
	return torture_sum(T_HANDLE_SETS) ==
	       torture_sum(T_HANDLE_RUNS) + torture_sum(T_HANDLE_UNSET);
}

/* Whether any callout is outstanding. Called during a pause. */
bool torture_handles_busy(void)
{
	unsigned int i;

	for (i = 0; i < NR_PAIRS; i++)
		if (torture_outstanding(&pairs[i]))
			return true;
	return !torture_handles_balance();
}

/* Check that the books balance when no callout is outstanding. */
void torture_handles_check(void)
{
	unsigned int i;

	for (i = 0; i < NR_PAIRS; i++)
		if (torture_outstanding(&pairs[i]) ||
		    callout_untimeout(torture_pair_ran, &pairs[i]) != -1)
			torture_error("timeouts set %d, ran %d, cancelled %d\n",
				      atomic_read(&pairs[i].sets),
				      atomic_read(&pairs[i].runs),
				      atomic_read(&pairs[i].cancelled));
	if (!torture_handles_balance())
		torture_error("handles set %llu, ran %llu, cancelled %llu\n",
			      torture_sum(T_HANDLE_SETS),
			      torture_sum(T_HANDLE_RUNS),
			      torture_sum(T_HANDLE_UNSET));
}

int torture_handles_init(void)
{
	unsigned int i;

	for (i = 0; i < NR_SEATS; i++)
		raw_spin_lock_init(&seats[i].lock);
	return callout_reserve(4096);
}

/* Cancel outstanding callouts, once threads and handlers set none. */
void torture_handles_exit(void)
{
	unsigned int i;

	for (i = 0; i < NR_SEATS; i++)
		torture_unset(seats[i].handle, seats[i].ticket, true, NULL);
	for (i = 0; i < NR_PAIRS; i++) {
		while (callout_untimeout(torture_pair_ran, &pairs[i]) == 1) {
			atomic_inc(&pairs[i].cancelled);
			torture_count(T_UNTIMEOUTS);
		}
	}
}
