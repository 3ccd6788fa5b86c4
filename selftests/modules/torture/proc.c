// SPDX-License-Identifier: GPL-2.0
/*
 * proc.c - torture of callouts whose handler may sleep
 *
 * Threads, interrupts and handlers set, stop and drain each concurrently, and
 * count as OpenBSD's TCP counts references: one more for a reset that returned
 * 0, one fewer for a stop or a drain that returned 1 and for a handler that
 * begins. After the last drain none may be left:
 *
 *	resets that returned 0 == runs + stops and drains that returned 1
 *
 * A stop while the handler runs, as in the handler itself, returns 0 or 1.
 * After the last drain the memory is freed.
 */
#include <linux/delay.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "torture.h"

#define NR_PROCS	8U

/**
 * struct torture_proc - a callout whose handler may sleep, and its books
 * @p: the callout
 * @seat: where it is
 * @inside: its handler runs
 * @runs: times it has run
 * @sets: resets that returned 0
 * @stopped: stops and drains that returned 1
 */
struct torture_proc {
	struct callout_proc p;
	struct torture_proc_seat *seat;
	atomic_t inside;
	atomic_t runs;
	atomic_t sets;
	atomic_t stopped;
};

/**
 * struct torture_proc_seat - a reference to a callout
 * @users: held for reading to use it, for writing to create or free it
 * @proc: the callout, or NULL
 */
struct torture_proc_seat {
	struct rw_semaphore users;
	struct torture_proc *proc;
};

static struct torture_proc_seat seats[NR_PROCS];

static void torture_proc_ran(void *arg);

static void torture_proc_set(struct torture_proc *proc)
{
	if (!callout_proc_reset(&proc->p, torture_distance(), torture_proc_ran,
				proc))
		atomic_inc(&proc->sets);
	torture_count(T_PROC_SETS);
}

/* Counts the result of a stop or drain. */
static void torture_proc_stopped(struct torture_proc *proc, int ret,
				 enum torture_who who)
{
	if (ret > 0) {
		atomic_inc(&proc->stopped);
		torture_count(T_PROC_STOPPED);
	} else if (!ret) {
		torture_count(who == OWN_HANDLER ? T_OWN_CANCEL : T_RACED_PROC);
	}
}

static void torture_proc_stop(struct torture_proc *proc, enum torture_who who)
{
	int ran, ret;
	bool inside;

	ran = atomic_read(&proc->runs);
	/* The handler increments runs, then inside, before all else. */
	inside = atomic_read_acquire(&proc->inside);
	ret = callout_proc_stop(&proc->p);
	if (ret < 0 && inside && atomic_read_acquire(&proc->inside) &&
	    atomic_read(&proc->runs) == ran)
		torture_error("stop of a proc that runs returned %d\n", ret);
	torture_proc_stopped(proc, ret, who);
}

static void torture_proc_set_and_stop(struct torture_proc *proc)
{
	torture_proc_set(proc);
	if (torture_below(2))
		torture_wait_for(&proc->inside);
	else
		torture_linger();
	torture_proc_stop(proc, ANYONE);
}

static void torture_proc_interrupt(void *arg)
{
	struct torture_proc *proc = arg;

	if (torture_below(2))
		torture_proc_set(proc);
	else
		torture_proc_stop(proc, ANYONE);
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
	/* The callout is freed by a drain, which waits for this handler. */
	if (!torture_quiet() && down_read_trylock(&seat->users)) {
		if (torture_below(2))
			torture_proc_set(proc);
		if (torture_below(2))
			torture_proc_stop(proc, OWN_HANDLER);
		up_read(&seat->users);
	}
	atomic_dec(&proc->inside);
}

static void torture_proc_free(struct torture_proc *proc)
{
	torture_proc_stopped(proc, callout_proc_drain(&proc->p), ANYONE);
	if (callout_proc_pending(&proc->p) || atomic_read(&proc->inside))
		torture_error("a proc was drained and is pending or running\n");
	if (atomic_read(&proc->sets) !=
	    atomic_read(&proc->runs) + atomic_read(&proc->stopped))
		torture_error("a proc was set %d times, ran %d, was stopped %d\n",
			      atomic_read(&proc->sets),
			      atomic_read(&proc->runs),
			      atomic_read(&proc->stopped));
	torture_count(T_PROC_EXACT);
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

/* Frees the callout of a seat, or creates one. */
static void torture_proc_replace(struct torture_proc_seat *seat)
{
	if (!down_write_trylock(&seat->users))
		return;
	if (seat->proc) {
		torture_proc_free(seat->proc);
		seat->proc = NULL;
	} else {
		seat->proc = torture_proc_create(seat);
	}
	up_write(&seat->users);
}

static void torture_proc_use(struct torture_proc *proc)
{
	switch (torture_below(8)) {
	case 0:
		torture_proc_stopped(proc, callout_proc_drain(&proc->p), ANYONE);
		break;
	case 1:
		torture_proc_stop(proc, ANYONE);
		break;
	case 2:
		smp_call_function_single(torture_cpu(), torture_proc_interrupt,
					 proc, 1);
		break;
	case 3:
	case 4:
	case 5:
		torture_proc_set_and_stop(proc);
		break;
	default:
		torture_proc_set(proc);
	}
}

/* A random operation on some callout whose handler may sleep, in a thread. */
void torture_proc_op(void)
{
	struct torture_proc_seat *seat = &seats[torture_below(NR_PROCS)];
	bool there;

	if (!torture_below(16)) {
		torture_proc_replace(seat);
		return;
	}
	if (!down_read_trylock(&seat->users))
		return;
	there = seat->proc;
	if (there)
		torture_proc_use(seat->proc);
	up_read(&seat->users);
	if (!there)
		torture_proc_replace(seat);
}

/* Whether any callout is pending or running. During a pause. */
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

void torture_procs_init(void)
{
	unsigned int i;

	for (i = 0; i < NR_PROCS; i++)
		init_rwsem(&seats[i].users);
}

/* Frees all callouts, when no thread uses them. */
void torture_procs_exit(void)
{
	unsigned int i;

	for (i = 0; i < NR_PROCS; i++)
		if (seats[i].proc)
			torture_proc_free(seats[i].proc);
}
