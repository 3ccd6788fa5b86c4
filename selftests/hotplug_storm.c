// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug_storm.c - CPUs come and go while 100 000 callouts are outstanding
 *
 * Threads pinned to the CPUs spread the callouts over the bases. Then CPUs 1 to
 * 3 go offline and online again, one or two of them offline at any time, while
 * callouts expire throughout. At the end the ledger must balance: each callout
 * has fired once or was cancelled.
 */
#include <pthread.h>

#include "kselftest_harness.h"
#include "ledger.h"

#define CPUS		4
#define OUTSTANDING	100000U
#define ROUND_CYCLES	3
#define CYCLES		51		/* off and on, in each test */
#define CAPACITY	2000000U
#define SOON		(200 * MSEC)
#define SETS		64
#define TIMEOUT		240		/* seconds; a longer test has hung */

struct worker {
	struct ledger *ledger;
	const atomic_bool *end;
	unsigned int cpu;
	unsigned int seed;
	unsigned int cancels;
	bool sets;
	pthread_t thread;
};

static bool set_online(unsigned int cpu, bool online)
{
	char path[64];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 cpu);
	fd = open(path, O_WRONLY);
	ok = fd >= 0 && write(fd, online ? "1" : "0", 1) == 1;
	if (!ok)
		printf("# CPU %u: %s: %s\n", cpu, online ? "on" : "off",
		       strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Takes each of CPUs 1 to 3 offline and online; @rest ns between the steps. */
static bool storm_round(__u64 rest)
{
	static const struct {
		unsigned int cpu;
		bool online;
	} steps[2 * ROUND_CYCLES] = {
		{ 1, false }, { 2, false }, { 1, true },
		{ 3, false }, { 2, true }, { 3, true },
	};
	unsigned int i;

	for (i = 0; i < 2 * ROUND_CYCLES; i++) {
		if (!set_online(steps[i].cpu, steps[i].online))
			return false;
		sleep_ns(rest);
	}
	return true;
}

/* A thread loses its affinity when its CPU goes offline: it sets it again. */
static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int i;

	while (!*w->end) {
		pin_to_cpu(w->cpu);
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
	struct worker workers[CPUS];
	atomic_bool end;
};

/*
 * In the quiet storm no callout is set: a lost one stays lost, since no later
 * one programs the tick for it. Thousands are due at a time, so that CPUs often
 * go offline during expiry. In the busy storm most callouts are due soon: few
 * others are still on the CPU where they were set when they expire.
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

FIXTURE_SETUP(storm)
{
	unsigned int cpu, i, seed = 1;

	ASSERT_TRUE(ledger_init(&self->ledger, CAPACITY,
				variant->span));
	self->ledger.grain = variant->grain;
	self->ledger.recent = OUTSTANDING;
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_TRUE(pin_to_cpu(cpu));
		for (i = 0; i < OUTSTANDING / CPUS; i++)
			ledger_set(&self->ledger, &seed);
	}
	ASSERT_TRUE(pin_to_cpu(0));
	for (cpu = 0; cpu < CPUS; cpu++) {
		struct worker *w = &self->workers[cpu];

		w->ledger = &self->ledger;
		w->end = &self->end;
		w->cpu = cpu;
		w->seed = cpu + 2;
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
	__u64 start = callout_dev_now(), end;
	unsigned int cycles, cpu, seed = 1;

	for (cycles = 0; cycles < CYCLES; cycles += ROUND_CYCLES)
		ASSERT_TRUE(storm_round(MSEC * (cycles % 7)));
	end = callout_dev_now();
	printf("# %u cycles in %llu ms, outstanding now: %llu\n", cycles,
	       (end - start) / MSEC, info_of(self->ledger.fd).outstanding);
	self->end = true;
	for (cpu = 0; cpu < CPUS; cpu++)
		pthread_join(self->workers[cpu].thread, NULL);
	if (variant->sets)
		ledger_cancel_later(&self->ledger, 2 * SEC, &seed);
	ledger_settle(&self->ledger);
	EXPECT_EQ(0, ledger_audit(&self->ledger));
	printf("# the latest: %llu ms\n", self->ledger.latest / MSEC);
	EXPECT_GT(WAIT_MS, self->ledger.latest / MSEC);
}

TEST_HARNESS_MAIN
