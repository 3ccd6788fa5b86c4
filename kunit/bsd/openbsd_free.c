// SPDX-License-Identifier: GPL-2.0
/*
 * openbsd_free.c - suite callout_ob_free: timeouts freed under their handler's lock
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "lib/common.h"
#include "lib/random.h"
#include "openbsd.h"

#define ROUNDS	100

/*
 * Protects conn.closed. The handlers take it. Like the lock of OpenBSD's sockets it
 * outlives the connections, which may be freed while it is held.
 */
static DEFINE_SPINLOCK(socket_lock);

/**
 * struct tally - data shared by the connections of a case
 * @freed: number of connections that were freed
 * @refs: number of references that the timeouts hold
 * @late: number of handlers that ran for a closed connection, which they may do
 * @early: number of connections that were freed, or declared free, before the
 *	handler had returned
 * @second: number of calls of the function of a second timeout_del_async()
 */
struct tally {
	atomic_t freed;
	atomic_t refs;
	atomic_t late;
	atomic_t early;
	atomic_t second;
};

/**
 * struct conn - a connection, as in OpenBSD's TCP
 * @to: the connection's timeout
 * @closed: the connection must be freed
 * @waits: the handler waits for @go before it takes the lock
 * @go: see @waits
 * @begun: how often the handler has begun
 * @ended: how often the handler has ended
 * @tally: the tally of the case
 */
struct conn {
	struct timeout to;
	bool closed;
	bool waits;
	bool go;
	unsigned int begun;
	unsigned int ended;
	struct tally *tally;
};

static void conn_timeout(void *arg)
{
	struct conn *conn = arg;
	struct tally *tally = conn->tally;

	callout_test_count(&conn->begun);
	if (conn->waits && in_interrupt())
		callout_test_spin_until(callout_test_told(&conn->go));
	else if (conn->waits)
		callout_test_wait_until(callout_test_told(&conn->go));
	spin_lock_bh(&socket_lock);
	if (conn->closed)
		atomic_inc(&tally->late);
	spin_unlock_bh(&socket_lock);
	/* Time in which a wrong caller would free it too early. */
	ndelay(19000);
	atomic_dec(&tally->refs);
	callout_test_count(&conn->ended);
}

static void conn_free(void *arg)
{
	struct conn *conn = arg;
	struct tally *tally = conn->tally;

	if (callout_test_counted(&conn->ended) !=
	    callout_test_counted(&conn->begun))
		atomic_inc(&tally->early);
	kfree(conn);
	atomic_inc(&tally->freed);
}

static void conn_second(void *arg)
{
	struct conn *conn = arg;

	atomic_inc(&conn->tally->second);
}

static struct conn *conn_new(struct kunit *test, struct tally *tally,
			     unsigned int cpu)
{
	struct conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, conn);
	conn->tally = tally;
	timeout_set_flags(&conn->to, conn_timeout, conn, KCLOCK_NONE,
			  *(const int *)test->param_value);
	/* As if @cpu were the first online CPU. */
	conn->to.w.cpu = cpu;
	return conn;
}

static void conn_arm(struct conn *conn)
{
	if (timeout_add(&conn->to, 1))
		atomic_inc(&conn->tally->refs);
}

/*
 * Close a connection, as OpenBSD's tcp_close() does. If this returns 0, @conn may
 * be freed before the lock is released.
 */
static int conn_close_locked(struct conn *conn)
{
	lockdep_assert_held(&socket_lock);
	conn->closed = true;
	if (timeout_del(&conn->to))
		atomic_dec(&conn->tally->refs);
	return timeout_del_async(&conn->to, conn_free);
}

/*
 * A connection is closed under the lock for which its handler waits. It is freed
 * once, when the handler has returned, and cannot be set until then:
 *
 *	CPU0: handler				CPU1
 *						lock
 *	waits for the lock
 *						timeout_add(): 1
 *						timeout_del(): 1
 *						timeout_del_async(): 0
 *						timeout_add(): 0, refused
 *						unlock
 *	takes the lock, sees that it is closed
 *	returns
 *	conn_free(), in a thread
 */
static void ob_free_under_lock(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct tally tally = {};
	struct conn *conn;

	for (i = 1; i <= callout_test_rounds(ROUNDS); i++) {
		conn = conn_new(test, &tally, other);
		conn->waits = true;
		conn_arm(conn);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(callout_test_counted(&conn->begun)));
		spin_lock_bh(&socket_lock);
		callout_test_tell(&conn->go);
		conn_arm(conn);
		KUNIT_EXPECT_EQ(test, conn_close_locked(conn), 0);
		conn_arm(conn);
		KUNIT_EXPECT_EQ(test, timeout_pending(&conn->to), 0);
		KUNIT_EXPECT_EQ(test,
				timeout_del_async(&conn->to, conn_second), 0);
		spin_unlock_bh(&socket_lock);
		KUNIT_ASSERT_TRUE(test,
				  callout_test_wait_until(atomic_read(&tally.freed) ==
							  i));
	}
	callout_work_barrier_all();
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.early), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.second), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.refs), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.late), i - 1);
}

/* Wait until the handler has begun. The thread that runs it may need this CPU. */
static void conn_wait_begun(struct conn *conn)
{
	unsigned long end = jiffies + CALLOUT_TEST_SPIN;

	while (!callout_test_counted(&conn->begun) && time_before(jiffies, end))
		cond_resched();
}

/* A connection closed at any moment is freed once: at once, or by the function. */
static void ob_free_any_time(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i, now = 0;
	struct tally tally = {};
	struct rnd_state rng;
	struct conn *conn;
	int ret;

	callout_test_rng(test, &rng);
	for (i = 0; i < callout_test_rounds(ROUNDS); i++) {
		conn = conn_new(test, &tally, other);
		if (i % 8)
			conn_arm(conn);
		/* For half of the connections, close at about the time when the handler runs. */
		if (i % 2)
			conn_wait_begun(conn);
		ndelay(callout_test_below(&rng, 40000));
		spin_lock_bh(&socket_lock);
		ret = conn_close_locked(conn);
		spin_unlock_bh(&socket_lock);
		if (ret) {
			conn_free(conn);
			now++;
		}
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&tally.freed) == i));
	callout_work_barrier_all();
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.freed), i);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.early), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.refs), 0);
	kunit_info(test, "%u of %u freed at once\n", now, i);
}

static struct timeout never = TIMEOUT_INITIALIZER(conn_free, NULL);

/* The function is not called if nothing runs, nor for a static unused timeout. */
static void ob_free_idle(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test);
	struct tally tally = {};
	struct conn *conn = conn_new(test, &tally, other);

	KUNIT_EXPECT_EQ(test, timeout_del_async(&never, conn_free), -1);
	KUNIT_EXPECT_EQ(test, timeout_del_async(&conn->to, conn_free), -1);
	KUNIT_EXPECT_EQ(test, timeout_add(&conn->to, INT_MAX), 1);
	KUNIT_EXPECT_EQ(test, timeout_del_async(&conn->to, conn_free), 1);
	callout_work_barrier_all();
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.freed), 0);
	conn_free(conn);
}

static void conn_closes_itself(void *arg)
{
	struct conn *conn = arg;
	struct tally *tally = conn->tally;

	callout_test_count(&conn->begun);
	spin_lock_bh(&socket_lock);
	conn_arm(conn);
	if (conn_close_locked(conn))
		atomic_inc(&tally->early);
	spin_unlock_bh(&socket_lock);
	ndelay(19000);
	atomic_dec(&tally->refs);
	callout_test_count(&conn->ended);
}

/* A handler may close its own connection, as OpenBSD's handler does after many resends. */
static void ob_free_by_handler(struct kunit *test)
{
	unsigned int other = callout_test_pin_one(test), i;
	struct tally tally = {};
	struct conn *conn;

	for (i = 0; i < callout_test_rounds(ROUNDS); i++) {
		conn = conn_new(test, &tally, other);
		conn->to.w.func = conn_closes_itself;
		/* The handler may free the connection as soon as the lock is released. */
		spin_lock_bh(&socket_lock);
		conn_arm(conn);
		spin_unlock_bh(&socket_lock);
	}
	KUNIT_EXPECT_TRUE(test,
			  callout_test_wait_until(atomic_read(&tally.freed) == i));
	callout_work_barrier_all();
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.early), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tally.refs), 0);
}

static struct kunit_case ob_free_cases[] = {
	KUNIT_CASE_PARAM(ob_free_under_lock, kind_gen_params),
	KUNIT_CASE_PARAM(ob_free_any_time, kind_gen_params),
	KUNIT_CASE_PARAM(ob_free_idle, kind_gen_params),
	KUNIT_CASE_PARAM(ob_free_by_handler, kind_gen_params),
	{}
};

static struct kunit_suite ob_free_suite = {
	.name = "callout_ob_free",
	.test_cases = ob_free_cases,
};

kunit_test_suite(ob_free_suite);
