// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug_storm.c - CPUs go offline and online while 100 000 callouts are outstanding
 *
 * The callouts are spread over the bases of all CPUs that are online at the
 * start. Then all of these but CPU 0 go offline and online again, up to half of
 * them offline at any time. Callouts expire throughout, and a few threads, each
 * of which visits its share of the CPUs in turn, set, cancel and read. At the
 * end the ledger must balance: each callout has fired once or was cancelled.
 */
#include <pthread.h>

#include "kselftest_harness.h"
#include "lib/ledger.h"

#define WORKERS		4U
#define OUTSTANDING	100000U
#define CYCLES		51U		/* times off and on, in each test, at least */
#define CAPACITY	2000000U
#define SOON		(200 * MSEC)
#define SETS		64
#define TIMEOUT		1800		/* seconds; a longer test has hung */

/**
 * struct worker - a thread that visits every WORKERS-th CPU, in turn
 * @ledger: the callouts
 * @end: the thread must end
 * @first: the first of its CPUs
 * @cpus: the number of all CPUs
 * @seed: the seed of its random numbers
 * @cancels: how many callouts the thread tries to cancel on each visit
 * @sets: the thread sets callouts, too
 * @thread: the thread
 */
struct worker {
	struct ledger *ledger;
	const atomic_bool *end;
	unsigned int first;
	unsigned int cpus;
	unsigned int seed;
	unsigned int cancels;
	bool sets;
	pthread_t thread;
};

static bool set_online(unsigned int cpu, bool online)
{
	char path[64];
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 cpu);
	ok = write_text(path, online ? "1" : "0");
	if (!ok)
		printf("# CPU %u: %s: %s\n", cpu, online ? "on" : "off",
		       strerror(errno));
	return ok;
}

/*
 * Take each CPU but CPU 0 offline and online, @rest ns between the steps. When
 * half of them are offline, the first offline CPU comes back.
 */
static bool storm_round(unsigned int cpus, __u64 rest)
{
	unsigned int away = cpus / 2 - 1, off;

	for (off = 1; off < cpus + away; off++) {
		if (off % 16 == 0)
			printf("# CPU %u\n", off);
		if (off < cpus) {
			if (!set_online(off, false))
				return false;
			sleep_ns(rest);
		}
		if (off > away) {
			if (!set_online(off - away, true))
				return false;
			sleep_ns(rest);
		}
	}
	return true;
}

/* Keep the thread where it is if the CPU is offline. The thread may lose its CPU at any time. */
static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int cpu = w->first, i;

	while (!*w->end) {
		pin_to_cpu(cpu);
		cpu += WORKERS;
		if (cpu >= w->cpus)
			cpu = w->first;
		if (w->sets && info_of(w->ledger->fd).outstanding < OUTSTANDING)
			for (i = 0; i < SETS; i++)
				ledger_set_within(w->ledger,
						  i % 4 ? SOON :
							  w->ledger->span,
						  &w->seed);
		for (i = 0; i < w->cancels; i++)
			ledger_cancel(w->ledger, &w->seed);
		for (i = 0; i < 8; i++)
			if (ledger_read(w->ledger, LEDGER_READ) < LEDGER_READ)
				break;
		sleep_ns(MSEC);
	}
	return NULL;
}

FIXTURE(storm) {
	struct ledger ledger;
	struct worker workers[WORKERS];
	unsigned int cpus;
	atomic_bool end;
};

/*
 * In the quiet storm no callout is set, so a lost callout stays lost, since no
 * later callout programs the tick for it. Thousands are due at a time, so that
 * CPUs often go offline during expiry. In the busy storm most callouts are due
 * soon, since few others are still on the CPU where they were set when they
 * expire.
 */
FIXTURE_VARIANT(storm) {
	__u64 span;
	__u64 grain;
	unsigned int cancels;
	bool sets;
};

FIXTURE_VARIANT_ADD(storm, quiet) {
	.span = 10 * SEC,
	.grain = 250 * MSEC,
	.cancels = 8,
};

FIXTURE_VARIANT_ADD(storm, busy) {
	.span = 60 * SEC,
	.cancels = 32,
	.sets = true,
};

/* Set callouts on all CPUs; false if some could not be set. */
static bool fill(struct ledger *l, __u64 span, __u64 grain, unsigned int cpus)
{
	unsigned int cpu, i, seed = 1;

	if (!ledger_init(l, CAPACITY, span))
		return false;
	l->grain = grain;
	l->recent = OUTSTANDING;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (!pin_to_cpu(cpu))
			return false;
		for (i = 0; i < OUTSTANDING / cpus; i++)
			ledger_set(l, &seed);
	}
	return pin_to_cpu(0);
}

FIXTURE_SETUP(storm)
{
	__u64 span = variant->span;
	unsigned int i;

	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_LE(WORKERS, self->cpus);
	ASSERT_TRUE(fill(&self->ledger, span, variant->grain, self->cpus));
	/* Most callouts are outstanding when the first CPU goes, however slow the machine is. */
	while (info_of(self->ledger.fd).outstanding -
	       info_of(self->ledger.fd).unread < OUTSTANDING / 2) {
		ledger_free(&self->ledger);
		span *= 2;
		ASSERT_GT(HOUR, span);
		ASSERT_TRUE(fill(&self->ledger, span, variant->grain,
				 self->cpus));
	}
	for (i = 0; i < WORKERS; i++) {
		struct worker *w = &self->workers[i];

		w->ledger = &self->ledger;
		w->end = &self->end;
		w->first = i;
		w->cpus = self->cpus;
		w->seed = i + 2;
		w->sets = variant->sets;
		w->cancels = variant->cancels;
		ASSERT_EQ(0, pthread_create(&w->thread, NULL, work, w));
	}
}

FIXTURE_TEARDOWN(storm)
{
	ledger_free(&self->ledger);
}

TEST_F_TIMEOUT(storm, off_and_on, TIMEOUT)
{
	__u64 start = dev_now(), end;
	unsigned int cycles, i, seed = 1;

	for (cycles = 0; cycles < CYCLES; cycles += self->cpus - 1)
		ASSERT_TRUE(storm_round(self->cpus, MSEC * (cycles % 7)));
	end = dev_now();
	printf("# %u cycles in %llu ms, outstanding now: %llu\n", cycles,
	       (end - start) / MSEC, info_of(self->ledger.fd).outstanding);
	self->end = true;
	for (i = 0; i < WORKERS; i++)
		pthread_join(self->workers[i].thread, NULL);
	if (variant->sets)
		ledger_cancel_later(&self->ledger, 2 * SEC, &seed);
	ledger_settle(&self->ledger);
	EXPECT_EQ(0, ledger_audit(&self->ledger));
	printf("# the latest: %llu ms\n", self->ledger.latest / MSEC);
	EXPECT_GT(WAIT_MS, self->ledger.latest / MSEC);
}

TEST_HARNESS_MAIN
