// SPDX-License-Identifier: GPL-2.0
/*
 * top_kernel.c - who sets callouts: handlers of kernel code, and programs
 *
 * The kernel counts while debugfs's top is open for writing, so it stops when
 * calloutctl ends, however that ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "calloutctl.h"

#define LINE_LEN	512
#define NAME_LEN	256
#define NUMBER_LEN	16

/**
 * struct owner - a handler or a program
 * @armed: callouts that it has set, or moved
 * @cancelled: callouts that were cancelled
 * @expired: callouts that have fired
 * @pending: callouts that are
 * @late_ns: the lateness of all that have fired
 * @max_late_ns: the greatest
 * @pid: the process, or "-"
 * @uid: its user, or "-"
 * @name: the handler, or the name of the process
 */
struct owner {
	__u64 armed, cancelled, expired, pending, late_ns, max_late_ns;
	char pid[NUMBER_LEN], uid[NUMBER_LEN];
	char name[NAME_LEN];
};

/**
 * struct owners - those that have counts
 * @n: how many there are
 * @room: how many have memory
 * @owners: the owners
 */
struct owners {
	unsigned int n, room;
	struct owner *owners;
};

static bool add_owner(struct owners *o, const struct owner *owner)
{
	unsigned int room = o->room ? 2 * o->room : 64;
	struct owner *owners;

	if (o->n == o->room) {
		owners = realloc(o->owners, room * sizeof(*owners));
		if (!owners)
			return false;
		o->owners = owners;
		o->room = room;
	}
	o->owners[o->n++] = *owner;
	return true;
}

static int parse_line(struct owners *o, const char *line)
{
	struct owner owner;
	int end = 0;

	/* The lengths are those of the arrays, less one. */
	if (sscanf(line, "%llu %llu %llu %llu %llu %llu %15s %15s%n",
		   &owner.armed, &owner.cancelled, &owner.expired,
		   &owner.pending, &owner.late_ns, &owner.max_late_ns,
		   owner.pid, owner.uid, &end) != 8 || line[end] != ' ')
		return -EIO;
	/* A program's name can be empty, or begin with white space. */
	line += end + 1;
	snprintf(owner.name, sizeof(owner.name), "%.*s",
		 (int)strcspn(line, "\n"), line);
	if (owner.pid[0] != '-')
		callout_unescape_name(owner.name);
	return add_owner(o, &owner) ? 0 : -ENOMEM;
}

/* @f may have been read before. */
static int read_owners(struct owners *o, FILE *f)
{
	char line[LINE_LEN];
	int ret = 0;

	rewind(f);
	/* The headings. */
	if (!fgets(line, sizeof(line), f))
		return -EIO;
	while (!ret && fgets(line, sizeof(line), f))
		ret = parse_line(o, line);
	return ferror(f) ? -EIO : ret;
}

static int by_number(__u64 a, __u64 b)
{
	return (a < b) - (a > b);
}

static int by_expired(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return by_number(x->expired, y->expired) ?:
	       by_number(x->armed, y->armed) ?: strcmp(x->name, y->name) ?:
	       strcmp(x->pid, y->pid);
}

static double mean_late_ns(const struct owner *owner)
{
	return owner->expired ? (double)owner->late_ns / owner->expired : 0;
}

static const struct callout_column columns[] = {
	{ "armed", 10 },
	{ "cancelled", 10 },
	{ "expired", 10 },
	{ "pending", 10 },
	{ "late_us", 10 },
	{ "max_late_us", 11 },
	{ "pid", 7 },
	{ "uid", 7 },
};

/* Room for the name of a process; that of a handler may be longer. */
#define NAME_WIDTH	15

static void print_owner(const struct owner *owner)
{
	__u64 counts[] = {
		owner->armed, owner->cancelled, owner->expired, owner->pending,
	};
	struct callout_row row;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		snprintf(row.text[i], CALLOUT_TEXT_LEN, "%llu", counts[i]);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, "%.1f",
		 mean_late_ns(owner) / 1000);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, "%.1f",
		 owner->max_late_ns / 1000.0);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, "%s", owner->pid);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, "%s", owner->uid);
	callout_print_row(columns, ARRAY_SIZE(columns), &row, owner->name,
			  NAME_WIDTH);
}

static void print_text(const struct owners *o, unsigned int count)
{
	unsigned int i;

	callout_print_row(columns, ARRAY_SIZE(columns), NULL, "name",
			  NAME_WIDTH);
	for (i = 0; i < o->n && i < count; i++)
		print_owner(&o->owners[i]);
}

static void print_json(const struct owners *o, unsigned int count)
{
	const struct owner *owner;
	struct callout_json j;
	unsigned int i;

	for (i = 0; i < o->n && i < count; i++) {
		owner = &o->owners[i];
		callout_json_begin(&j);
		callout_json_number(&j, "armed", owner->armed);
		callout_json_number(&j, "cancelled", owner->cancelled);
		callout_json_number(&j, "expired", owner->expired);
		callout_json_number(&j, "pending", owner->pending);
		callout_json_real(&j, "late_us", mean_late_ns(owner) / 1000);
		callout_json_real(&j, "max_late_us",
				  owner->max_late_ns / 1000.0);
		if (owner->pid[0] != '-') {
			callout_json_number(&j, "pid", atoi(owner->pid));
			callout_json_number(&j, "uid",
					    strtoul(owner->uid, NULL, 10));
		}
		callout_json_string(&j, "name", owner->name);
		callout_json_end(&j);
	}
}

/* Prints at most @count lines of @f, CALLOUT_TOP_FILE; returns the exit status. */
int callout_top_kernel(FILE *f, unsigned int count, bool json)
{
	struct owners o = { 0 };
	int ret = read_owners(&o, f);

	if (!ret) {
		if (o.n)
			qsort(o.owners, o.n, sizeof(*o.owners), by_expired);
		if (json)
			print_json(&o, count);
		else
			print_text(&o, count);
	}
	free(o.owners);
	if (ret)
		return callout_failed(ret, CALLOUT_TOP_FILE);
	return callout_write_lines();
}
