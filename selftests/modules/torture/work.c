// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - torture of callouts whose handler may sleep
 *
 * Threads, interrupts and handlers set, stop and drain each callout
 * concurrently, and count as OpenBSD's TCP counts references: one more for a
 * reset that returned 0, one fewer for a stop or a drain that returned 1 and for
 * a handler that begins. After the last drain of a callout no reference may be
 * left:
 *
 *	resets that returned 0 == runs + stops and drains that returned 1
 *
 * A stop while the handler runs, which is certain only in the handler, returns
 * 0 or 1. After the last drain the memory is freed.
 */
#include <linux/callout_work.h>
#include <linux/delay.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "torture.h"

#define NR_WORKS	8U

/**
 * struct torture_work - a callout whose handler may sleep, and its books
 * @p: the callout
 * @seat: the seat of the callout
 * @inside: its handler runs
 * @runs: times it has run
 * @sets: resets that returned 0
 * @stopped: stops and drains that returned 1
 */
struct torture_work {
	struct callout_work p;
	struct torture_work_seat *seat;
	atomic_t inside;
	atomic_t runs;
	atomic_t sets;
	atomic_t stopped;
};

/**
 * struct torture_work_seat - a place of a callout
 * @users: held for reading by users of the callout, and for writing to make or free it
 * @work: the callout, or NULL
 */
struct torture_work_seat {
	struct rw_semaphore users;
	struct torture_work *work;
};

static struct torture_work_seat seats[NR_WORKS];

static void torture_work_ran(void *arg);

static void torture_work_set(struct torture_work *work)
{
	if (!callout_work_reset(&work->p, torture_distance(), torture_work_ran,
				work))
		atomic_inc(&work->sets);
	torture_count(T_WORK_SETS);
}

/* Count the result of a stop or drain. */
static void torture_work_stopped(struct torture_work *work, int ret,
				 enum torture_who who)
{
	if (ret > 0) {
		atomic_inc(&work->stopped);
		torture_count(T_WORK_STOPPED);
	} else if (!ret) {
		torture_count(who == OWN_HANDLER ? T_OWN_CANCEL : T_RACED_WORK);
	}
}

static void torture_work_stop(struct torture_work *work, enum torture_who who)
{
	int ran, ret;
	bool inside;

	ran = atomic_read(&work->runs);
	/* Both are incremented, in this order, before the handler does more. */
	inside = atomic_read_acquire(&work->inside);
	ret = callout_work_stop(&work->p);
	if (ret < 0 && inside && atomic_read_acquire(&work->inside) &&
	    atomic_read(&work->runs) == ran)
		torture_error("stop of a callout_work that runs returned %d\n", ret);
	torture_work_stopped(work, ret, who);
}

static void torture_work_set_and_stop(struct torture_work *work)
{
	torture_work_set(work);
	if (torture_below(2))
		torture_wait_for(&work->inside);
	else
		torture_linger();
	torture_work_stop(work, ANYONE);
}

static void torture_work_interrupt(void *arg)
{
	struct torture_work *work = arg;

	if (torture_below(2))
		torture_work_set(work);
	else
		torture_work_stop(work, ANYONE);
}

static void torture_work_ran(void *arg)
{
	struct torture_work *work = arg;
	struct torture_work_seat *seat = work->seat;

	torture_count(T_WORK_RUNS);
	atomic_inc(&work->runs);
	if (atomic_inc_return(&work->inside) != 1)
		torture_error("a callout_work runs twice at the same time\n");
	if (!torture_below(2))
		usleep_range(20, 200);
	/* The thread that frees it waits for this handler. */
	if (!torture_quiet() && down_read_trylock(&seat->users)) {
		if (torture_below(2))
			torture_work_set(work);
		if (torture_below(2))
			torture_work_stop(work, OWN_HANDLER);
		up_read(&seat->users);
	}
	atomic_dec(&work->inside);
}

static void torture_work_free(struct torture_work *work)
{
	torture_work_stopped(work, callout_work_drain(&work->p), ANYONE);
	if (callout_work_pending(&work->p) || atomic_read(&work->inside))
		torture_error("a callout_work was drained and is pending or running\n");
	if (atomic_read(&work->sets) !=
	    atomic_read(&work->runs) + atomic_read(&work->stopped))
		torture_error("a callout_work was set %d times, ran %d, was stopped %d\n",
			      atomic_read(&work->sets),
			      atomic_read(&work->runs),
			      atomic_read(&work->stopped));
	torture_count(T_WORK_EXACT);
	kfree(work);
}

static struct torture_work *torture_work_create(struct torture_work_seat *seat)
{
	struct torture_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return NULL;
	work->seat = seat;
	callout_work_init(&work->p);
	return work;
}

/* Free the seat's callout, or make one. */
static void torture_work_replace(struct torture_work_seat *seat)
{
	if (!down_write_trylock(&seat->users))
		return;
	if (seat->work) {
		torture_work_free(seat->work);
		seat->work = NULL;
	} else {
		seat->work = torture_work_create(seat);
	}
	up_write(&seat->users);
}

static void torture_work_use(struct torture_work *work)
{
	switch (torture_below(8)) {
	case 0:
		torture_work_stopped(work, callout_work_drain(&work->p), ANYONE);
		break;
	case 1:
		torture_work_stop(work, ANYONE);
		break;
	case 2:
		smp_call_function_single(torture_cpu(), torture_work_interrupt,
					 work, 1);
		break;
	case 3:
	case 4:
	case 5:
		torture_work_set_and_stop(work);
		break;
	default:
		torture_work_set(work);
	}
}

/**
 * torture_work_op - do something to some callout whose handler may sleep
 *
 * Context: A thread.
 */
void torture_work_op(void)
{
	struct torture_work_seat *seat = &seats[torture_below(NR_WORKS)];
	bool there;

	if (!torture_below(16)) {
		torture_work_replace(seat);
		return;
	}
	if (!down_read_trylock(&seat->users))
		return;
	there = seat->work;
	if (there)
		torture_work_use(seat->work);
	up_read(&seat->users);
	if (!there)
		torture_work_replace(seat);
}

/**
 * torture_works_busy - is any callout pending or running?
 *
 * Context: While threads and handlers set no callouts.
 * Return: true if so.
 */
bool torture_works_busy(void)
{
	unsigned int i;

	for (i = 0; i < NR_WORKS; i++)
		if (seats[i].work &&
		    (callout_work_pending(&seats[i].work->p) ||
		     atomic_read(&seats[i].work->inside)))
			return true;
	return false;
}

/**
 * torture_works_init - prepare the callouts of this file
 */
void torture_works_init(void)
{
	unsigned int i;

	for (i = 0; i < NR_WORKS; i++)
		init_rwsem(&seats[i].users);
}

/**
 * torture_works_exit - free all callouts of this file
 *
 * Context: When nobody uses the callouts.
 */
void torture_works_exit(void)
{
	unsigned int i;

	for (i = 0; i < NR_WORKS; i++)
		if (seats[i].work)
			torture_work_free(seats[i].work);
}
