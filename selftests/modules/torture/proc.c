// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - torture of callouts whose handler may sleep
 *
 * One thread or handler at a time works on each, against its callout and its
 * work item, which run whenever they like. A reset that finds the callout on
 * its way to the work queue does not replace it and returns 0, so that two
 * settings can be outstanding, one of the callout and one of the work item:
 *
 *	reset	that returns 1 has replaced one of them, or both
 *	stop	that returns 1 has cancelled one of them, or both; 0: none, or
 *		one, or both, and the handler runs; -1: none. So does drain.
 *	due	with the work item queued still, it runs once for both. So a
 *		reset that returned 0 with one outstanding may lose one.
 *
 * This is what torture_proc.unsure allows for, in
 *
 *	resets that returned 0 - runs - stops that returned 1 <= unsure
 *
 * A stop while the handler runs, as is known for sure in the handler, returns 0.
 * Of one that is set and left alone, the books are exact. Exact is in any case
 * that the handler does not run more often than it was set, nor after a drain,
 * when the memory is freed.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "torture.h"

#define NR_PROCS	8U

#define PROC_OWNED	0

/**
 * struct torture_proc - a callout whose handler may sleep, and its books
 * @p: the callout
 * @seat: where it is
 * @inside: its handler runs
 * @runs: times it has run
 * @sets: times it was set
 * @stopped: stops and drains that returned 1
 * @unsure: how many settings may have been lost, by what was returned
 */
struct torture_proc {
	struct callout_proc p;
	struct torture_proc_seat *seat;
	atomic_t inside;
	atomic_t runs;
	atomic_t sets;
	atomic_t stopped;
	atomic_t unsure;
};

/**
 * struct torture_proc_seat - where one is found
 * @flags: PROC_OWNED: somebody works on it
 * @proc: the callout, or NULL
 */
struct torture_proc_seat {
	unsigned long flags;
	struct torture_proc *proc;
};

static struct torture_proc_seat seats[NR_PROCS];

static void torture_proc_ran(void *arg);

static int torture_proc_missing(struct torture_proc *proc)
{
	return atomic_read(&proc->sets) - atomic_read(&proc->runs) -
	       atomic_read(&proc->stopped);
}

static void torture_proc_set(struct torture_proc *proc)
{
	bool outstanding = torture_proc_missing(proc);
	int ret;

	/* First, since it may have run before this has returned. */
	atomic_inc(&proc->sets);
	ret = callout_proc_reset(&proc->p, torture_distance(),
				 torture_proc_ran, proc);
	if (ret)
		atomic_dec(&proc->sets);
	if (ret || outstanding)
		atomic_inc(&proc->unsure);
	torture_count(T_PROC_SETS);
}

/* What a stop or drain returned. */
static void torture_proc_stopped(struct torture_proc *proc, int ret,
				 enum torture_who who)
{
	if (ret > 0) {
		atomic_inc(&proc->stopped);
		atomic_inc(&proc->unsure);
		torture_count(T_PROC_STOPPED);
	} else if (!ret) {
		atomic_add(2, &proc->unsure);
		torture_count(who == OWN_HANDLER ? T_OWN_CANCEL : T_RACED_PROC);
	}
}

static void torture_proc_stop(struct torture_proc *proc, enum torture_who who)
{
	int ran, ret;
	bool inside;

	if (torture_below(2)) {
		torture_proc_set(proc);
		if (who != OWN_HANDLER && torture_below(2))
			torture_wait_for(&proc->inside);
	}
	ran = atomic_read(&proc->runs);
	/* Both are counted up, in this order, before the handler does more. */
	inside = atomic_read_acquire(&proc->inside);
	ret = callout_proc_stop(&proc->p);
	if (ret && inside && atomic_read_acquire(&proc->inside) &&
	    atomic_read(&proc->runs) == ran)
		torture_error("stop of a proc that runs returned %d\n", ret);
	torture_proc_stopped(proc, ret, who);
}

static void torture_proc_ran(void *arg)
{
	struct torture_proc *proc = arg;
	struct torture_proc_seat *seat = proc->seat;

	torture_count(T_PROC_RUNS);
	atomic_inc(&proc->runs);
	if (atomic_inc_return(&proc->inside) != 1)
		torture_error("a proc runs twice at the same time\n");
	if (!torture_below(2))
		usleep_range(20, 200);
	if (!torture_quiet() && !test_and_set_bit_lock(PROC_OWNED, &seat->flags)) {
		if (torture_below(2))
			torture_proc_set(proc);
		else
			torture_proc_stop(proc, OWN_HANDLER);
		clear_bit_unlock(PROC_OWNED, &seat->flags);
	}
	atomic_dec(&proc->inside);
}

static void torture_proc_free(struct torture_proc *proc)
{
	int missing;

	torture_proc_stopped(proc, callout_proc_drain(&proc->p), ANYONE);
	if (callout_proc_pending(&proc->p) || atomic_read(&proc->inside))
		torture_error("a proc was drained and is pending or running\n");
	missing = torture_proc_missing(proc);
	if (missing < 0 || missing > atomic_read(&proc->unsure))
		torture_error("a proc was set %d times, ran %d, was stopped %d, unsure %d\n",
			      atomic_read(&proc->sets),
			      atomic_read(&proc->runs),
			      atomic_read(&proc->stopped),
			      atomic_read(&proc->unsure));
	torture_count(atomic_read(&proc->unsure) ? T_PROC_BOUNDED :
						   T_PROC_EXACT);
	kfree(proc);
}

static struct torture_proc *torture_proc_create(struct torture_proc_seat *seat)
{
	struct torture_proc *proc = kzalloc(sizeof(*proc), GFP_KERNEL);

	if (!proc)
		return NULL;
	proc->seat = seat;
	callout_proc_init(&proc->p);
	return proc;
}

/**
 * torture_proc_op - does something to some callout whose handler may sleep
 *
 * Context: A thread.
 */
void torture_proc_op(void)
{
	struct torture_proc_seat *seat = &seats[torture_below(NR_PROCS)];

	if (test_and_set_bit_lock(PROC_OWNED, &seat->flags))
		return;
	if (!seat->proc)
		seat->proc = torture_proc_create(seat);
	if (seat->proc) {
		switch (torture_below(8)) {
		case 0:
			torture_proc_free(seat->proc);
			seat->proc = NULL;
			break;
		case 1:
		case 2:
			torture_proc_stop(seat->proc, ANYONE);
			break;
		default:
			torture_proc_set(seat->proc);
		}
	}
	clear_bit_unlock(PROC_OWNED, &seat->flags);
}

/**
 * torture_procs_busy - is any pending or running?
 *
 * Context: While threads and handlers set none.
 * Return: true if so.
 */
bool torture_procs_busy(void)
{
	unsigned int i;

	for (i = 0; i < NR_PROCS; i++)
		if (seats[i].proc &&
		    (callout_proc_pending(&seats[i].proc->p) ||
		     atomic_read(&seats[i].proc->inside)))
			return true;
	return false;
}

/**
 * torture_procs_exit - frees all of them
 *
 * Context: When nobody uses them.
 */
void torture_procs_exit(void)
{
	unsigned int i;

	for (i = 0; i < NR_PROCS; i++)
		if (seats[i].proc)
			torture_proc_free(seats[i].proc);
}
