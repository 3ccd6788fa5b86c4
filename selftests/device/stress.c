// SPDX-License-Identifier: GPL-2.0
/*
 * stress.c - threads that share files, and files that are closed while
 * their callouts expire
 */
#include <pthread.h>
#include <sys/epoll.h>

#include "kselftest_harness.h"
#include "lib/flicker.h"
#include "lib/ledger.h"

#define THREADS		8
#define STRESS_TIME	(2 * SEC)

/* Eight threads make all kinds of calls, on one file or on a few files. */
FIXTURE(shared) {
	struct ledger ledgers[THREADS];
};

FIXTURE_VARIANT(shared) {
	unsigned int files;
};

FIXTURE_VARIANT_ADD(shared, one_file) { .files = 1 };
FIXTURE_VARIANT_ADD(shared, four_files) { .files = 4 };

FIXTURE_SETUP(shared)
{
	unsigned int i;

	for (i = 0; i < variant->files; i++) {
		ASSERT_TRUE(ledger_init(&self->ledgers[i], 100000, 10 * MSEC));
		/* See disturb(). */
		self->ledgers[i].faults = true;
	}
}

FIXTURE_TEARDOWN(shared)
{
	unsigned int i;

	for (i = 0; i < variant->files; i++)
		ledger_free(&self->ledgers[i]);
}

struct worker {
	struct ledger *ledger;
	unsigned int seed;
	__u64 end;
	pthread_t thread;
};

/* Calls that have no effect on other threads. */
static void disturb(struct worker *w)
{
	struct callout_batch b = batch_of(NULL, 1);
	int fd = w->ledger->fd;

	switch (rand_r(&w->seed) % 8) {
	case 0:
		dev_read(fd, nowhere(), 1 + rand_r(&w->seed) % 40);
		break;
	case 1:
		do_batch(fd, &b);
		break;
	case 2:
		b.nr_ops = 0;
		b.nr_events = 40;
		do_batch(fd, &b);
		break;
	case 3:
		move(fd, rand_r(&w->seed), 0);
		break;
	case 4:
		dev_cancel(fd, rand_r(&w->seed));
		break;
	case 5:
		next_due(fd, CLOCK_MONOTONIC);
		break;
	case 6:
		info_of(fd);
		break;
	case 7:
		dev_ioctl(fd, rand_r(&w->seed), NULL);
		break;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int i;

	while (dev_now() < w->end) {
		for (i = rand_r(&w->seed) % 16; i; i--)
			ledger_set(w->ledger, &w->seed);
		for (i = rand_r(&w->seed) % 8; i; i--)
			ledger_cancel(w->ledger, &w->seed);
		for (i = rand_r(&w->seed) % 8; i; i--)
			ledger_reset(w->ledger, &w->seed);
		for (i = rand_r(&w->seed) % 3; i; i--)
			ledger_batch(w->ledger, &w->seed);
		for (i = rand_r(&w->seed) % 4; i; i--)
			disturb(w);
		if (!(rand_r(&w->seed) & 0x70))
			sleep_ns(rand_r(&w->seed) % (4 * MSEC));
		for (i = rand_r(&w->seed) % 4; i; i--)
			ledger_read(w->ledger, 1 + rand_r(&w->seed) %
						   LEDGER_READ);
	}
	return NULL;
}

TEST_F(shared, threads)
{
	struct worker workers[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		workers[i].ledger = &self->ledgers[i % variant->files];
		workers[i].seed = i + 1;
		workers[i].end = dev_now() + STRESS_TIME;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, work,
					    &workers[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < variant->files; i++) {
		ledger_settle(&self->ledgers[i]);
		EXPECT_EQ(0, ledger_audit(&self->ledgers[i]));
	}
}

/* Each event goes to one of several threads that block in read(). */
struct reader {
	int fd;
	atomic_uint *seen;
	int error;
	pthread_t thread;
};

#define READER_EVENTS	2000U
#define READER_ENOUGH	READER_EVENTS	/* this cookie ends a reader */

static void *read_until_enough(void *arg)
{
	struct reader *r = arg;
	struct callout_event e;

	for (;;) {
		r->error = dev_read(r->fd, &e, 1);
		if (r->error != 1 || e.cookie > READER_ENOUGH)
			return NULL;
		r->seen[e.cookie]++;
		if (e.cookie == READER_ENOUGH)
			return NULL;
	}
}

TEST(blocked_readers)
{
	static atomic_uint seen[READER_EVENTS + 1];
	struct reader readers[THREADS];
	unsigned int i, lost = 0, seed = 1;
	int fd = dev_open(0);
	__u64 handle;

	ASSERT_LE(0, fd);
	for (i = 0; i < THREADS; i++) {
		readers[i].fd = fd;
		readers[i].seen = seen;
		ASSERT_EQ(0, pthread_create(&readers[i].thread, NULL,
					    read_until_enough, &readers[i]));
	}
	for (i = 0; i < READER_EVENTS; i++) {
		ASSERT_EQ(0, dev_set(fd, 0, rand_r(&seed) % (5 * MSEC),
				     i, &handle));
		if (!(i % 100))
			sleep_ns(20 * MSEC);
	}
	sleep_ns(50 * MSEC);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, dev_set(fd, 0, 0, READER_ENOUGH,
				     &handle));
	for (i = 0; i < THREADS; i++) {
		pthread_join(readers[i].thread, NULL);
		EXPECT_EQ(1, readers[i].error);
	}
	/* Readers that have ended may have left events unread. */
	while (info_of(fd).outstanding) {
		struct callout_event e;

		ASSERT_TRUE(readable_within(fd, WAIT_MS));
		ASSERT_EQ(1, dev_read(fd, &e, 1));
		ASSERT_GT(READER_EVENTS, e.cookie);
		seen[e.cookie]++;
	}
	for (i = 0; i < READER_EVENTS; i++)
		lost += seen[i] != 1;
	EXPECT_EQ(0, lost);
	EXPECT_TRUE(seen[READER_ENOUGH] == THREADS);
	close(fd);
}

/*
 * A reader with a bad buffer takes an event and puts it back. A thread that
 * polls in between, and so sleeps, is woken.
 */
#define STRANDED_MS	10000

struct spoiler {
	int fd;
	void *bad;
	atomic_bool stop;
	atomic_uint faults;	/* events that it has put back */
};

static void *spoil(void *arg)
{
	struct spoiler *s = arg;

	while (!s->stop)
		s->faults += dev_read(s->fd, s->bad, 1) == -EFAULT;
	return NULL;
}

TEST(bad_buffer_races_poll)
{
	struct spoiler spoiler = {
		.fd = dev_open(O_NONBLOCK),
		.bad = nowhere(),
	};
	__u64 begin, waited = 0, end, handle;
	struct callout_event e;
	pthread_t thread;

	ASSERT_LE(0, spoiler.fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, spoil, &spoiler));
	end = dev_now() + STRESS_TIME;
	while (waited < STRANDED_MS * MSEC &&
	       dev_now() < end + (spoiler.faults ? 0 : WAIT_MS * MSEC)) {
		ASSERT_EQ(0, dev_set(spoiler.fd, 0, 0, 1, &handle));
		begin = dev_now();
		/* poll() looks again at its timeout, so it proves nothing. */
		do {
			readable_within(spoiler.fd, STRANDED_MS);
			waited = dev_now() - begin;
		} while (waited < STRANDED_MS * MSEC &&
			 dev_read(spoiler.fd, &e, 1) != 1);
	}
	spoiler.stop = true;
	pthread_join(thread, NULL);
	EXPECT_GT(STRANDED_MS * MSEC, waited);
	EXPECT_LT(0, spoiler.faults);
	close(spoiler.fd);
}

/*
 * read() returns whole events, each once, even if another thread changes the
 * protection of a part of the buffer during the read. The events are checked
 * through a second mapping of the same memory.
 */
#define FLICKER_EVENTS	512U
#define FLICKER_FUNC	0xf11cULL

/* Return how many of @n events are wrong. */
static unsigned int look_at(const char *data, int n, unsigned char *seen)
{
	struct callout_event e;
	unsigned int bad = 0;

	for (; n > 0; n--, data += sizeof(e)) {
		memcpy(&e, data, sizeof(e));
		if (!e.handle || e.cookie >= FLICKER_EVENTS ||
		    e.func != FLICKER_FUNC || e.fired < e.due || !e.due ||
		    e.fired > dev_now() || e.overrun || e.flags)
			bad++;
		else
			seen[e.cookie]++;
	}
	return bad;
}

static unsigned int flicker_round(int fd, char *buffer, const char *alias)
{
	unsigned char seen[FLICKER_EVENTS] = { 0 };
	unsigned int i, bad = 0, left = FLICKER_EVENTS;
	__u64 handle;
	int n;

	for (i = 0; i < FLICKER_EVENTS; i++)
		if (dev_timeout(fd, 0, 0, FLICKER_FUNC, i, &handle))
			return 1;
	while (left && !bad) {
		n = dev_read(fd, (void *)buffer, 12);
		if (n == -EFAULT)
			continue;
		if (n == -EAGAIN && readable_within(fd, WAIT_MS))
			continue;
		if (n <= 0 || n > (int)left)
			return 1;
		bad += look_at(alias, n, seen);
		left -= n;
	}
	for (i = 0; i < FLICKER_EVENTS && !bad; i++)
		bad += seen[i] != 1;
	return bad;
}

TEST(read_races_mprotect)
{
	int fd = dev_open(O_NONBLOCK);
	struct flicker f = { 0 };
	unsigned int bad = 0;
	size_t offset;
	__u64 end;

	ASSERT_LE(0, fd);
	ASSERT_TRUE(flicker_start(&f, 2));
	/* The fifth event crosses the boundary of the pages. */
	offset = f.page - 4 * sizeof(struct callout_event) - 20;
	end = dev_now() + STRESS_TIME;
	while (!bad && dev_now() < end)
		bad = flicker_round(fd, f.memory + offset, f.alias + offset);
	flicker_stop(&f);
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, info_of(fd).outstanding);
	close(fd);
}

/* A file may be closed while it is in an epoll set and its callouts expire. */
TEST(close_in_epoll)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int i, j, fd, ep = epoll_create1(EPOLL_CLOEXEC);
	__u64 handle;

	ASSERT_LE(0, ep);
	for (i = 0; i < 30; i++) {
		fd = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
		for (j = 0; j < 20; j++)
			ASSERT_EQ(0, dev_set(fd, 0, j * MSEC / 2, j,
					     &handle));
		ASSERT_LE(0, epoll_wait(ep, &ev, 1, i % 12));
		EXPECT_EQ(0, close(fd));
		EXPECT_EQ(0, epoll_wait(ep, &ev, 1, 0));
	}
	close(ep);
}

/* Open a file, set callouts that are due soon, and close it, in a loop. */
static void *open_set_close(void *arg)
{
	struct worker *w = arg;
	__u64 handle;
	int i, fd;

	while (dev_now() < w->end) {
		fd = dev_open(O_NONBLOCK);
		if (fd < 0)
			return w;
		for (i = rand_r(&w->seed) % 200; i; i--) {
			handle = rand_r(&w->seed) % (8 * MSEC);
			if (i & 1)
				dev_set(fd, 0, handle, i, &handle);
			else
				dev_timeout(fd, 0, handle, i % 5, i,
					    &handle);
		}
		if (rand_r(&w->seed) & 0x80)
			sleep_ns(rand_r(&w->seed) % (8 * MSEC));
		close(fd);
	}
	return NULL;
}

TEST(close_while_expiring)
{
	struct worker workers[THREADS];
	unsigned int i;
	void *failed;

	for (i = 0; i < THREADS; i++) {
		workers[i].seed = i + 1;
		workers[i].end = dev_now() + STRESS_TIME;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL,
					    open_set_close, &workers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, &failed);
		EXPECT_EQ(NULL, failed);
	}
}

TEST_HARNESS_MAIN
