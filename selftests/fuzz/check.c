// SPDX-License-Identifier: GPL-2.0
/*
 * check.c - judges what a program did
 *
 * Besides the model, which can judge some programs only, these properties hold for all programs:
 *
 *	no event is early, and none is read twice, or after its callout was cancelled
 *	a callout is being read only while a thread reads a callout that is due
 *	fires a command is pending, or has completed, once a file's counters add
 *	up when no call is in progress
 *
 * Each call has noted in its outcome what it can see itself.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "fuzz.h"

#define ENTRIES		64

/* A file's counters, from its fdinfo. */
struct counts {
	__u64 set, cancelled, withdrawn, delivered, outstanding, unread;
};

static struct counts at_end[FILES];	/* the counters of each file when its calls had ended */

bool file_info(unsigned int file, struct callout_info *info)
{
	memset(info, 0, sizeof(*info));
	return run.kept[file] >= 0 &&
	       !ioctl(run.kept[file], CALLOUT_IOC_INFO, info);
}

static bool file_counts(unsigned int file, struct counts *counts)
{
	const struct {
		const char *name;
		__u64 *value;
	} lines[] = {
		{ "set", &counts->set },
		{ "cancelled", &counts->cancelled },
		{ "withdrawn", &counts->withdrawn },
		{ "delivered", &counts->delivered },
		{ "outstanding", &counts->outstanding },
		{ "unread", &counts->unread },
	};
	unsigned int found = 0, i;
	unsigned long long value;
	char line[64], name[32];
	FILE *f;

	memset(counts, 0, sizeof(*counts));
	if (run.kept[file] < 0)
		return false;
	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", run.kept[file]);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31[a-z]: %llu", name, &value) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(lines); i++) {
			if (strcmp(name, lines[i].name))
				continue;
			*lines[i].value = value;
			found++;
		}
	}
	if (f)
		fclose(f);
	return found == ARRAY_SIZE(lines);
}

/* The call that has set the callout of an event, if the callout fires once, or NULL. */
static const struct call *call_of(const struct seen *e)
{
	unsigned int i = (e->cookie & 0xff) - 1;

	if (e->flags & CALLOUT_EVENTF_PERIODIC || e->func ||
	    (e->cookie & ~0xffffULL) != COOKIE_MARK || i >= run.program->n ||
	    !kind_is_op(run.program->call[i].kind))
		return NULL;
	return &run.program->call[i];
}

static const char *check_event(const struct seen *e, unsigned char *reads)
{
	const struct call *c = call_of(e);
	unsigned int i;

	if ((e->clockid == CLOCK_MONOTONIC || e->clockid == CLOCK_BOOTTIME) &&
	    e->due > now_of(e->clockid))
		return "an event is early";
	if (e->clockid == CLOCK_MONOTONIC && e->fired < e->due)
		return "an event has fired before it was due";
	if (e->fired > now())
		return "an event has fired in the future";
	if (!c || c->poke)
		return NULL;
	i = c - run.program->call;
	if (reads[i]++)
		return "an event was read twice";
	return NULL;
}

static bool any_periodic(void)
{
	const struct call *c = run.program->call;
	unsigned int i;

	for (i = 0; i < run.program->n; i++, c++)
		if (kind_is_op(c->kind) && (c->poke || c->flags & F_PERIOD))
			return true;
	return false;
}

/* Might another thread have read events during the call? */
static bool met_reader(unsigned int i)
{
	const struct call *c = run.program->call;
	const struct outcome *o = run.outcome;
	unsigned int j;

	for (j = 0; j < run.program->n; j++)
		if (c[j].thread != c[i].thread && o[j].start < o[i].end &&
		    o[j].end > o[i].start &&
		    (c[j].kind == K_READ || c[j].kind == K_COMMAND ||
		     (c[j].kind == K_BATCH &&
		      (c[j].poke || c[j].flags & (B_EVENTS | B_WAIT)))))
			return true;
	return false;
}

/* The call whose callout an operation has permanently cancelled, or NO_TARGET. */
static unsigned int cancels(unsigned int i)
{
	const struct call *c = &run.program->call[i];
	const struct outcome *o = &run.outcome[i];

	if (c->kind != K_CANCEL || c->poke || o->unknown || o->ret <= 0)
		return NO_TARGET;
	return o->target;
}

/* Has a call read an event of the callout that call @set has set? */
static bool has_read(const struct outcome *o, unsigned int set)
{
	unsigned int i;

	for (i = 0; i < o->n; i++)
		if (!(o->seen[i].flags & CALLOUT_EVENTF_KEY) &&
		    o->seen[i].handle == run.outcome[set].handle)
			return true;
	return false;
}

/* Was an event of a callout that call @i has cancelled read later? */
static bool read_after(unsigned int i)
{
	unsigned int target = cancels(i), j;
	const struct outcome *o = run.outcome;

	for (j = 0; target != NO_TARGET && j < run.program->n; j++)
		if (o[j].start > o[i].end &&
		    file_at(run.program, o, j) == file_at(run.program, o, i) &&
		    has_read(&o[j], target))
			return true;
	return false;
}

/* Has an operation, or LIST, found a callout that was being read? */
static bool finds_reading(unsigned int i)
{
	const struct outcome *o = &run.outcome[i];

	return o->state == CALLOUT_STATE_READING ||
	       (kind_is_op(run.program->call[i].kind) && !o->unknown &&
		o->ret == CALLOUT_STATE_READING);
}

/* For a program whose calls are all made once, and read all events. */
static const char *check_cancels(void)
{
	bool periodic = any_periodic();
	unsigned int i;

	if (program_has(run.program, K_FORK) || program_has(run.program, K_RING_READ))
		return NULL;
	for (i = 0; i < run.program->n; i++) {
		if (finds_reading(i) && (!periodic || !met_reader(i)))
			return "a callout is being read, and there is no reader";
		if (read_after(i))
			return "an event was read after its callout was cancelled";
	}
	return NULL;
}

/*
 * Was a call of this kind poked, so that it may have done something else? A
 * poked BATCH may do operations that an earlier BATCH left behind its own.
 */
static bool poked(unsigned int kind)
{
	unsigned int i;

	for (i = 0; i < run.program->n; i++)
		if (run.program->call[i].kind == kind &&
		    run.program->call[i].poke)
			return true;
	return false;
}

static const char *check_events(void)
{
	const struct program *p = run.program;
	unsigned char reads[CALLS_MAX] = { 0 };
	const char *why = NULL;
	unsigned int i, j;

	for (i = 0; i < p->n; i++)
		if (run.outcome[i].wrong)
			return run.outcome[i].wrong;
	if (program_has(p, K_NUMBER) || program_has(p, K_SETTIME) ||
	    program_has(p, K_PAGE) || !program_keeps_files(p) || poked(K_BATCH))
		return NULL;
	for (i = 0; i < p->n && !why; i++)
		for (j = 0; j < run.outcome[i].n && !why; j++)
			why = check_event(&run.outcome[i].seen[j], reads);
	return why ? why : check_cancels();
}

/* Is a callout pending that is due, and has no slack that a program gave it? */
static bool is_due(unsigned int file)
{
	static struct callout_entry entries[ENTRIES];
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.nr_entries = ENTRIES,
		.entry_size = sizeof(entries[0]),
	};
	unsigned int i;

	if (ioctl(run.kept[file], CALLOUT_IOC_LIST, &list))
		return false;
	for (i = 0; i < list.got; i++)
		if (entries[i].state == CALLOUT_STATE_PENDING &&
		    !entries[i].left && entries[i].slack < MSEC)
			return true;
	return false;
}

static bool adds_up(const struct counts *i)
{
	return i->set == i->cancelled + i->withdrawn + i->delivered +
			 i->outstanding && i->unread <= i->outstanding;
}

static void pause_ms(void)
{
	static const struct timespec ms = { .tv_nsec = MSEC };

	nanosleep(&ms, NULL);
}

static const char *check_file(unsigned int file)
{
	__u64 limit = now() + PATIENCE;
	struct counts counts;

	/* Requests of a ring that was closed end some time later. */
	while (!file_counts(file, &counts) || !adds_up(&counts)) {
		if (now() > limit)
			return "the counters of a file do not add up";
		pause_ms();
	}
	at_end[file] = counts;
	if (counts.outstanding == counts.unread)
		return NULL;
	limit = now() + PATIENCE;
	while (is_due(file)) {
		if (now() > limit)
			return "a callout that is due does not fire";
		pause_ms();
	}
	return NULL;
}

/* The number of commands pending in a file. */
static unsigned int pending_commands(unsigned int file)
{
	static struct callout_entry entries[ENTRIES];
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.nr_entries = ENTRIES,
		.entry_size = sizeof(entries[0]),
	};
	unsigned int n = 0, i;

	do {
		if (run.kept[file] < 0 || ioctl(run.kept[file], CALLOUT_IOC_LIST, &list))
			return n;
		for (i = 0; i < list.got; i++)
			n += !!(entries[i].flags & CALLOUT_ENTRYF_COMMAND);
	} while (list.cursor);
	return n;
}

/* Have all commands that are not pending completed? If not, some are about to. */
static bool commands_settled(const char **why)
{
	unsigned int n = 0, pending = 0, i;

	for (i = 0; i < FILES; i++)
		pending += pending_commands(i);
	ring_reap();
	for (i = 0; i < run.program->n; i++) {
		if (!op_is_command(run.program, run.outcome, i))
			continue;
		n += !run.outcome[i].completions;
		if (run.outcome[i].completions > 1)
			*why = "a command has completed twice";
	}
	return n == pending;
}

/*
 * Called after the calls, before the ring is closed, which cancels pending
 * commands. Write to @left how many callouts are left in each file, and check that
 * all commands that are not pending have completed. Return what is wrong, or NULL.
 */
const char *check_commands(__u64 *left)
{
	const struct program *p = run.program;
	__u64 limit = now() + PATIENCE;
	struct callout_info info;
	const char *why = NULL;
	unsigned int i;

	for (i = 0; i < FILES; i++)
		left[i] = file_info(i, &info) ? info.outstanding : 0;
	if (!program_has(p, K_COMMAND) || program_has(p, K_FORK) ||
	    program_has(p, K_RING_CLOSE) || poked(K_COMMAND) || !program_keeps_files(p))
		return NULL;
	while (!commands_settled(&why) && !why) {
		if (now() > limit)
			return "a command is neither pending nor has it completed";
		pause_ms();
	}
	return why;
}

/* CANCEL_MATCHING leaves no callout. */
static const char *check_match(unsigned int file)
{
	__u64 limit = now() + PATIENCE;
	struct callout_match all = { 0 };
	struct counts counts;

	do {
		if (now() > limit)
			return "CANCEL_MATCHING leaves callouts behind";
		ioctl(run.kept[file], CALLOUT_IOC_CANCEL_MATCHING, &all);
	} while (!file_counts(file, &counts) || counts.outstanding);
	/* The counters are no snapshot: a command may fire while they are read. */
	while (!adds_up(&counts)) {
		if (now() > limit)
			return "CANCEL_MATCHING counts wrongly";
		pause_ms();
		file_counts(file, &counts);
	}
	return NULL;
}

/* @left: from check_commands(). @limited: see model_check(). */
const char *check_run(const __u64 *left, bool limited)
{
	const char *why = check_events();
	unsigned int i;

	memset(at_end, 0, sizeof(at_end));
	for (i = 0; i < FILES && !why; i++)
		if (run.kept[i] >= 0)
			why = check_file(i);
	run.judged = !why && model_fits(run.program);
	if (run.judged)
		why = model_check(run.program, run.outcome, left, limited);
	/* Otherwise callouts are pending when their file is closed. */
	for (i = 0; i < FILES && !why && run.program->n & 2; i++)
		if (run.kept[i] >= 0)
			why = check_match(i);
	return why;
}

/* Print what the calls of the program have returned. */
void check_report(const char *why)
{
	const struct outcome *o = run.outcome;
	__u64 first = ~0ULL;
	unsigned int i;

	printf("fuzz: REPORT: %s\n", why);
	for (i = 0; i < run.program->n; i++)
		if (o[i].ran && o[i].start < first)
			first = o[i].start;
	for (i = 0; i < run.program->n; i++) {
		printf("# call %u, thread %u, %s: ", i,
		       run.program->call[i].thread,
		       kind_name(run.program->call[i].kind));
		if (!o[i].ran) {
			printf("not done\n");
			continue;
		}
		printf("%lld%s, from %llu to %llu us, target %d, %u events\n",
		       o[i].ret, o[i].unknown ? " (unknown)" : "",
		       (o[i].start - first) / 1000, (o[i].end - first) / 1000,
		       o[i].target == NO_TARGET ? -1 : o[i].target, o[i].n);
	}
	for (i = 0; i < FILES; i++)
		printf("file %u: set %llu, cancelled %llu, withdrawn %llu, read %llu, left %llu\n",
		       i, at_end[i].set, at_end[i].cancelled,
		       at_end[i].withdrawn, at_end[i].delivered,
		       at_end[i].outstanding);
}
