// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timer.c - the four timers of a connection, and their ledgers
 *
 * A third of the connections uses callouts without a lock, and the pending,
 * active, deactivate idiom; a third callouts with the connection's spinlock; a
 * third with its rwlock. A close stops all timers and drains them
 * asynchronously; the last of the callbacks drops the last reference.
 *
 * Each timer has a ledger: each setting must be cancelled or run, and run
 * neither early, nor after timers that are due seconds later, nor after a stop.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "tcp.h"

static const char * const timer_names[] = {
	[TT_REXMT] = "rexmt", [TT_KEEP] = "keep", [TT_DELACK] = "delack",
	[TT_2MSL] = "2msl",
};

/**
 * struct ledger - the sums of struct tcp_timer over all timers of one sort
 * @sets: tcp_timer.sets
 * @moves: tcp_timer.moves
 * @starts: tcp_timer.starts
 * @cancels: tcp_timer.cancels
 * @running: tcp_timer.running
 * @skips: tcp_timer.skips
 */
struct ledger {
	atomic64_t sets;
	atomic64_t moves;
	atomic64_t starts;
	atomic64_t cancels;
	atomic64_t running;
	atomic64_t skips;
};

static struct ledger ledgers[TT_NTIMERS];

atomic_t tcp_live;
atomic64_t tcp_opened;
atomic64_t tcp_closed_by_timer;
atomic64_t tcp_drained_later;

/* Violated invariants. */
enum {
	EARLY, LATE, STOPPED, EXCLUSION, STOP_FAILED, BALANCE, STATE,
	NR_WRONGS,
};

static const char * const wrong_names[] = {
	[EARLY]		= "ran early",
	[LATE]		= "is still set when later ones have run",
	[STOPPED]	= "ran after it was stopped",
	[EXCLUSION]	= "ran with the lock not held",
	[STOP_FAILED]	= "could not be stopped under its lock",
	[BALANCE]	= "has a ledger that does not balance",
	[STATE]		= "is pending or active after the drain",
};

static atomic_t wrongs[NR_WRONGS];

/* For each CPU, the latest time for which a timer that has run there was set. */
struct latest {
	bool known;
	int due;
};

static DEFINE_PER_CPU(struct latest, latest);

/* Called in the handler of a timer that was set in ticks. Other timers of this CPU wait. */
static void latest_update(int due)
{
	struct latest *l = this_cpu_ptr(&latest);

	if (l->known && due - l->due <= 0)
		return;
	WRITE_ONCE(l->due, due);
	/* Pairs with latest_is_after(). */
	smp_store_release(&l->known, true);
}

/* Has a timer that was set for more than @distance after @due run on the CPU? */
static bool latest_is_after(unsigned int cpu, int due, int distance)
{
	struct latest *l = per_cpu_ptr(&latest, cpu);

	/* Pairs with latest_update(). */
	return smp_load_acquire(&l->known) && READ_ONCE(l->due) - due > distance;
}

static void wrong(unsigned int what, unsigned int t)
{
	if (atomic_inc_return(&wrongs[what]) <= 3)
		pr_err("a %s timer %s\n", timer_names[t], wrong_names[what]);
}

void tcpcb_lock(struct tcpcb *tp)
{
	local_bh_disable();
	if (tp->kind == BY_RW)
		write_lock(&tp->rw);
	else
		spin_lock(&tp->mtx);
}

/* Also called by handlers with CALLOUT_RETURNUNLOCKED. */
static void tcpcb_drop_lock(struct tcpcb *tp)
{
	if (tp->kind == BY_RW)
		write_unlock(&tp->rw);
	else
		spin_unlock(&tp->mtx);
}

void tcpcb_unlock(struct tcpcb *tp)
{
	tcpcb_drop_lock(tp);
	local_bh_enable();
}

void tcpcb_enter(struct tcpcb *tp, unsigned int t)
{
	if (tp->busy)
		wrong(EXCLUSION, t);
	tp->busy = true;
}

void tcpcb_leave(struct tcpcb *tp)
{
	tp->busy = false;
}

/* Check and sum the ledger of a timer that will be freed. */
static void tcpcb_settle(struct tcpcb *tp, unsigned int t)
{
	struct tcp_timer *tt = &tp->timer[t];
	s64 open = (s64)tt->sets - tt->starts - tt->cancels;
	struct ledger *l = &ledgers[t];

	if (open < 0 || open > tt->unclear)
		wrong(BALANCE, t);
	if (callout_pending(&tt->callout) || callout_active(&tt->callout))
		wrong(STATE, t);
	atomic64_add(tt->sets, &l->sets);
	atomic64_add(tt->moves, &l->moves);
	atomic64_add(tt->starts, &l->starts);
	atomic64_add(tt->cancels, &l->cancels);
	atomic64_add(tt->running, &l->running);
	atomic64_add(tt->skips, &l->skips);
}

void tcpcb_put(struct tcpcb *tp)
{
	unsigned int t;

	if (!atomic_dec_and_test(&tp->refs))
		return;
	for (t = 0; t < TT_NTIMERS; t++)
		tcpcb_settle(tp, t);
	memset(tp, 0x5a, sizeof(*tp));
	kfree(tp);
	atomic_dec(&tcp_live);
}

/* Handlers declared by both types, as FreeBSD's own code does. */
static timeout_t tcp_timer_rexmt, tcp_timer_keep, tcp_timer_delack;
static callout_func_t tcp_timer_2msl;

/* callout_async_drain()'s callback; its argument is the handler's. */
static void tcp_timer_drained(void *arg)
{
	atomic64_inc(&tcp_drained_later);
	tcpcb_put(arg);
}

/* Enter the result of a reset into the ledger. */
static void tcp_timer_was_set(struct tcp_timer *tt, int replaced)
{
	tt->set = true;
	if (replaced)
		tt->moves++;
	else
		tt->sets++;
}

static unsigned int next_cpu(void)
{
	unsigned int cpu;

	cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

static void tcp_timer_set(struct tcpcb *tp, unsigned int t, int n,
			  timeout_t *func)
{
	struct tcp_timer *tt = &tp->timer[t];
	int ret;

	tt->due = ticks + n;
	if (t == TT_2MSL)
		ret = callout_reset_on(&tt->callout, n, func, tp, next_cpu());
	else if (t == TT_KEEP)
		ret = callout_reset_curcpu(&tt->callout, n, func, tp);
	else
		ret = callout_reset(&tt->callout, n, func, tp);
	tcp_timer_was_set(tt, ret);
}

static void tcp_timer_set_sbt(struct tcpcb *tp, unsigned int t, sbintime_t sbt,
			      callout_func_t *func)
{
	struct tcp_timer *tt = &tp->timer[t];

	tt->due_sbt = sbinuptime() + sbt;
	tcp_timer_was_set(tt, callout_reset_sbt(&tt->callout, sbt, 0, func, tp,
						C_PREL(2)));
}

void tcp_timer_stop(struct tcpcb *tp, unsigned int t)
{
	struct tcp_timer *tt = &tp->timer[t];
	bool pending = callout_pending(&tt->callout);

	switch (callout_stop(&tt->callout)) {
	case 1:
		tt->cancels++;
		break;
	case 0:
		tt->running++;
		/* A handler that returns unlocked may not have returned yet. */
		if (tp->kind == BY_IDIOM)
			tt->unclear += pending;
		else if (t == TT_DELACK)
			tt->cancels += pending;
		else if (tp->in_handler != t)
			wrong(STOP_FAILED, t);
	}
	tt->set = false;
}

/* The end of each handler. The delayed ack's handler returns unlocked. */
static void tcp_timer_leave(struct tcpcb *tp, unsigned int t)
{
	tcpcb_leave(tp);
	tp->in_handler = TT_NTIMERS;
	if (tp->kind == BY_IDIOM)
		tcpcb_unlock(tp);
	else if (t == TT_DELACK)
		tcpcb_drop_lock(tp);
}

/* The beginning of each handler; false if the timer was stopped. */
static bool tcp_timer_enter(struct tcpcb *tp, unsigned int t)
{
	struct tcp_timer *tt = &tp->timer[t];

	if (tp->kind == BY_IDIOM)
		tcpcb_lock(tp);
	tcpcb_enter(tp, t);
	tp->in_handler = t;
	tt->starts++;
	if (tp->kind == BY_IDIOM && (callout_pending(&tt->callout) ||
				     !callout_active(&tt->callout))) {
		tt->skips++;
		tcp_timer_leave(tp, t);
		return false;
	}
	callout_deactivate(&tt->callout);
	if (!tt->set)
		wrong(STOPPED, t);
	tt->set = false;
	if (tt->due_sbt ? sbinuptime() < tt->due_sbt : ticks - tt->due < 0)
		wrong(EARLY, t);
	if (!tt->due_sbt)
		latest_update(tt->due);
	return true;
}

/*
 * Close a connection, whose timers are not set after that. The stop cancels
 * pending settings, so the ledger is right; the drain covers handlers that run
 * or wait for the lock.
 */
void tcpcb_close(struct tcpcb *tp)
{
	unsigned int t;

	tp->state = CLOSED;
	for (t = 0; t < TT_NTIMERS; t++) {
		tcp_timer_stop(tp, t);
		atomic_inc(&tp->refs);
		if (callout_async_drain(&tp->timer[t].callout,
					tcp_timer_drained))
			atomic_dec(&tp->refs);
	}
}

static void tcp_timer_rexmt(void *arg)
{
	struct tcpcb *tp = arg;

	if (!tcp_timer_enter(tp, TT_REXMT))
		return;
	if (++tp->rxtshift > TCP_MAXRXTSHIFT) {
		atomic64_inc(&tcp_closed_by_timer);
		tcpcb_close(tp);
	} else {
		tcp_timer_set(tp, TT_REXMT, TCPTV_RTO << tp->rxtshift,
			      tcp_timer_rexmt);
	}
	tcp_timer_leave(tp, TT_REXMT);
}

static void tcp_timer_keep(void *arg)
{
	struct tcpcb *tp = arg;
	struct tcp_timer *tt = &tp->timer[TT_KEEP];

	if (!tcp_timer_enter(tp, TT_KEEP))
		return;
	/* A probe; the function and its argument stay. */
	tt->due = ticks + TCPTV_KEEP;
	tcp_timer_was_set(tt, callout_schedule(&tt->callout, TCPTV_KEEP));
	tcp_timer_leave(tp, TT_KEEP);
}

static void tcp_timer_delack(void *arg)
{
	struct tcpcb *tp = arg;

	if (!tcp_timer_enter(tp, TT_DELACK))
		return;
	tcp_timer_leave(tp, TT_DELACK);
}

static void tcp_timer_2msl(void *arg)
{
	struct tcpcb *tp = arg;

	if (!tcp_timer_enter(tp, TT_2MSL))
		return;
	atomic64_inc(&tcp_closed_by_timer);
	tcpcb_close(tp);
	tcp_timer_leave(tp, TT_2MSL);
}

static void tcp_timer_init(struct tcpcb *tp, unsigned int t)
{
	struct callout *c = &tp->timer[t].callout;
	int flags = t == TT_DELACK ? CALLOUT_RETURNUNLOCKED : 0;

	/* Some use CALLOUT_TRYLOCK. */
	if (t == TT_KEEP)
		flags |= CALLOUT_TRYLOCK;
	switch (tp->kind) {
	case BY_IDIOM:
		callout_init(c, CALLOUT_MPSAFE);
		break;
	case BY_MTX:
		callout_init_mtx(c, &tp->mtx, flags);
		break;
	case BY_RW:
		callout_init_rw(c, &tp->rw, flags);
		break;
	}
}

struct tcpcb *tcpcb_open(unsigned int kind)
{
	struct tcpcb *tp = kzalloc(sizeof(*tp), GFP_ATOMIC);
	unsigned int t;

	if (!tp)
		return NULL;
	spin_lock_init(&tp->mtx);
	rwlock_init(&tp->rw);
	tp->kind = kind;
	tp->in_handler = TT_NTIMERS;
	atomic_set(&tp->refs, 1);
	for (t = 0; t < TT_NTIMERS; t++)
		tcp_timer_init(tp, t);
	atomic_inc(&tcp_live);
	atomic64_inc(&tcp_opened);
	return tp;
}

/* Set a timer for its standard time. */
void tcp_timer_start(struct tcpcb *tp, unsigned int t)
{
	switch (t) {
	case TT_REXMT:
		tcp_timer_set(tp, t, TCPTV_RTO, tcp_timer_rexmt);
		break;
	case TT_KEEP:
		tcp_timer_set(tp, t, TCPTV_KEEP, tcp_timer_keep);
		break;
	case TT_DELACK:
		tcp_timer_set_sbt(tp, t, TCPTV_DELACK, tcp_timer_delack);
		break;
	case TT_2MSL:
		tcp_timer_set(tp, t, TCPTV_2MSL, tcp_timer_2msl);
		break;
	}
}

/*
 * Check that no pending timer is left behind: a machine may be slow, but a CPU runs
 * its timers in the order of their ticks.
 */
void tcp_timer_check(struct tcpcb *tp)
{
	struct tcp_timer *tt;
	unsigned int t;

	for (t = 0; t < TT_NTIMERS; t++) {
		tt = &tp->timer[t];
		if (t == TT_DELACK || !callout_pending(&tt->callout))
			continue;
		if (latest_is_after(tt->callout.node.cpu, tt->due, LOST))
			wrong(LATE, t);
	}
}

/*
 * Print the ledgers, and return the number of errors. There may be a timer that was
 * never cancelled: few are in 2MSL at the end.
 */
unsigned int tcp_timer_verdict(void)
{
	unsigned int t, i, bad = 0;
	struct ledger *l;
	s64 cancels = 0;

	for (t = 0; t < TT_NTIMERS; t++) {
		l = &ledgers[t];
		pr_info("%s: %lld set, %lld moved, %lld ran, %lld cancelled, %lld stopped while running, %lld skipped\n",
			timer_names[t], atomic64_read(&l->sets),
			atomic64_read(&l->moves), atomic64_read(&l->starts),
			atomic64_read(&l->cancels), atomic64_read(&l->running),
			atomic64_read(&l->skips));
		cancels += atomic64_read(&l->cancels);
		/* A run in which nothing happened proves nothing. */
		bad += !atomic64_read(&l->starts);
	}
	bad += !cancels;
	for (i = 0; i < NR_WRONGS; i++)
		bad += atomic_read(&wrongs[i]);
	return bad;
}
