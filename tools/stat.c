// SPDX-License-Identifier: GPL-2.0
/*
 * stat.c - prints the counters of the whole facility, like vmstat
 */
#include <stdio.h>

#include "calloutctl.h"

/* Lines between headings. */
#define LINES	20

static bool went_back(const struct callout_figures *f,
		      const struct callout_figures *before)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->late); i++)
		if (f->late[i] < before->late[i])
			return true;
	return f->handlers < before->handlers || f->wakeups < before->wakeups ||
	       f->false_wakeups < before->false_wakeups ||
	       f->hops < before->hops || f->visits < before->visits ||
	       f->requeues < before->requeues;
}

/* A module that was loaded since @before counts from 0. */
static void subtract(struct callout_figures *f,
		     const struct callout_figures *before)
{
	unsigned int i;

	if (went_back(f, before))
		return;
	f->handlers -= before->handlers;
	f->wakeups -= before->wakeups;
	f->false_wakeups -= before->false_wakeups;
	f->hops -= before->hops;
	f->visits -= before->visits;
	f->requeues -= before->requeues;
	for (i = 0; i < ARRAY_SIZE(f->late); i++)
		f->late[i] -= before->late[i];
}

/* They fit in 80 columns with max_units, which follows. */
static const struct callout_column columns[] = {
	{ "fired", 10 },
	{ "wakeups", 10 },
	{ "false", 8 },
	{ "hops", 7 },
	{ "visits", 10 },
	{ "requeues", 9 },
	{ "late>1tick", 10 },
};

#define MAX_UNITS_WIDTH	9

static void print_text(const struct callout_figures *f, unsigned int line)
{
	__u64 numbers[] = {
		f->handlers, f->wakeups, f->false_wakeups, f->hops, f->visits,
		f->requeues, 0,
	};
	char last[CALLOUT_TEXT_LEN];
	struct callout_row row;
	unsigned int i;

	for (i = 2; i < ARRAY_SIZE(f->late); i++)
		numbers[ARRAY_SIZE(numbers) - 1] += f->late[i];
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		snprintf(row.text[i], CALLOUT_TEXT_LEN, "%llu", numbers[i]);
	if (line % LINES == 0)
		callout_print_row(columns, ARRAY_SIZE(columns), NULL, "max_units",
				  MAX_UNITS_WIDTH);
	snprintf(last, sizeof(last), "%*llu", MAX_UNITS_WIDTH, f->max_units);
	callout_print_row(columns, ARRAY_SIZE(columns), &row, last, MAX_UNITS_WIDTH);
}

static void print_json(const struct callout_figures *f, __u64 ns)
{
	struct callout_json j;

	callout_json_begin(&j);
	if (ns)
		callout_json_number(&j, "interval_ns", ns);
	callout_json_number(&j, "fired", f->handlers);
	callout_json_number(&j, "wakeups", f->wakeups);
	callout_json_number(&j, "false_wakeups", f->false_wakeups);
	callout_json_number(&j, "hops", f->hops);
	callout_json_number(&j, "visits", f->visits);
	callout_json_number(&j, "requeues", f->requeues);
	callout_json_late(&j, f);
	callout_json_number(&j, "max_units", f->max_units);
	callout_json_end(&j);
}

/* Sleep until an absolute time, so that intervals do not drift. */
static void sleep_until(__u64 ns)
{
	struct timespec ts = {
		.tv_sec = ns / CALLOUT_NSEC_PER_SEC,
		.tv_nsec = ns % CALLOUT_NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

static int run(__u64 interval, __u64 count, bool json)
{
	__u64 now, then = 0, begin = callout_ns();
	struct callout_figures before = { 0 }, f, sum;
	__u64 i;
	int ret;

	for (i = 0; i < count; i++) {
		if (i)
			sleep_until(begin + i * interval);
		ret = callout_read_figures(&sum);
		if (ret)
			return callout_failed(ret,
					      "stat: only root gets these counters, from debugfs");
		now = callout_ns();
		f = sum;
		subtract(&f, &before);
		before = sum;
		if (json)
			print_json(&f, i ? now - then : 0);
		else
			print_text(&f, i);
		then = now;
		ret = callout_write_lines();
		if (ret)
			return ret;
	}
	return 0;
}

int callout_cmd_stat(int argc, char **argv)
{
	__u64 interval = CALLOUT_NSEC_PER_SEC, count = ~0ULL;
	int fd, ret;
	bool json;

	ret = callout_parse_json(argc, argv, &json);
	if (ret)
		return ret;
	argc -= optind;
	argv += optind;
	if (argc > 2)
		return callout_usage("stat takes at most an interval and a count");
	if (argc) {
		ret = callout_parse_interval("stat", argv[0], &interval);
		if (ret)
			return ret;
	}
	if (argc == 2) {
		ret = callout_parse_positive("stat", "count", argv[1], ~0U,
					     &count);
		if (ret)
			return ret;
	}
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	/* The module may not be loaded. */
	close(fd);
	return run(interval, count, json);
}
