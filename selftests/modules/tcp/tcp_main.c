// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_main.c - many TCP connections and their network, written as for a BSD
 *
 * Built outside the tree, against the installed files. Each connection has the
 * four timers of BSD's TCP: retransmission with back-off, keepalive, delayed
 * acknowledgment, and 2MSL; see tcp_timer.c. A thread on each CPU plays the
 * network: it sends, acknowledges, loses, closes and opens at random. The
 * verdict is a line in the log, and what insmod returns.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include "tcp.h"

static uint connections = 10000;
module_param(connections, uint, 0444);
MODULE_PARM_DESC(connections, "Number of connections at a time (default 10000)");

static uint seconds = 5;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "Duration of the test in seconds (default 5)");

static unsigned long long seed;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "Seed of the random numbers; 0: a random seed (default 0)");

/**
 * struct slot - a place in the table of connections
 * @lock: held by threads that use the connection
 * @tp: the connection, or NULL
 */
struct slot {
	spinlock_t lock;	/* see above */
	struct tcpcb *tp;
};

static struct slot *table;
static atomic64_t fast_timeouts;
static atomic64_t slow_timeouts;
static bool stopping;

static void tcp_send(struct tcpcb *tp)
{
	tp->unacked++;
	if (!callout_active(&tp->timer[TT_REXMT].callout))
		tcp_timer_start(tp, TT_REXMT);
}

static void tcp_acked(struct tcpcb *tp, bool all)
{
	tp->rxtshift = 0;
	tp->unacked = all ? 0 : tp->unacked / 2;
	if (tp->unacked)
		tcp_timer_start(tp, TT_REXMT);
	else
		tcp_timer_stop(tp, TT_REXMT);
}

/* Every second segment is acknowledged at once. */
static void tcp_received(struct tcpcb *tp)
{
	tcp_timer_start(tp, TT_KEEP);
	if (callout_pending(&tp->timer[TT_DELACK].callout))
		tcp_timer_stop(tp, TT_DELACK);
	else
		tcp_timer_start(tp, TT_DELACK);
}

static void tcp_fin(struct tcpcb *tp)
{
	tp->state = TIME_WAITING;
	tcp_timer_stop(tp, TT_REXMT);
	tcp_timer_stop(tp, TT_KEEP);
	tcp_timer_stop(tp, TT_DELACK);
	tcp_timer_start(tp, TT_2MSL);
}

/* The first event of each sort. Events are 0 to 99. */
#define SENT		0
#define ACKED		35
#define RECEIVED	60
#define FIN		90
#define ABORTED		94
#define DROPPED	96

/* Do one event of the network, on an open connection whose lock is held. */
static void tcp_input(struct tcpcb *tp, unsigned int event)
{
	if (tp->state == TIME_WAITING) {
		/* An old segment: the wait begins again. */
		if (event < 10)
			tcp_timer_start(tp, TT_2MSL);
		return;
	}
	if (event < ACKED)
		tcp_send(tp);
	else if (event < RECEIVED)
		tcp_acked(tp, event < 50);
	else if (event < FIN)
		tcp_received(tp);
	else if (event < ABORTED)
		tcp_fin(tp);
	else if (event < DROPPED)
		tcpcb_close(tp);
}

/*
 * Three of 64 connections see one event when they are opened, and nothing more,
 * so that their timers expire, however fast the network is.
 */
static unsigned int tcp_filter(const struct slot *slot, unsigned int event)
{
	static const unsigned int only[] = { RECEIVED, SENT, FIN };
	size_t i = (slot - table) % 64;

	if (i >= ARRAY_SIZE(only))
		return event;
	return slot->tp ? DROPPED : only[i];
}

static void tcp_event(struct slot *slot, unsigned int event, unsigned int kind)
{
	struct tcpcb *tp;
	bool closed;

	spin_lock(&slot->lock);
	event = tcp_filter(slot, event);
	if (!slot->tp)
		slot->tp = tcpcb_open(kind);
	tp = slot->tp;
	if (tp) {
		tcpcb_lock(tp);
		tcpcb_enter(tp, TT_REXMT);
		if (tp->state != CLOSED) {
			tcp_timer_check(tp);
			tcp_input(tp, event);
		}
		closed = tp->state == CLOSED;
		tcpcb_leave(tp);
		tcpcb_unlock(tp);
		if (closed) {
			tcpcb_put(tp);
			slot->tp = NULL;
		}
	}
	spin_unlock(&slot->lock);
}

static u32 below(struct rnd_state *rng, u32 n)
{
	return ((u64)prandom_u32_state(rng) * n) >> 32;
}

/* The network, as one CPU sees it. */
static int tcp_network(void *data)
{
	struct rnd_state rng;
	unsigned int i;

	prandom_seed_state(&rng, seed + 1 + (unsigned long)data);
	while (!kthread_should_stop()) {
		for (i = 0; i < 64; i++)
			tcp_event(&table[below(&rng, connections)],
				  below(&rng, 100), below(&rng, NR_KINDS));
		/* Time for expired callouts. */
		if (below(&rng, 16))
			cond_resched();
		else
			usleep_range(500, 2000);
	}
	return 0;
}

/* 4.4BSD's TCP had these two timeouts only. */
static void tcp_fasttimo(void *arg)
{
	atomic64_inc(&fast_timeouts);
	if (!READ_ONCE(stopping))
		timeout(tcp_fasttimo, NULL, hz / 5);
}

static struct callout_handle slow_handle;

static void tcp_slowtimo(void *arg)
{
	atomic64_inc(&slow_timeouts);
	if (!READ_ONCE(stopping))
		slow_handle = timeout(tcp_slowtimo, &slow_handle, hz / 2);
}

static void tcp_stop_timeouts(void)
{
	struct callout_handle stale;

	callout_handle_init(&stale);
	/* A running handler has seen the flag, or has set itself once more. */
	callout_barrier();
	untimeout(tcp_fasttimo, NULL);
	untimeout(tcp_slowtimo, &slow_handle, stale);
	untimeout(tcp_slowtimo, &slow_handle, slow_handle);
	callout_barrier();
}

static void tcp_close_all(void)
{
	struct tcpcb *tp;
	unsigned int i;

	for (i = 0; i < connections; i++) {
		tp = table[i].tp;
		if (!tp)
			continue;
		tcpcb_lock(tp);
		if (tp->state != CLOSED)
			tcpcb_close(tp);
		tcpcb_unlock(tp);
		tcpcb_put(tp);
		cond_resched();
	}
	/* Wait for the asynchronous drains. */
	for (i = 0; i < 500 && atomic_read(&tcp_live); i++)
		msleep(20);
	callout_barrier();
}

static int tcp_verdict(void)
{
	unsigned int bad = tcp_timer_verdict();

	pr_info("%lld connections, %lld closed by a timer, %lld drained later, %lld fast and %lld slow timeouts\n",
		atomic64_read(&tcp_opened), atomic64_read(&tcp_closed_by_timer),
		atomic64_read(&tcp_drained_later), atomic64_read(&fast_timeouts),
		atomic64_read(&slow_timeouts));
	bad += atomic_read(&tcp_live) || !atomic64_read(&slow_timeouts) ||
	       !atomic64_read(&tcp_drained_later);
	pr_info("%s, %u wrong, %d connections left\n",
		bad ? "FAILED" : "passed", bad, atomic_read(&tcp_live));
	return bad ? -EIO : 0;
}

static int __init tcp_init(void)
{
	struct task_struct **threads;
	unsigned int cpu, i, n = 0;
	int ret;

	if (!connections)
		return -EINVAL;
	if (!seed)
		seed = get_random_u32();
	pr_info("connections=%u seconds=%u seed=%llu hz=%d\n", connections,
		seconds, seed, hz);
	table = kvcalloc(connections, sizeof(*table), GFP_KERNEL);
	threads = kcalloc(nr_cpu_ids, sizeof(*threads), GFP_KERNEL);
	if (!table || !threads) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < connections; i++)
		spin_lock_init(&table[i].lock);
	timeout(tcp_fasttimo, NULL, hz / 5);
	slow_handle = timeout(tcp_slowtimo, &slow_handle, hz / 2);

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		threads[n] = kthread_create_on_cpu(tcp_network,
						   (void *)(unsigned long)cpu,
						   cpu, "callout_tcp/%u");
		if (!IS_ERR(threads[n]))
			wake_up_process(threads[n++]);
	}
	cpus_read_unlock();
	msleep(seconds * 1000);
	WRITE_ONCE(stopping, true);
	while (n)
		kthread_stop(threads[--n]);
	tcp_stop_timeouts();
	tcp_close_all();
	ret = tcp_verdict();
out:
	kfree(threads);
	kvfree(table);
	return ret;
}

static void __exit tcp_exit(void)
{
}

module_init(tcp_init);
module_exit(tcp_exit);

MODULE_DESCRIPTION("The timers of many TCP connections, as in a BSD");
MODULE_LICENSE("GPL");
