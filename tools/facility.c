// SPDX-License-Identifier: GPL-2.0
/*
 * facility.c - reads the facility's counters and names from debugfs, and the
 * counters of a file
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "calloutctl.h"

#define DIRECTORY	"/sys/kernel/debug/callout/"

/* More words than a line of "bases" has. */
#define MAX_COLUMNS	32

static const struct column {
	const char *name;
	size_t offset;
	bool is_max;	/* the maximum over all rows; the others are sums */
} columns[] = {
	{ "handlers", offsetof(struct callout_figures, handlers), false },
	{ "wakeups", offsetof(struct callout_figures, wakeups), false },
	{ "false_wakeups", offsetof(struct callout_figures, false_wakeups),
	  false },
	{ "hops", offsetof(struct callout_figures, hops), false },
	{ "visits", offsetof(struct callout_figures, visits), false },
	{ "requeues", offsetof(struct callout_figures, requeues), false },
	{ "max_units", offsetof(struct callout_figures, max_units), true },
};

/* Write to @place which of columns[] each heading is, or -1. */
static void read_heading(char *line, int *place)
{
	unsigned int n = 0, i;
	char *word, *save;

	for (word = strtok_r(line, "\n ", &save); word && n < MAX_COLUMNS;
	     word = strtok_r(NULL, "\n ", &save), n++)
		for (i = 0; i < ARRAY_SIZE(columns); i++)
			if (!strcmp(word, columns[i].name))
				place[n] = i;
}

static void add_row(char *line, const int *place, struct callout_figures *f)
{
	const struct column *c;
	unsigned int n = 0;
	char *word, *save;
	__u64 value, *sum;

	for (word = strtok_r(line, "\n ", &save); word && n < MAX_COLUMNS;
	     word = strtok_r(NULL, "\n ", &save), n++) {
		if (place[n] < 0)
			continue;
		c = &columns[place[n]];
		sum = (__u64 *)((char *)f + c->offset);
		value = strtoull(word, NULL, 10);
		if (!c->is_max)
			*sum += value;
		else if (value > *sum)
			*sum = value;
	}
}

static int read_bases(struct callout_figures *f)
{
	FILE *file = fopen(DIRECTORY "bases", "r");
	int place[MAX_COLUMNS], i;
	char line[1024];

	if (!file)
		return -errno;
	for (i = 0; i < MAX_COLUMNS; i++)
		place[i] = -1;
	if (fgets(line, sizeof(line), file))
		read_heading(line, place);
	while (fgets(line, sizeof(line), file))
		add_row(line, place, f);
	fclose(file);
	return 0;
}

static int read_lateness(struct callout_figures *f)
{
	FILE *file = fopen(DIRECTORY "lateness", "r");
	__u64 kernel, device;
	unsigned int n = 0;
	char line[128];

	if (!file)
		return -errno;
	while (n < ARRAY_SIZE(f->late) && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*u %llu %llu", &kernel, &device) == 2)
			f->late[n++] = kernel + device;
	fclose(file);
	return 0;
}

/* Return 0 or a negative errno value. Only root may read the file, if debugfs is mounted. */
int callout_read_figures(struct callout_figures *f)
{
	int ret;

	memset(f, 0, sizeof(*f));
	ret = read_bases(f);
	return ret ? ret : read_lateness(f);
}

/* Read a line of this process's fdinfo. */
bool callout_read_fdinfo(int fd, const char *name, __u64 *value)
{
	size_t len = strlen(name);
	bool found = false;
	char line[128];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	file = fopen(line, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, name, len) && line[len] == ':';
		if (found)
			*value = strtoull(line + len + 1, NULL, 10);
	}
	fclose(file);
	return found;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The files of debugfs write some bytes of a program's name as \ooo. */
void callout_unescape_name(char *name)
{
	char *to = name;

	while (*name) {
		if (name[0] == '\\' && is_octal(name[1]) && is_octal(name[2]) &&
		    is_octal(name[3])) {
			*to++ = (name[1] - '0') << 6 | (name[2] - '0') << 3 |
				(name[3] - '0');
			name += 4;
		} else {
			*to++ = *name++;
		}
	}
	*to = '\0';
}
