/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp.h - a connection and its timers
 */
#ifndef _CALLOUT_TCP_H
#define _CALLOUT_TCP_H

#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/callout_bsd.h>

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

/* Times in ticks, much shorter than a real TCP's, so that many timers expire. */
#define TCPTV_RTO	max(hz / 50, 1)
#define TCPTV_DELACK	(SBT_1MS * 10)
#define TCPTV_KEEP	(hz / 2)
#define TCPTV_2MSL	(hz / 10)
#define TCP_MAXRXTSHIFT	5

/* A callout is lost if a callout of its CPU that is due this many ticks later has run. */
#define LOST		(5 * hz)

enum { TT_REXMT, TT_KEEP, TT_DELACK, TT_2MSL, TT_NTIMERS };

/* How a connection's callouts use its lock. */
enum { BY_IDIOM, BY_MTX, BY_RW, NR_KINDS };

enum { ESTABLISHED, TIME_WAITING, CLOSED };

/**
 * struct tcp_timer - a callout and its ledger, under the connection's lock
 * @callout: the callout
 * @due: not before this tick
 * @due_sbt: not before this time, if the callout was set by time
 * @set: it was set, and since then neither stopped nor run
 * @sets: times it was set while not pending
 * @moves: times it was set while pending
 * @starts: times its handler was called
 * @cancels: times it was stopped before its handler began
 * @running: stops that returned 0
 * @unclear: of these, stops that may have cancelled a second setting
 * @skips: times its handler found that it was stopped
 */
struct tcp_timer {
	struct callout callout;
	int due;
	sbintime_t due_sbt;
	bool set;
	u32 sets;
	u32 moves;
	u32 starts;
	u32 cancels;
	u32 running;
	u32 unclear;
	u32 skips;
};

/**
 * struct tcpcb - a connection
 * @mtx: protects all of it, if it is not BY_RW
 * @rw: protects all of it, if it is
 * @kind: BY_IDIOM, BY_MTX, BY_RW
 * @state: ESTABLISHED, TIME_WAITING, CLOSED
 * @busy: a holder of the lock is working on it
 * @in_handler: the timer whose handler the holder is, or TT_NTIMERS
 * @rxtshift: retransmissions since the last acknowledgment
 * @unacked: segments sent and not acknowledged
 * @refs: references of the table, and of each async drain that has not ended
 * @timer: the timers
 */
struct tcpcb {
	spinlock_t mtx;		/* see above */
	rwlock_t rw;
	u8 kind;
	u8 state;
	bool busy;
	u8 in_handler;
	unsigned int rxtshift;
	unsigned int unacked;
	atomic_t refs;
	struct tcp_timer timer[TT_NTIMERS];
};

extern atomic_t tcp_live;
extern atomic64_t tcp_opened;
extern atomic64_t tcp_closed_by_timer;
extern atomic64_t tcp_drained_later;

void tcpcb_lock(struct tcpcb *tp);
void tcpcb_unlock(struct tcpcb *tp);
void tcpcb_enter(struct tcpcb *tp, unsigned int t);
void tcpcb_leave(struct tcpcb *tp);
struct tcpcb *tcpcb_open(unsigned int kind);
void tcpcb_close(struct tcpcb *tp);
void tcpcb_put(struct tcpcb *tp);

void tcp_timer_stop(struct tcpcb *tp, unsigned int t);
void tcp_timer_start(struct tcpcb *tp, unsigned int t);
void tcp_timer_check(struct tcpcb *tp);
unsigned int tcp_timer_verdict(void);

#endif /* _CALLOUT_TCP_H */
