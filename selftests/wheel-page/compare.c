// SPDX-License-Identifier: GPL-2.0
/*
 * compare.c - what the page of tools/wheel-page must show after a thousand timers by a seed
 *
 * The C of the page, compiled for this machine with the sanitizers, does what walk.py has the page
 * do. A line for each scheme: its name, what its table of costs must say, and which timer fired at
 * which tick and how late.
 */
#include <stdio.h>
#include <stdlib.h>
#include "wheel.h"

#define MAX_FIRED	2000U

struct fired {
	unsigned int n;
	unsigned int timer[MAX_FIRED];
	unsigned int tick[MAX_FIRED];
	unsigned int late[MAX_FIRED];
};

static struct fired *fired;
static unsigned int nr;

static void advance(unsigned int ticks)
{
	unsigned int k, i;

	wheel_advance(ticks);
	for (k = 0; k < nr; k++) {
		for (i = 0; i < wheel_fired(k); i++) {
			struct fired *f = &fired[k];

			f->timer[f->n] = wheel_fired_timer(k, i);
			f->tick[f->n] = wheel_now();
			f->late[f->n++] = wheel_late(k, i);
		}
	}
}

static void set(unsigned int n)
{
	while (n--)
		wheel_set(1 + wheel_random(2000));
}

static void change(unsigned int n)
{
	unsigned int i, timer;

	for (i = 0; i < n; i++) {
		timer = wheel_random(WHEEL_TIMERS);
		if (!wheel_pending(timer))
			continue;
		if (i % 2)
			wheel_cancel(timer);
		else
			wheel_move(timer, 1 + wheel_random(2000));
	}
}

static void print_costs(unsigned int k)
{
	unsigned int op, tenths;

	for (op = WHEEL_SET; op <= WHEEL_TICK; op++) {
		tenths = wheel_cost(k, op, WHEEL_TENTHS);
		printf("; %u %u.%u %u", wheel_cost(k, op, WHEEL_LAST), tenths / 10, tenths % 10,
		       wheel_cost(k, op, WHEEL_MOST));
	}
	printf("; %u", wheel_cost(k, WHEEL_PAIR, WHEEL_LAST));
}

int main(int argc, char **argv)
{
	unsigned int i, k;

	if (argc != 2) {
		fprintf(stderr, "usage: compare SEED\n");
		return 2;
	}
	nr = wheel_new(64, strtoul(argv[1], NULL, 0));
	fired = calloc(nr, sizeof(*fired));
	if (!fired)
		return 1;
	set(1000);
	change(400);
	wheel_pair(3000);
	for (i = 0; i < 500; i++)
		advance(1);
	set(100);
	advance(250);
	for (i = 0; i < 2000; i++)
		advance(1);
	for (k = 0; k < nr; k++) {
		printf("%s%s%s", wheel_name(k), *wheel_variant(k) ? ":" : "", wheel_variant(k));
		print_costs(k);
		printf("|");
		for (i = 0; i < fired[k].n; i++)
			printf(" %u@%u+%u", fired[k].timer[i], fired[k].tick[i], fired[k].late[i]);
		printf("\n");
	}
	free(fired);
	return 0;
}
