// SPDX-License-Identifier: GPL-2.0
/*
 * line_share.c - how long a line of memory takes from one CPU to another
 *
 * Two threads, each on a CPU, write to the same line in turns. Prints the time of a
 * turn, in ns, for the laboratory's model:
 *
 *	lab-remote: NS
 *
 * and nothing if there is only one CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS	101
#define TURNS	2000

static atomic_int turn;

/* The first CPUs that this process may use. If these are of one core, a line is nearer. */
static int cpus[2];

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Write whenever the other thread has written. @first: the turns of this thread are even. */
static void take_turns(int first)
{
	int i;

	for (i = first; i < 2 * TURNS; i += 2) {
		while (atomic_load_explicit(&turn, memory_order_acquire) != i)
			;
		atomic_store_explicit(&turn, i + 1, memory_order_release);
	}
}

static void *other(void *unused)
{
	pin(cpus[1]);
	take_turns(1);
	return NULL;
}

static double round_ns(void)
{
	struct timespec begin, end;
	pthread_t thread;

	atomic_store(&turn, 0);
	if (pthread_create(&thread, NULL, other, NULL))
		exit(1);
	/* The other thread runs when it has taken its first turn. */
	atomic_store(&turn, 1);
	while (atomic_load(&turn) != 2)
		;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	take_turns(2);
	clock_gettime(CLOCK_MONOTONIC, &end);
	pthread_join(thread, NULL);
	/* The turn is 2 at the beginning, and 2 * TURNS - 1 at the end. */
	return ((end.tv_sec - begin.tv_sec) * 1e9 + end.tv_nsec - begin.tv_nsec) /
	       (2 * TURNS - 3);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(void)
{
	double ns[ROUNDS];
	cpu_set_t set;
	int i, n = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpus[n++] = i;
	if (n < 2)
		return 0;
	pin(cpus[0]);
	for (i = 0; i < ROUNDS; i++)
		ns[i] = round_ns();
	qsort(ns, ROUNDS, sizeof(ns[0]), compare);
	/* Other programs take the CPUs away: the lower quartile, as of the part "share". */
	printf("lab-remote: %.1f\n", ns[ROUNDS / 4]);
	return 0;
}
