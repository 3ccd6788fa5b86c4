// SPDX-License-Identifier: GPL-2.0
/*
 * cancel.c - CANCEL, UNTIMEOUT and CANCEL_MATCHING: which callouts they take, and their results
 */
#include <pthread.h>
#include <stdatomic.h>

#include "lib/fixture.h"
#include "lib/ledger.h"

#define FUNC	0xf00dULL
#define ARG	0xa46ULL
#define TIMEOUT_S	600

/* CANCEL_MATCHING of the callouts whose cookie equals @cookie in the bits of @mask. */
static int cancel_matching(int fd, __u64 cookie, __u64 mask)
{
	struct callout_match arg = { .cookie = cookie, .mask = mask };

	return dev_ioctl(fd, CALLOUT_IOC_CANCEL_MATCHING, &arg);
}

/* CANCEL_MATCHING cancels all outstanding callouts, in each state. */
TEST_F(file, cancel_all)
{
	enum { N = 200 };
	struct counts counts;
	struct callout_op op;
	unsigned int i;

	EXPECT_EQ(0, cancel_matching(self->fd, 0, 0));
	for (i = 0; i < N; i++) {
		op = callout_op_set(i % 4 ? HOUR : 0, i);
		if (i % 3 == 1)
			op.period = HOUR;
		if (i % 3 == 2)
			op = callout_op_timeout(FUNC, ARG, op.time);
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	ASSERT_TRUE(wait_unread(self->fd, N / 4));
	EXPECT_EQ(N, cancel_matching(self->fd, 0, 0));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
	counts = counts_of(self->fd);
	EXPECT_EQ(N / 4, counts.withdrawn);
	EXPECT_EQ(N - N / 4, counts.cancelled);
	EXPECT_FALSE(readable_within(self->fd, 20));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(0, cancel_matching(self->fd, 0, 0));
	/* The file can be used as before. */
	ASSERT_NE(0, set(self->fd, 0, 1));
	EXPECT_TRUE(wait_unread(self->fd, 1));
}

/* CANCEL_MATCHING takes the callouts whose cookie has a tag, and no others. */
TEST_F(file, cancel_by_tag)
{
	struct callout_event e[8];
	unsigned int i;

	for (i = 0; i < 64; i++)
		ASSERT_NE(0, set(self->fd, HOUR, (__u64)(i % 4) << 32 | i));
	EXPECT_EQ(0, cancel_matching(self->fd, 4ULL << 32, 0xffULL << 32));
	EXPECT_EQ(16, cancel_matching(self->fd, 2ULL << 32, 0xffULL << 32));
	EXPECT_EQ(0, cancel_matching(self->fd, 2ULL << 32, 0xffULL << 32));
	EXPECT_EQ(16, cancel_matching(self->fd, 0, 0xffULL << 32));
	EXPECT_EQ(1, cancel_matching(self->fd, 1ULL << 32 | 5, ~0ULL));
	EXPECT_EQ(31, info_of(self->fd).outstanding);
	ASSERT_NE(0, set(self->fd, 0, 7ULL << 32));
	ASSERT_NE(0, set(self->fd, 0, 6ULL << 32));
	ASSERT_TRUE(wait_unread(self->fd, 2));
	EXPECT_EQ(1, cancel_matching(self->fd, 7ULL << 32, 7ULL << 32));
	ASSERT_EQ(1, dev_read(self->fd, e, 8));
	EXPECT_EQ(6ULL << 32, e[0].cookie);
}

/* The cookie of a callout with a key counts, not the key. */
TEST_F(file, cancel_keys_by_tag)
{
	struct callout_entry entry;
	struct callout_op op;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		op = callout_op_key(callout_op_set(HOUR, i % 2), 2 + i);
		ASSERT_EQ(0, do_op(self->fd, &op));
	}
	EXPECT_EQ(0, cancel_matching(self->fd, 2, ~0ULL));
	EXPECT_EQ(4, cancel_matching(self->fd, 1, ~0ULL));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(i % 2 ? -ENOENT : 0,
			  list_one(self->fd, CALLOUT_LISTF_KEY, 2 + i, &entry));
	/* A callout that was set again with another cookie is found by the new cookie. */
	op = callout_op_key(callout_op_set(HOUR, 7), 2);
	ASSERT_EQ(CALLOUT_STATE_PENDING, do_op(self->fd, &op));
	EXPECT_EQ(3, cancel_matching(self->fd, 0, ~0ULL));
	EXPECT_EQ(1, cancel_matching(self->fd, 7, ~0ULL));
}

/* Sets callouts and reads events until its file has been cancelled often. */
struct setter {
	int fd;
	atomic_bool stop;
	unsigned int set, read;
};

static void *set_and_read(void *arg)
{
	struct callout_event e[16];
	struct setter *s = arg;
	int n;

	while (!s->stop) {
		s->set += set(s->fd, s->set % 2 ? 0 : HOUR, 0) != 0;
		n = dev_read(s->fd, e, 16);
		s->read += n > 0 ? n : 0;
	}
	return NULL;
}

/*
 * Each callout is cancelled or read, once, also while CANCEL_MATCHING visits all
 * slots. The limit keeps the number of slots, and so the visit, small on a slow
 * machine.
 */
TEST_F_TIMEOUT(file, cancel_while_others_set, TIMEOUT_S)
{
	struct setter s[2] = { { .fd = self->fd }, { .fd = self->fd } };
	struct callout_event e[16];
	unsigned int sum = 0;
	pthread_t threads[2];
	int i, n;

	ASSERT_EQ(0, set_limit(self->fd, 1000));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, set_and_read,
					    &s[i]));
	for (i = 0; i < 500; i++) {
		n = cancel_matching(self->fd, 0, 0);
		ASSERT_LE(0, n);
		sum += n;
	}
	for (i = 0; i < 2; i++) {
		s[i].stop = true;
		pthread_join(threads[i], NULL);
	}
	sum += cancel_matching(self->fd, 0, 0);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, e, 16));
	EXPECT_EQ(s[0].set + s[1].set, sum + s[0].read + s[1].read);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(file, cancel_pending)
{
	__u64 handle;

	ASSERT_EQ(0, dev_set(self->fd, 0, 40 * MSEC, 1, &handle));
	/* Under slow emulation the callout may have fired by now. Then try again. */
	while (dev_cancel(self->fd, handle) != CALLOUT_STATE_PENDING)
		ASSERT_EQ(0, dev_set(self->fd, 0, SEC, 1, &handle));
	EXPECT_FALSE(readable_within(self->fd, 100));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

TEST_F(file, cancel_unread)
{
	struct callout_event e;
	__u64 handles[5];
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, 0, i, &handles[i]));
	ASSERT_TRUE(wait_unread(self->fd, 5));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handles[0]));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handles[2]));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handles[4]));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(1, e.cookie & 1);
	}
	EXPECT_FALSE(readable(self->fd));
}

TEST_F(file, cancel_one_set_by_timeout)
{
	__u64 handle;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, FUNC, ARG,
				 &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handle));
	ASSERT_EQ(0, dev_timeout(self->fd, 0, 0, FUNC, ARG, &handle));
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	EXPECT_EQ(CALLOUT_STATE_UNREAD, dev_cancel(self->fd, handle));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC, ARG, 0));
}

TEST_F(file, untimeout)
{
	__u64 handle;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, FUNC, ARG,
				 &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, handle));
	ASSERT_EQ(0, dev_timeout(self->fd, 0, 0, FUNC, ARG, &handle));
	ASSERT_TRUE(readable_within(self->fd, WAIT_MS));
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, handle));
	EXPECT_FALSE(readable(self->fd));
}

TEST_F(file, untimeout_of_zeroes)
{
	__u64 handle;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, 0, 0, &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_untimeout(self->fd, 0, 0, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, 0, 0, 0));
}

/* The handle selects the callout, and func and arg must match too. */
TEST_F(file, untimeout_with_handle)
{
	__u64 handles[3];
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR + i * SEC,
					 FUNC, ARG, &handles[i]));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC, ARG + 1,
					 handles[1]));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC + 1, ARG,
					 handles[1]));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, FUNC, ARG, handles[1]));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC, ARG,
					 handles[1]));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handles[0]));
	EXPECT_EQ(CALLOUT_STATE_PENDING, dev_cancel(self->fd, handles[2]));
}

/* Of callouts with one (func, arg), UNTIMEOUT cancels the one due first. */
TEST_F(file, untimeout_takes_the_earliest)
{
	static const int order[] = { 2, 0, 4, 1, 3 };
	__u64 handles[5];
	int i, k;

	for (k = 0; k <= 5; k++) {
		for (i = 0; i < 5; i++)
			ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR +
							 order[i] * SEC, FUNC,
							 ARG,
							 &handles[order[i]]));
		for (i = 0; i < k; i++)
			EXPECT_EQ(CALLOUT_STATE_PENDING,
				  dev_untimeout(self->fd, FUNC, ARG,
						0));
		for (i = 0; i < 5; i++)
			EXPECT_EQ(i < k ? -ENOENT : CALLOUT_STATE_PENDING,
				  dev_cancel(self->fd, handles[i]));
	}
}

/* UNTIMEOUT takes unread callouts, in the order in which they were due, then pending callouts. */
TEST_F(file, untimeout_takes_unread_before_pending)
{
	__u64 now = dev_now(), pending, unread[3];
	struct callout_event e;
	int i;

	ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, FUNC, ARG,
				 &pending));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, dev_timeout(self->fd, CALLOUT_OPF_ABSTIME,
					 now + i * 8 * self->tick,
						 FUNC, ARG, &unread[i]));
	ASSERT_TRUE(wait_unread(self->fd, 3));
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, unread[0]));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(unread[1], e.handle);
	EXPECT_EQ(CALLOUT_STATE_UNREAD,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, unread[2]));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, pending));
}

static bool is_outstanding(int fd, __u64 handle)
{
	struct callout_entry entry;

	return !list_one(fd, CALLOUT_LISTF_HANDLE, handle, &entry);
}

/*
 * UNTIMEOUT takes unread callouts before callouts that were set after they had
 * fired, also after a read that could not copy them.
 */
TEST_F(file, untimeout_takes_unread_before_newer)
{
	__u64 newer[4], unread[3];
	int i, k, n;

	for (n = 0; n <= 4; n++) {
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, dev_timeout(self->fd, 0, 0, FUNC,
						 ARG, &unread[i]));
			ASSERT_TRUE(wait_unread(self->fd, i + 1));
		}
		for (i = 0; i < n; i++)
			ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, FUNC,
						 ARG, &newer[i]));
		for (i = 0; i < 3 + n; i++) {
			if (i == 1)
				EXPECT_EQ(-EFAULT, dev_read(self->fd,
							    nowhere(),
								    3));
			EXPECT_EQ(i < 3 ? CALLOUT_STATE_UNREAD : CALLOUT_STATE_PENDING,
				  dev_untimeout(self->fd, FUNC, ARG, 0));
			for (k = 0; k < 3 && i < 3; k++)
				EXPECT_EQ(k > i,
					  is_outstanding(self->fd, unread[k]));
		}
		for (i = 0; i < n; i++)
			EXPECT_FALSE(is_outstanding(self->fd, newer[i]));
	}
}

TEST_F(file, untimeout_leaves_others_alone)
{
	static const __u64 others[][2] = {
		{ FUNC, ARG + 1 }, { FUNC + 1, ARG }, { ARG, FUNC },
		{ FUNC, 0 }, { 0, ARG }, { FUNC, ARG | 1ULL << 63 },
	};
	__u64 handles[ARRAY_SIZE(others)], handle;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR,
					 others[i][0], others[i][1],
						 &handles[i]));
	ASSERT_EQ(0, dev_timeout(self->fd, 0, 2 * HOUR, FUNC, ARG,
				 &handle));
	EXPECT_EQ(CALLOUT_STATE_PENDING,
		  dev_untimeout(self->fd, FUNC, ARG, 0));
	EXPECT_EQ(-ENOENT, dev_untimeout(self->fd, FUNC, ARG, 0));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handles[i]));
}

/* UNTIMEOUT finds callouts after the hash has grown several times. */
TEST_F(file, untimeout_of_many)
{
	enum { KEYS = 3000, ALIKE = 2, STEP = 1237 };
	__u64 handle;
	int i;

	for (i = 0; i < KEYS * ALIKE; i++)
		ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, i % 3,
					 i % KEYS, &handle));
	for (i = 0; i < KEYS * ALIKE; i++)
		ASSERT_EQ(CALLOUT_STATE_PENDING,
			  dev_untimeout(self->fd,
					i * STEP % KEYS % 3,
						i * STEP % KEYS, 0));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Of two threads that race to cancel a callout, exactly one succeeds. */
struct duel {
	int fd;
	__u64 handle;
	pthread_barrier_t barrier;
	int answers[2];
};

#define DUELS	300

static void duel(struct duel *d, int side)
{
	pthread_barrier_wait(&d->barrier);
	d->answers[side] = dev_cancel(d->fd, d->handle);
	pthread_barrier_wait(&d->barrier);
}

static void *duellist(void *arg)
{
	struct duel *d = arg;
	int i;

	for (i = 0; i < DUELS; i++)
		duel(d, 1);
	return NULL;
}

TEST_F(file, duel)
{
	struct duel d = { .fd = self->fd };
	int i, errors = 0, bad = 0;
	pthread_t thread;
	__u64 time;

	ASSERT_EQ(0, pthread_barrier_init(&d.barrier, NULL, 2));
	ASSERT_EQ(0, pthread_create(&thread, NULL, duellist, &d));
	for (i = 0; i < DUELS; i++) {
		/* Every other callout is close to firing. */
		time = i & 1 ? HOUR : i % 50 * self->tick / 50;
		if (dev_set(self->fd, 0, time, i, &d.handle))
			errors++;
		duel(&d, 0);
		if (d.answers[0] == -ENOENT)
			bad += d.answers[1] < CALLOUT_STATE_PENDING;
		else
			bad += d.answers[1] != -ENOENT ||
			       d.answers[0] < CALLOUT_STATE_PENDING;
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, errors);
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/*
 * A callout that another thread re-arms all the time, as for a connection,
 * stays outstanding: UNTIMEOUT finds it.
 */
#define MOVES		1000
#define MOVES_UNREAD	200

struct mover {
	int fd;
	__u64 handle;
	atomic_bool stop;
	pthread_barrier_t barrier;
};

static void *mover(void *arg)
{
	struct mover *m = arg;
	unsigned int i;

	while (pthread_barrier_wait(&m->barrier), !m->stop) {
		/* Move the callout until it is cancelled. */
		for (i = 0; move(m->fd, m->handle, HOUR + i) > 0; i++)
			;
		pthread_barrier_wait(&m->barrier);
	}
	return NULL;
}

TEST_F(file, untimeout_races_reset)
{
	struct mover m = { .fd = self->fd };
	unsigned int i, seed = 1, missed = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_barrier_init(&m.barrier, NULL, 2));
	ASSERT_EQ(0, pthread_create(&thread, NULL, mover, &m));
	for (i = 0; i < MOVES; i++) {
		ASSERT_EQ(0, dev_timeout(self->fd, 0, HOUR, FUNC, ARG,
					 &m.handle));
		pthread_barrier_wait(&m.barrier);
		sleep_ns(rand_r(&seed) % (200 * 1000));
		while (dev_untimeout(self->fd, FUNC, ARG, 0) !=
		       CALLOUT_STATE_PENDING)
			missed++;
		pthread_barrier_wait(&m.barrier);
	}
	m.stop = true;
	pthread_barrier_wait(&m.barrier);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, missed);
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(0, info_of(self->fd).outstanding);
}

/* Re-arm an unread callout once a round, on another CPU than UNTIMEOUT's. */
static void *mover_of_unread(void *arg)
{
	struct mover *m = arg;
	unsigned int i;

	pin_to_cpu(1);
	for (i = 0; i < MOVES_UNREAD; i++) {
		dev_timeout(m->fd, 0, 0, FUNC, ARG, &m->handle);
		readable_within(m->fd, WAIT_MS);
		pthread_barrier_wait(&m->barrier);
		move(m->fd, m->handle, HOUR);
		pthread_barrier_wait(&m->barrier);
	}
	return NULL;
}

TEST_F(file, untimeout_races_reset_of_unread)
{
	enum { OTHERS = 3000 };
	struct mover m = { .fd = self->fd };
	unsigned int i, seed = 1, missed = 0;
	pthread_t thread;
	__u64 handle;

	/* A search from callout to callout takes long. */
	ASSERT_TRUE(pin_to_cpu(0));
	for (i = 0; i < OTHERS; i++)
		ASSERT_EQ(0, dev_set(self->fd, 0, HOUR, i, &handle));
	ASSERT_EQ(0, pthread_barrier_init(&m.barrier, NULL, 2));
	ASSERT_EQ(0, pthread_create(&thread, NULL, mover_of_unread, &m));
	for (i = 0; i < MOVES_UNREAD; i++) {
		pthread_barrier_wait(&m.barrier);
		sleep_ns(rand_r(&seed) % 50000);
		if (dev_untimeout(self->fd, FUNC, ARG, 0) <
		    CALLOUT_STATE_PENDING)
			missed++;
		pthread_barrier_wait(&m.barrier);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, missed);
	EXPECT_EQ(OTHERS, info_of(self->fd).outstanding);
}

/* One thread sets, two cancel, one re-arms, one reads, all at once. */
#define RACE_TIME	(2 * SEC)

struct race {
	struct ledger ledger;
	atomic_bool stop;
};

struct racer {
	struct race *race;
	void (*step)(struct race *race, unsigned int *seed);
	unsigned int seed;
	pthread_t thread;
};

static void *racer(void *arg)
{
	struct racer *r = arg;

	while (!r->race->stop)
		r->step(r->race, &r->seed);
	return NULL;
}

static void step_set(struct race *race, unsigned int *seed)
{
	if (!ledger_set(&race->ledger, seed) || !(rand_r(seed) & 0x3f0))
		sleep_ns(MSEC);
}

static void step_cancel(struct race *race, unsigned int *seed)
{
	ledger_cancel(&race->ledger, seed);
	/* Some callouts must live long enough to fire. */
	if (!(rand_r(seed) & 0x70))
		sleep_ns(rand_r(seed) % MSEC);
}

static void step_reset(struct race *race, unsigned int *seed)
{
	ledger_reset(&race->ledger, seed);
	if (!(rand_r(seed) & 0x70))
		sleep_ns(rand_r(seed) % MSEC);
}

static void step_read(struct race *race, unsigned int *seed)
{
	/* Now and then events pile up, so that some are withdrawn. */
	if (!(rand_r(seed) & 0x10))
		sleep_ns(rand_r(seed) % (10 * MSEC));
	else
		readable_within(race->ledger.fd, 10);
	while (ledger_read(&race->ledger, LEDGER_READ) == LEDGER_READ)
		;
}

TEST(race)
{
	struct race race = { 0 };
	struct racer racers[] = {
		{ .step = step_set }, { .step = step_cancel },
		{ .step = step_cancel }, { .step = step_reset },
		{ .step = step_read },
	};
	unsigned int i;

	ASSERT_TRUE(ledger_init(&race.ledger, 200000, 8 * MSEC));
	for (i = 0; i < ARRAY_SIZE(racers); i++) {
		racers[i].race = &race;
		racers[i].seed = i + 1;
		ASSERT_EQ(0, pthread_create(&racers[i].thread, NULL, racer,
					    &racers[i]));
	}
	sleep_ns(RACE_TIME);
	/* Wait until the thread that sets has begun, however slow the machine is. */
	for (i = 0; i < WAIT_MS && !ledger_used(&race.ledger); i++)
		sleep_ns(MSEC);
	race.stop = true;
	for (i = 0; i < ARRAY_SIZE(racers); i++)
		pthread_join(racers[i].thread, NULL);
	ledger_settle(&race.ledger);
	EXPECT_EQ(0, ledger_audit(&race.ledger));
	EXPECT_LT(0, ledger_used(&race.ledger));
	ledger_free(&race.ledger);
}

TEST_HARNESS_MAIN
