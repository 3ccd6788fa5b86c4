// SPDX-License-Identifier: GPL-2.0
/*
 * top_kernel.c - the users of callouts: handlers of kernel code, and programs
 *
 * The kernel counts, in histograms of the module's tracepoints. The histograms are
 * in a separate instance of tracefs, so that nobody else's tracing is disturbed. A
 * child removes the instance: it reads from a pipe whose other end only calloutctl
 * has, and so learns when calloutctl ends, in whatever way.
 *
 * A histogram does not keep the module from being unloaded, and the kernel has a
 * stale pointer after that. Therefore both processes have the device open while the
 * histogram exists.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "calloutctl.h"

#define TRACEFS		"/sys/kernel/tracing"
#define EVENTS		"/events/callout"
#define HIST		TRACEFS EVENTS "/callout_start/hist"

#define NAME_LEN	256
/* A histogram pads the name of a process to this many characters. */
#define COMM_PADDED	50

#define KEYS		"hist:keys=function.sym,pid,comm"

/*
 * Counting of ends starts before counting of settings, and ends are read first. So no
 * more ends than settings are shown, unless callouts were set before.
 */
static const char *const settings[][2] = {
	{ "/buffer_size_kb", "1" },
	{ "/trace_options", "norecord-cmd" },
	{ EVENTS "/callout_cancel/trigger", KEYS },
	{ EVENTS "/callout_expire_entry/trigger", KEYS ":vals=late_ns" },
	{ EVENTS "/callout_start/trigger", KEYS ":vals=moved" },
};

/**
 * struct owner - a handler or a program
 * @func: the address of the handler, or 0
 * @pid: the process, or 0
 * @armed: callouts that it has set, or moved
 * @moved: callouts that were pending when it set them
 * @cancelled: callouts that were cancelled
 * @expired: callouts that have fired
 * @late_ns: the sum of the lateness of all callouts that have fired
 * @name: the handler, or the name of the process
 */
struct owner {
	__u64 func;
	int pid;
	__u64 armed, moved, cancelled, expired, late_ns;
	char name[NAME_LEN];
};

/**
 * struct owners - the owners that have counts
 * @n: number of owners
 * @room: number of owners for which @owners has memory
 * @lost: events of others, for which the kernel had no room
 * @owners: the owners
 */
struct owners {
	unsigned int n, room;
	__u64 lost;
	struct owner *owners;
};

static char instance[64];	/* its path */
static int held = -1;		/* the end of the pipe that ends the child */
static pid_t child;

/* The owner with the key of @key, or NULL if there is no memory for a new owner. */
static struct owner *find_owner(struct owners *o, const struct owner *key)
{
	unsigned int i, room = o->room ? 2 * o->room : 64;
	struct owner *owners;

	for (i = 0; i < o->n; i++)
		if (o->owners[i].func == key->func &&
		    o->owners[i].pid == key->pid &&
		    !strcmp(o->owners[i].name, key->name))
			return &o->owners[i];
	if (o->n == o->room) {
		owners = realloc(o->owners, room * sizeof(*owners));
		if (!owners)
			return NULL;
		o->owners = owners;
		o->room = room;
	}
	o->owners[o->n] = *key;
	return &o->owners[o->n++];
}

/* Copy @len characters without the spaces at their end. */
static void set_name(struct owner *owner, const char *name, int len)
{
	while (len && name[len - 1] == ' ')
		len--;
	snprintf(owner->name, sizeof(owner->name), "%.*s", len, name);
}

/*
 * Read an entry of a histogram, from its first key on:
 *
 *	{ function: [ffffffffc0201010] ran [client]  , pid:  0, comm:  } hitcount:  7  moved:  2
 *
 * The third number is present only if the histogram sums a value. Programs choose comm,
 * which can have any characters: only its length says where it ends.
 *
 * Return what follows, or NULL.
 */
static const char *parse_entry(const char *s, struct owner *key, __u64 *hits,
			       __u64 *sum)
{
	int name = 0, name_end = 0, comm = 0, end = 0;

	if (sscanf(s, "%llx] %n%*[^,]%n, pid: %d, comm:%n", &key->func, &name,
		   &name_end, &key->pid, &comm) != 2 || !comm ||
	    strnlen(s + comm, 1 + COMM_PADDED) <= COMM_PADDED)
		return NULL;
	comm++;
	if (key->func)
		set_name(key, s + name, name_end - name);
	else
		set_name(key, s + comm, COMM_PADDED);
	s += comm + COMM_PADDED;
	if (sscanf(s, " } hitcount: %llu%n", hits, &end) != 1)
		return NULL;
	s += end;
	if (sscanf(s, "%*[ ]%*[a-z_]: %llu", sum) != 1)
		*sum = 0;
	return s;
}

static int parse_hist(struct owners *o, char event, const char *s)
{
	const char *const first = "{ function: [", *found;
	struct owner key, *owner;
	__u64 hits, sum;

	while ((found = strstr(s, first))) {
		key = (struct owner){ 0 };
		s = parse_entry(found + strlen(first), &key, &hits, &sum);
		if (!s)
			return -EIO;
		owner = find_owner(o, &key);
		if (!owner)
			return -ENOMEM;
		switch (event) {
		case 'c':
			owner->cancelled = hits;
			break;
		case 'e':
			owner->expired = hits;
			owner->late_ns = sum;
			break;
		case 's':
			owner->armed = hits;
			owner->moved = sum;
			break;
		}
	}
	s = strstr(s, "Dropped: ");
	if (!s)
		return -EIO;
	o->lost += strtoull(s + strlen("Dropped: "), NULL, 10);
	return 0;
}

/* Add the counts of the histogram of an event, named without its prefix "callout_". */
static int read_hist(struct owners *o, const char *event)
{
	char path[128], *text = NULL;
	size_t size = 0;
	FILE *f;
	int ret;

	snprintf(path, sizeof(path), "%s" EVENTS "/callout_%s/hist", instance,
		 event);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* No name contains this byte. */
	if (getdelim(&text, &size, '\0', f) < 0)
		ret = -EIO;
	else
		ret = parse_hist(o, event[0], text);
	free(text);
	fclose(f);
	return ret;
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
	       by_number(y->pid, x->pid);
}

static double mean_late_ns(const struct owner *owner)
{
	return owner->expired ? (double)owner->late_ns / owner->expired : 0;
}

static const struct callout_column columns[] = {
	{ "armed", 10 },
	{ "moved", 10 },
	{ "cancelled", 10 },
	{ "expired", 10 },
	{ "late_us", 10 },
	{ "pid", 7 },
};

/* Room for the name of a process. The name of a handler may be longer. */
#define NAME_WIDTH	15

static void print_owner(const struct owner *owner)
{
	__u64 counts[] = {
		owner->armed, owner->moved, owner->cancelled, owner->expired,
	};
	struct callout_row row;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		snprintf(row.text[i], CALLOUT_TEXT_LEN, "%llu", counts[i]);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, "%.1f",
		 mean_late_ns(owner) / 1000);
	snprintf(row.text[i++], CALLOUT_TEXT_LEN, owner->func ? "-" : "%d",
		 owner->pid);
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
		callout_json_number(&j, "moved", owner->moved);
		callout_json_number(&j, "cancelled", owner->cancelled);
		callout_json_number(&j, "expired", owner->expired);
		callout_json_real(&j, "late_us", mean_late_ns(owner) / 1000);
		if (!owner->func)
			callout_json_number(&j, "pid", owner->pid);
		callout_json_string(&j, "name", owner->name);
		callout_json_end(&j);
	}
}

/* Print at most @count lines of the counts. Return the exit status. */
int callout_top_kernel_show(unsigned int count, bool json)
{
	struct owners o = { 0 };
	int ret;

	ret = read_hist(&o, "cancel") ?: read_hist(&o, "expire_entry") ?:
	      read_hist(&o, "start");
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
		return callout_failed(ret, instance);
	if (o.lost)
		fprintf(stderr,
			"calloutctl: %llu events were lost: too many handlers and programs\n",
			o.lost);
	return callout_write_lines();
}

/* Report why counting is impossible. Return the exit status. */
static int complain(int error)
{
	callout_failed(error, HIST);
	if (error != -ENOENT)
		return CALLOUT_EXIT_FAILED;
	if (access(TRACEFS "/events", F_OK))
		fputs("There is no tracefs. As root:\n"
		      "  mount -t tracefs none " TRACEFS "\n", stderr);
	else if (access(TRACEFS EVENTS, F_OK))
		fputs("The kernel has no tracepoints of the module: was it loaded by force?\n",
		      stderr);
	else
		fputs("The kernel has no histograms: build it with CONFIG_HIST_TRIGGERS.\n",
		      stderr);
	return CALLOUT_EXIT_FAILED;
}

static void remove_instance(void)
{
	struct timespec ts = { .tv_nsec = 10 * CALLOUT_NSEC_PER_MSEC };

	/* Others may read the instance, and calloutctl itself until all its files are closed. */
	while (rmdir(instance) && errno == EBUSY)
		nanosleep(&ts, NULL);
}

/* Start a child that removes the instance when calloutctl ends. */
static int begin_child(void)
{
	sigset_t all, old;
	int ends[2], ret;
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	/* A signal that ends calloutctl does not end the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	child = fork();
	if (!child) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) > 0)
			;
		remove_instance();
		_exit(0);
	}
	ret = child < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(ends[0]);
	held = ends[1];
	return ret;
}

static int write_setting(const char *const setting[2])
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s%s", instance, setting[0]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, setting[1], strlen(setting[1])) < 0)
		ret = callout_failed(-errno, path);
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * Start counting. callout_top_kernel_end() must follow, also after an error. Return
 * the exit status.
 */
int callout_top_kernel_begin(void)
{
	unsigned int i;
	int ret;

	if (callout_open_or_complain(0) < 0)
		return CALLOUT_EXIT_FAILED;
	if (access(HIST, F_OK))
		return complain(-errno);
	snprintf(instance, sizeof(instance), TRACEFS "/instances/calloutctl-%d",
		 getpid());
	ret = begin_child();
	if (ret)
		return callout_failed(ret, "top");
	if (mkdir(instance, 0700))
		return callout_failed(-errno, instance);
	for (i = 0; !ret && i < ARRAY_SIZE(settings); i++)
		ret = write_setting(settings[i]);
	return ret;
}

void callout_top_kernel_end(void)
{
	if (held < 0)
		return;
	close(held);
	if (child > 0)
		waitpid(child, NULL, 0);
}
