// SPDX-License-Identifier: GPL-2.0
/*
 * callout_openbsd.c - a client in the manner of OpenBSD's network stack
 *
 * Protocol control blocks have a timeout that holds a reference to them, from the
 * add until its handler has run or it was deleted. A static timeout sets itself
 * again, as the timeouts of the protocols do.
 */
#include "client.h"
#include <linux/random.h>
#include <sys/timeout.h>

#define BLOCKS	64
#define ROUNDS	2000
#define FAST	10

struct pcb {
	struct timeout timer;
	struct mutex lock;	/* protects all but refs */
	refcount_t refs;
	bool closed;
	int fired;
};

static atomic_t freed;
static atomic_t fired;

static void pcb_put(struct pcb *pcb)
{
	if (refcount_dec_and_test(&pcb->refs)) {
		kfree(pcb);
		atomic_inc(&freed);
	}
}

/* The handler owns the reference that the add took. */
static void pcb_timeout(void *arg)
{
	struct pcb *pcb = arg;

	mutex_lock(&pcb->lock);
	if (!pcb->closed) {
		pcb->fired++;
		atomic_inc(&fired);
		if (get_random_u32_below(4) == 0 &&
		    timeout_add(&pcb->timer, 1))
			refcount_inc(&pcb->refs);
	}
	mutex_unlock(&pcb->lock);
	pcb_put(pcb);
}

static void pcb_arm(struct pcb *pcb, unsigned int ms)
{
	if (timeout_add_msec(&pcb->timer, ms))
		refcount_inc(&pcb->refs);
}

/* This is not the last reference: the caller has one. */
static void pcb_disarm(struct pcb *pcb)
{
	if (timeout_del(&pcb->timer))
		expect(!refcount_dec_and_test(&pcb->refs));
}

/* The timeout is no longer in use. */
static void pcb_done(void *arg)
{
	pcb_put(arg);
}

static struct pcb *pcb_open(int flags)
{
	struct pcb *pcb = kzalloc(sizeof(*pcb), GFP_KERNEL);

	if (!pcb)
		return NULL;
	mutex_init(&pcb->lock);
	refcount_set(&pcb->refs, 1);
	timeout_set_flags(&pcb->timer, pcb_timeout, pcb, KCLOCK_NONE, flags);
	expect(timeout_initialized(&pcb->timer));
	return pcb;
}

static void pcb_close(struct pcb *pcb)
{
	/* Take a reference for pcb_done(), which may run before the lock is released. */
	refcount_inc(&pcb->refs);
	mutex_lock(&pcb->lock);
	pcb->closed = true;
	pcb_disarm(pcb);
	/* OpenBSD frees the block here. The handler may be waiting for the lock. */
	if (timeout_del_async(&pcb->timer, pcb_done) != 0)
		expect(!refcount_dec_and_test(&pcb->refs));
	mutex_unlock(&pcb->lock);
	pcb_put(pcb);
}

/* Arm and disarm blocks at random. At the end no block is left. */
static void pcbs(int flags)
{
	static struct pcb *pcb[BLOCKS];
	unsigned int i, n;

	atomic_set(&freed, 0);
	atomic_set(&fired, 0);
	for (n = 0; n < BLOCKS; n++)
		pcb[n] = pcb_open(flags);
	for (i = 0; i < ROUNDS; i++) {
		n = get_random_u32_below(BLOCKS);
		if (!pcb[n])
			continue;
		mutex_lock(&pcb[n]->lock);
		if (get_random_u32_below(3))
			pcb_arm(pcb[n], get_random_u32_below(10));
		else
			pcb_disarm(pcb[n]);
		mutex_unlock(&pcb[n]->lock);
		if (i % 64 == 0)
			usleep_range(1000, 2000);
	}
	expect(comes_true(atomic_read(&fired) > 0));
	for (n = 0; n < BLOCKS; n++) {
		expect(pcb[n]);
		if (pcb[n])
			pcb_close(pcb[n]);
	}
	expect(comes_true(atomic_read(&freed) == BLOCKS));
	/* The last pcb_done() may still be returning. */
	callout_work_barrier_all();
}

static void fast_timeout(void *arg);

static int fasts;
static struct timeout fast = TIMEOUT_INITIALIZER(fast_timeout, &fasts);

static void fast_timeout(void *arg)
{
	int *count = arg;

	expect(timeout_triggered(&fast));
	expect(!timeout_pending(&fast));
	if (++*count < FAST)
		expect(timeout_add_usec(&fast, 2000) == 1);
}

/* A period of two milliseconds is not shorter than two milliseconds. */
static void periods(void)
{
	u64 start = ktime_get_ns();

	expect(timeout_add_usec(&fast, 2000) == 1);
	expect(comes_true(READ_ONCE(fasts) == FAST));
	expect(ktime_get_ns() - start >= FAST * 2 * NSEC_PER_MSEC);
	expect(timeout_del_barrier(&fast) == 0);
}

static void once_timeout(void *arg)
{
	u64 *when = arg;

	WRITE_ONCE(*when, ktime_get_ns());
}

/* A time since boot is not early. */
static void once(void)
{
	static struct timeout once;
	static u64 when;
	struct timespec64 ts;

	ktime_get_ts64(&ts);
	timespec64_add_ns(&ts, 20 * NSEC_PER_MSEC);
	timeout_set_flags(&once, once_timeout, &when, KCLOCK_UPTIME, 0);
	expect(timeout_abs_ts(&once, &ts) == 1);
	expect(comes_true(READ_ONCE(when)));
	expect(when >= timespec64_to_ns(&ts));
	expect(timeout_del_barrier(&once) == 0);
}

static int __init ob_attach(void)
{
	pcbs(TIMEOUT_PROC);
	pcbs(TIMEOUT_PROC | TIMEOUT_MPSAFE);
	periods();
	once();
	return verdict();
}

static void __exit ob_detach(void)
{
}

module_init(ob_attach);
module_exit(ob_detach);
MODULE_DESCRIPTION("A client of the callout facility, after OpenBSD");
