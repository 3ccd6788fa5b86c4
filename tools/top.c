// SPDX-License-Identifier: GPL-2.0
/*
 * top.c - the open files with the most callouts
 *
 * debugfs has each file once, with the process that opened it. If debugfs
 * cannot be read, /proc/PID/fdinfo is read instead: it has fewer numbers, only
 * for the caller's own processes unless the caller is root, and it lists a file
 * once for each descriptor.
 */
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>

#include "calloutctl.h"

#define DEBUGFS_FILES	"/sys/kernel/debug/callout/files"

#define DEFAULT_COUNT	20
#define MAX_COUNT	1000000

/* A table of a large terminal. */
#define REPAINT_SIZE	65536

#define LINE_LEN	512
#define COMM_LEN	64

/* The columns; debugfs has them under these names. */
enum column {
	PID,
	UID,
	OUTSTANDING,
	UNREAD,
	LIMIT,
	SET,
	RESET,
	CANCELLED,
	WITHDRAWN,
	FIRED,
	DELIVERED,
	COLUMNS,
};

/* A column with the number of files follows. */
static const struct callout_column columns[COLUMNS + 1] = {
	[PID] = { "pid", 7 },
	[UID] = { "uid", 7 },
	[OUTSTANDING] = { "outstanding", 11 },
	[UNREAD] = { "unread", 11 },
	[LIMIT] = { "limit", 11 },
	[SET] = { "set", 11 },
	[RESET] = { "reset", 11 },
	[CANCELLED] = { "cancelled", 11 },
	[WITHDRAWN] = { "withdrawn", 11 },
	[FIRED] = { "fired", 11 },
	[DELIVERED] = { "delivered", 11 },
	[COLUMNS] = { "files", 5 },
};

/* The longest name of a process. */
#define COMM_WIDTH	15

/**
 * struct entry - an open file, or all files of a process
 * @known: bit n: values[n] is known
 * @files: number of files that the entry stands for
 * @values: by enum column
 * @comm: the name of the process
 */
struct entry {
	unsigned int known;
	unsigned int files;
	__u64 values[COLUMNS];
	char comm[COMM_LEN];
};

/**
 * struct table - the entries that were found
 * @n: how many entries there are
 * @room: how many entries have memory
 * @entries: the entries
 */
struct table {
	unsigned int n, room;
	struct entry *entries;
};

/* Return a new entry, or NULL. */
static struct entry *add_entry(struct table *t)
{
	unsigned int room = t->room ? 2 * t->room : 16;
	struct entry *entries;

	if (t->n == t->room) {
		entries = realloc(t->entries, room * sizeof(*entries));
		if (!entries)
			return NULL;
		t->entries = entries;
		t->room = room;
	}
	memset(&t->entries[t->n], 0, sizeof(t->entries[0]));
	t->entries[t->n].files = 1;
	return &t->entries[t->n++];
}

static void set_value(struct entry *e, const char *name, size_t len,
		      const char *value)
{
	enum column column;

	for (column = 0; column < COLUMNS; column++) {
		if (strlen(columns[column].name) == len &&
		    !memcmp(columns[column].name, name, len)) {
			e->values[column] = strtoull(value, NULL, 10);
			e->known |= 1U << column;
		}
	}
}

static void set_comm(struct entry *e, const char *comm)
{
	snprintf(e->comm, sizeof(e->comm), "%.*s",
		 (int)strcspn(comm, "\n"), comm);
}

/* Add an entry: each word of @line is under a word of @headings. */
static bool parse_line(struct table *t, const char *headings, const char *line)
{
	struct entry *e = add_entry(t);
	size_t name_len, len;

	if (!e)
		return false;
	for (;;) {
		headings += strspn(headings, "\n ");
		line += strspn(line, "\n ");
		name_len = strcspn(headings, "\n ");
		len = strcspn(line, "\n ");
		if (!name_len || !len)
			return true;
		if (name_len == 4 && !memcmp(headings, "comm", 4)) {
			set_comm(e, line);
			callout_unescape_name(e->comm);
		} else {
			set_value(e, headings, name_len, line);
		}
		headings += name_len;
		line += len;
	}
}

static int from_debugfs(struct table *t)
{
	char headings[LINE_LEN], line[LINE_LEN];
	FILE *f = fopen(DEBUGFS_FILES, "re");
	int ret = 0;

	if (!f)
		return -errno;
	if (!fgets(headings, sizeof(headings), f))
		ret = -EIO;
	while (!ret && fgets(line, sizeof(line), f))
		if (!parse_line(t, headings, line))
			ret = -ENOMEM;
	if (ferror(f))
		ret = -EIO;
	fclose(f);
	return ret;
}

static bool is_device(const char *pid, const char *fd)
{
	char path[LINE_LEN], target[sizeof(CALLOUT_DEVICE) + 1];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fd);
	len = readlink(path, target, sizeof(target));
	return len == sizeof(CALLOUT_DEVICE) - 1 &&
	       !memcmp(target, CALLOUT_DEVICE, len);
}

/* The process may end during this: files that cannot be read are left out. */
static int add_fdinfo(struct table *t, const char *pid, const char *fd)
{
	char path[LINE_LEN], line[LINE_LEN];
	struct entry *e;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	e = add_entry(t);
	if (e) {
		set_value(e, "pid", 3, pid);
		while (fgets(line, sizeof(line), f)) {
			len = strcspn(line, ":");
			if (line[len])
				set_value(e, line, len, line + len + 1);
		}
	}
	fclose(f);
	if (!e)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f))
		set_comm(e, line);
	fclose(f);
	return 0;
}

static int add_process(struct table *t, const char *pid)
{
	char path[LINE_LEN];
	struct dirent *d;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!ret && (d = readdir(dir)))
		if (is_device(pid, d->d_name))
			ret = add_fdinfo(t, pid, d->d_name);
	closedir(dir);
	return ret;
}

static int from_proc(struct table *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			ret = add_process(t, d->d_name);
	closedir(dir);
	return ret;
}

static int by_pid(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->values[PID] > y->values[PID]) -
	       (x->values[PID] < y->values[PID]);
}

static enum column sort_column = OUTSTANDING;

static int by_column(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->values[sort_column] < y->values[sort_column]) -
	       (x->values[sort_column] > y->values[sort_column]) ?:
	       by_pid(a, b);
}

/* Merge the entries of each process into one. */
static void merge_processes(struct table *t)
{
	enum column column;
	struct entry *e;
	unsigned int i, n = 0;

	if (!t->n)
		return;
	qsort(t->entries, t->n, sizeof(*t->entries), by_pid);
	for (i = 1; i < t->n; i++) {
		e = &t->entries[n];
		if (by_pid(e, &t->entries[i])) {
			t->entries[++n] = t->entries[i];
			continue;
		}
		e->files++;
		for (column = OUTSTANDING; column < COLUMNS; column++)
			e->values[column] += t->entries[i].values[column];
	}
	t->n = n + 1;
}

static void print_entry(const struct entry *e)
{
	struct callout_row row;
	enum column column;

	for (column = 0; column < COLUMNS; column++)
		snprintf(row.text[column], CALLOUT_TEXT_LEN,
			 e->known & 1U << column ? "%llu" : "-",
			 e->values[column]);
	snprintf(row.text[COLUMNS], CALLOUT_TEXT_LEN, "%u", e->files);
	callout_print_row(columns, ARRAY_SIZE(columns), &row, e->comm,
			  COMM_WIDTH);
}

static void print_text(const struct table *t, unsigned int count)
{
	unsigned int i;

	callout_print_row(columns, ARRAY_SIZE(columns), NULL, "comm",
			  COMM_WIDTH);
	for (i = 0; i < t->n && i < count; i++)
		print_entry(&t->entries[i]);
}

static void print_json(const struct table *t, unsigned int count)
{
	struct callout_json j;
	enum column column;
	unsigned int i;

	for (i = 0; i < t->n && i < count; i++) {
		callout_json_begin(&j);
		for (column = 0; column < COLUMNS; column++)
			if (t->entries[i].known & 1U << column)
				callout_json_number(&j, columns[column].name,
						    t->entries[i].values[column]);
		callout_json_number(&j, "files", t->entries[i].files);
		callout_json_string(&j, "comm", t->entries[i].comm);
		callout_json_end(&j);
	}
}

/**
 * struct options - how to show the files
 * @count: the most lines; 0: as many as the terminal has, or DEFAULT_COUNT
 * @interval: how often, in ns; 0: once
 * @times: how many tables
 * @processes: a line is a process, not a file
 * @kernel: handlers and programs, not files: see top_kernel.c
 * @json: as JSON
 */
struct options {
	__u64 count, interval, times;
	bool processes, kernel, json;
};

static unsigned int lines_of(const struct options *o)
{
	/* Headings above, and the cursor below. */
	unsigned int lines = callout_repaints ? callout_terminal_lines() : 0;

	if (o->count)
		return o->count;
	return lines > 2 ? lines - 2 : DEFAULT_COUNT;
}

static int show(const struct options *o)
{
	struct table t = { 0 };
	int ret = from_debugfs(&t);

	if (ret && access(CALLOUT_DEVICE, F_OK))
		return callout_failed(-errno, CALLOUT_DEVICE);
	if (ret) {
		t.n = 0;
		ret = from_proc(&t);
	}
	if (ret) {
		free(t.entries);
		return callout_failed(ret, "top");
	}
	if (o->processes)
		merge_processes(&t);
	if (t.n)
		qsort(t.entries, t.n, sizeof(*t.entries), by_column);
	if (o->json)
		print_json(&t, lines_of(o));
	else
		print_text(&t, lines_of(o));
	free(t.entries);
	return callout_write_lines();
}

/* The terminal's settings before keys were read, if keys are read. */
static struct termios terminal;
static bool has_keys;

static void end_keys(void)
{
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

static void on_signal(int sig)
{
	end_keys();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* A process in the background may not read the terminal. */
static void begin_keys(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct termios raw;
	unsigned int i;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &terminal) ||
	    tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	has_keys = true;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], on_signal);
	raw = terminal;
	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* Wait for the time to pass or a key. Return false if the key is q, or the terminal has gone. */
static bool wait_ns(__u64 ns)
{
	struct timespec ts = {
		.tv_sec = ns / CALLOUT_NSEC_PER_SEC,
		.tv_nsec = ns % CALLOUT_NSEC_PER_SEC,
	};
	struct pollfd pfd = { .fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN };
	char key;

	if (ppoll(&pfd, 1, &ts, NULL) <= 0)
		return true;
	if (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')
		return false;
	if (key == 's' && ++sort_column == COLUMNS)
		sort_column = OUTSTANDING;
	return true;
}

static int show_any(const struct options *o)
{
	int ret;

	if (callout_repaints)
		fputs("\033[H", stdout);
	ret = o->kernel ? callout_top_kernel_show(lines_of(o), o->json) : show(o);
	if (callout_repaints)
		fputs("\033[J", stdout);
	return ret ?: callout_write_lines();
}

static int run(const struct options *o)
{
	bool quit = false;
	__u64 left = o->interval ? o->times : 1;
	int ret = 0;

	if (o->interval && !o->json) {
		begin_keys();
		callout_repaints = isatty(STDOUT_FILENO) && left > 1;
		/* Write a table at once, so that it does not flicker. */
		if (callout_repaints) {
			setvbuf(stdout, NULL, _IOFBF, REPAINT_SIZE);
			fputs("\033[H\033[J", stdout);
		}
	}
	if (o->kernel) {
		ret = callout_top_kernel_begin();
		if (!ret)
			quit = !wait_ns(o->interval ?: CALLOUT_NSEC_PER_SEC);
	}
	if (!ret && !quit)
		ret = show_any(o);
	while (!ret && !quit && --left && wait_ns(o->interval)) {
		if (!o->json && !callout_repaints)
			putchar('\n');
		ret = show_any(o);
	}
	if (o->kernel)
		callout_top_kernel_end();
	end_keys();
	return ret;
}

/* Return COLUMNS if there is no such column. */
static enum column find_column(const char *name)
{
	enum column column = OUTSTANDING;

	while (column < COLUMNS && strcmp(columns[column].name, name))
		column++;
	return column;
}

int callout_cmd_top(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "processes", no_argument, NULL, 'P' },
		{ "kernel", no_argument, NULL, 'K' },
		{ "sort", required_argument, NULL, 'S' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	struct options o = { .times = ~0ULL };
	int opt, ret = 0;

	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		switch (opt) {
		case 'n':
			ret = callout_parse_positive("top", "count", optarg,
						     MAX_COUNT, &o.count);
			if (ret)
				return ret;
			break;
		case 'P':
			o.processes = true;
			break;
		case 'S':
			sort_column = find_column(optarg);
			if (sort_column == COLUMNS)
				return callout_usage("top: no column \"%s\" to sort by", optarg);
			break;
		case 'K':
			o.kernel = true;
			break;
		case 'j':
			o.json = true;
			break;
		default:
			return callout_bad_option(argv, opt);
		}
	}
	if (o.processes && o.kernel)
		return callout_usage("top: either --processes or --kernel");
	argc -= optind;
	argv += optind;
	if (argc > 2)
		return callout_usage("top takes at most an interval and how many times");
	if (argc) {
		ret = callout_parse_interval("top", argv[0], &o.interval);
		if (ret)
			return ret;
	}
	if (argc == 2) {
		ret = callout_parse_positive("top", "number of times", argv[1], ~0U,
					     &o.times);
		if (ret)
			return ret;
	}
	return run(&o);
}
