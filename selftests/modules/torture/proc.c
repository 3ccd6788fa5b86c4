// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - torture of callouts whose handler may sleep
 *
 * One thread or handler at a time works on each, against its callout and its
 * work item, which run whenever they like. A reset that finds the callout on
 * its way to the work queue does not replace it, so that two settings can be
 * outstanding, which one stop can cancel both: what is missing in the books is
 * at most one for each stop, drain or reset. What is exact is that the handler
 * does not run more often than it was set, nor after a drain, when the memory
 * is freed.
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
 * @calls: stops, drains and resets
 */
struct torture_proc {
	struct callout_proc p;
	struct torture_proc_seat *seat;
	atomic_t inside;
	atomic_t runs;
	atomic_t sets;
	atomic_t calls;
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

static void torture_proc_set(struct torture_proc *proc)
{
	int ret;

	/* First, since it may have run before this has returned. */
	atomic_inc(&proc->sets);
	atomic_inc(&proc->calls);
	ret = callout_proc_reset(&proc->p, torture_distance(),
				 torture_proc_ran, proc);
	if (ret)
		atomic_dec(&proc->sets);
	torture_count(T_PROC_SETS);
}

static void torture_proc_stop(struct torture_proc *proc)
{
	int ret = callout_proc_stop(&proc->p);

	atomic_inc(&proc->calls);
	if (ret > 0)
		torture_count(T_PROC_STOPPED);
	else if (!ret)
		torture_count(T_RACED_PROC);
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
			torture_proc_stop(proc);
		clear_bit_unlock(PROC_OWNED, &seat->flags);
	}
	atomic_dec(&proc->inside);
}

static void torture_proc_free(struct torture_proc *proc)
{
	int missing, ret = callout_proc_drain(&proc->p);

	atomic_inc(&proc->calls);
	if (!ret)
		torture_count(T_RACED_PROC);
	if (callout_proc_pending(&proc->p) || atomic_read(&proc->inside))
		torture_error("a proc was drained and is pending or running\n");
	missing = atomic_read(&proc->sets) - atomic_read(&proc->runs);
	if (missing < 0 || missing > atomic_read(&proc->calls))
		torture_error("a proc was set %d times and ran %d times\n",
			      atomic_read(&proc->sets),
			      atomic_read(&proc->runs));
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
			torture_proc_stop(seat->proc);
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
