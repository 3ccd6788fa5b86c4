/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bases.h - counters of the facility, from the tables in debugfs
 */
#ifndef _CALLOUT_SELFTESTS_BASES_H
#define _CALLOUT_SELFTESTS_BASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLOUT_DEBUGFS	"/sys/kernel/debug/callout/"

/*
 * The sum of a column of a table there, of all rows if first is -1, else of the rows that begin
 * with it: a CPU, or a process; or -1.
 */
static inline long long debugfs_sum(const char *file, const char *column, int first)
{
	char path[64], line[256], *word, *rest;
	long long n, begins, sum = 0;
	int at = -1, i = 0;
	FILE *f;

	snprintf(path, sizeof(path), CALLOUT_DEBUGFS "%s", file);
	f = fopen(path, "r");
	if (!f)
		return -1;
	word = fgets(line, sizeof(line), f) ? strtok_r(line, "\n ", &rest) : NULL;
	for (; word; word = strtok_r(NULL, "\n ", &rest), i++)
		if (!strcmp(word, column))
			at = i;
	while (at >= 0 && fgets(line, sizeof(line), f)) {
		begins = strtoll(line, &rest, 10);
		n = begins;
		for (i = 0; i < at; i++)
			n = strtoll(rest, &rest, 10);
		if (first < 0 || begins == first)
			sum += n;
	}
	fclose(f);
	return at < 0 ? -1 : sum;
}

/* A column of all bases of a CPU, or of all bases if it is -1. */
static inline long long bases_sum(const char *column, int cpu)
{
	return debugfs_sum("bases", column, cpu);
}

#endif /* _CALLOUT_SELFTESTS_BASES_H */
