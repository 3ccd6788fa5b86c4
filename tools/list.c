// SPDX-License-Identifier: GPL-2.0
/*
 * list.c - the callouts of files that other processes have open
 *
 * Opening /proc/PID/fd/FD makes another file, without callouts. pidfd_getfd()
 * copies the descriptor: the copy refers to the same open file. This requires
 * the right to trace the process.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/stat.h>

#include "calloutctl.h"

/* Entries of a page. */
#define ENTRIES		256

/* Room for /proc/PID/fd/FD. */
#define PATH_LEN	40

/**
 * struct target - what to list
 * @pid: the process
 * @pidfd: a pidfd of the process, since its pid may be reused
 * @device: the device's number
 * @json: as JSON
 * @all: all descriptors; descriptors that are closed during the listing are
 *	left out
 * @everyone: all processes; processes that the caller may not trace are left
 *	out
 * @files: number of descriptors listed
 * @hidden: number of processes left out since the caller may not trace them
 */
struct target {
	int pid, pidfd;
	dev_t device;
	bool json, all, everyone;
	unsigned int files, hidden;
};

static const char *state_name(__u32 state)
{
	switch (state) {
	case CALLOUT_STATE_PENDING:
		return "pending";
	case CALLOUT_STATE_UNREAD:
		return "unread";
	case CALLOUT_STATE_READING:
		return "reading";
	default:
		return "unknown";
	}
}

static const char *kind_name(const struct callout_entry *entry)
{
	if (entry->flags & CALLOUT_ENTRYF_COMMAND)
		return "command";
	return entry->op == CALLOUT_OP_TIMEOUT ? "timeout" : "set";
}

enum { PID, FD, HANDLE, KEY, CLOCK, LEFT, PERIOD, SLACK, COOKIE, FUNC, COLUMNS };

static const struct callout_column columns[] = {
	[PID] = { "pid", 7 },
	[FD] = { "fd", 4 },
	[HANDLE] = { "handle", 14 },
	[KEY] = { "key", 10 },
	[CLOCK] = { "clock", 9 },
	[LEFT] = { "left", 12 },
	[PERIOD] = { "period", 12 },
	[SLACK] = { "slack", 12 },
	[COOKIE] = { "cookie", 10 },
	[FUNC] = { "func", 10 },
};

static void print_row(const struct callout_row *row, const char *state)
{
	/* "pending" is one of the longest states. */
	callout_print_row(columns, COLUMNS, row, state, 7);
}

static void print_text(int pid, int fd, const struct callout_entry *entry)
{
	char state[CALLOUT_TEXT_LEN];
	struct callout_row row = {
		.text = { [HANDLE] = "-", [KEY] = "-", [FUNC] = "-" },
	};

	snprintf(row.text[PID], CALLOUT_TEXT_LEN, "%d", pid);
	snprintf(row.text[FD], CALLOUT_TEXT_LEN, "%d", fd);
	if (entry->op_flags & CALLOUT_OPF_KEY)
		snprintf(row.text[KEY], CALLOUT_TEXT_LEN, "%llu", entry->key);
	else
		snprintf(row.text[HANDLE], CALLOUT_TEXT_LEN, "0x%llx",
			 entry->handle);
	snprintf(row.text[CLOCK], CALLOUT_TEXT_LEN, "%s",
		 callout_clock_name(entry->clockid));
	callout_time_text(entry->left, row.text[LEFT]);
	callout_time_text(entry->period, row.text[PERIOD]);
	callout_time_text(entry->slack, row.text[SLACK]);
	snprintf(row.text[COOKIE], CALLOUT_TEXT_LEN, "%llu", entry->cookie);
	if (entry->op == CALLOUT_OP_TIMEOUT)
		snprintf(row.text[FUNC], CALLOUT_TEXT_LEN, "0x%llx", entry->func);
	snprintf(state, sizeof(state), "%s%s", state_name(entry->state),
		 entry->flags & CALLOUT_ENTRYF_COMMAND ? " command" : "");
	print_row(&row, state);
}

static void print_json(int pid, int fd, const struct callout_entry *entry)
{
	struct callout_json j;

	callout_json_begin(&j);
	callout_json_number(&j, "pid", pid);
	callout_json_number(&j, "fd", fd);
	if (entry->op_flags & CALLOUT_OPF_KEY)
		callout_json_decimal(&j, "key", entry->key);
	else
		callout_json_hex(&j, "handle", entry->handle);
	callout_json_string(&j, "type", kind_name(entry));
	callout_json_string(&j, "clock", callout_clock_name(entry->clockid));
	callout_json_decimal(&j, "due_ns", entry->due);
	callout_json_decimal(&j, "left_ns", entry->left);
	callout_json_decimal(&j, "period_ns", entry->period);
	callout_json_decimal(&j, "slack_ns", entry->slack);
	callout_json_decimal(&j, "cookie", entry->cookie);
	if (entry->op == CALLOUT_OP_TIMEOUT)
		callout_json_hex(&j, "func", entry->func);
	callout_json_string(&j, "state", state_name(entry->state));
	callout_json_end(&j);
}

/* @copy refers to the same file as descriptor @fd of the process. */
static int list_copy(const struct target *t, int fd, int copy)
{
	struct callout_entry entries[ENTRIES];
	__u64 cursor = 0;
	int i, n;

	do {
		n = callout_dev_list(copy, &cursor, entries, ENTRIES);
		if (n < 0)
			return callout_failed(n, "list");
		for (i = 0; i < n; i++) {
			if (t->json)
				print_json(t->pid, fd, &entries[i]);
			else
				print_text(t->pid, fd, &entries[i]);
		}
		if (ferror(stdout))
			return CALLOUT_EXIT_FAILED;
	} while (cursor);
	return 0;
}

static int no_copy(int error)
{
	int ret = callout_failed(error, "pidfd_getfd");

	if (error == -EPERM)
		fputs("Only root may list a process's callouts, and users who may trace it:\n"
		      "see \"Ptrace access mode checking\" in ptrace(2).\n", stderr);
	return ret;
}

static bool is_device(const struct target *t, const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == t->device;
}

/*
 * Whether the descriptor was closed, or its file cannot be inspected, as in a
 * FUSE file system whose server has ended. If neither, the caller lacks the
 * permission to inspect it.
 */
static bool is_closed_or_dead(const char *path)
{
	char target;

	return readlink(path, &target, 1) > 0 || errno == ENOENT;
}

/*
 * Leave out a descriptor that is not of the device. Return a negative number if all
 * processes are listed and the caller may not trace this process.
 */
static int list_fd(struct target *t, int fd)
{
	char path[PATH_LEN];
	struct stat st;
	int copy, ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, fd);
	if (stat(path, &st)) {
		ret = -errno;
		if (t->everyone && ret == -EACCES && !is_closed_or_dead(path))
			return ret;
		return t->all && is_closed_or_dead(path) ? 0 :
		       callout_failed(ret, path);
	}
	if (!is_device(t, &st))
		return 0;
	copy = pidfd_getfd(t->pidfd, fd, 0);
	if (copy < 0) {
		ret = -errno;
		if (t->everyone && ret == -EPERM)
			return ret;
		return t->all && (ret == -EBADF || ret == -ESRCH) ? 0 :
		       no_copy(ret);
	}
	/* The process may have reused the number for another file since then. */
	if (!fstat(copy, &st) && is_device(t, &st)) {
		if (!t->files++ && !t->json)
			print_row(NULL, "state");
		ret = list_copy(t, fd, copy);
	}
	close(copy);
	return ret;
}

static int list_process(struct target *t)
{
	char path[PATH_LEN];
	struct dirent *d;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", t->pid);
	dir = opendir(path);
	if (!dir)
		return t->everyone ? -errno : callout_failed(-errno, path);
	while (!ret && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			ret = list_fd(t, atoi(d->d_name));
	closedir(dir);
	return ret;
}

/* A kernel thread has no arguments, and no files. */
static bool has_arguments(int pid)
{
	char path[PATH_LEN], byte;
	bool found;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	found = read(fd, &byte, 1) > 0;
	close(fd);
	return found;
}

static int list_one(struct target *t)
{
	int ret;

	t->pidfd = pidfd_open(t->pid, 0);
	if (t->pidfd < 0)
		return t->everyone && errno == ESRCH ? 0 :
		       callout_failed(-errno, "list: the process");
	ret = list_process(t);
	close(t->pidfd);
	if (ret >= 0)
		return ret;
	if (ret == -EACCES || ret == -EPERM)
		t->hidden += has_arguments(t->pid);
	return 0;
}

static int list_everyone(struct target *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int ret = 0;

	if (!dir)
		return callout_failed(-errno, "/proc");
	while (!ret && (d = readdir(dir))) {
		t->pid = atoi(d->d_name);
		if (t->pid && t->pid != getpid())
			ret = list_one(t);
	}
	closedir(dir);
	if (!ret)
		ret = callout_write_lines();
	if (t->hidden)
		fprintf(stderr,
			"calloutctl: list: processes left out that you may not trace: %u\n",
			t->hidden);
	return ret;
}

static int none_listed(const struct target *t, int fd)
{
	fflush(stdout);
	if (t->all)
		fprintf(stderr, "calloutctl: list: process %d has no descriptor of "
			CALLOUT_DEVICE "\n", t->pid);
	else
		fprintf(stderr, "calloutctl: list: descriptor %d of process %d is not of "
			CALLOUT_DEVICE "\n", fd, t->pid);
	return CALLOUT_EXIT_FAILED;
}

/* List descriptor @fd, or all if it is -1, of process @pid, or of all if it is 0. */
static int run(int pid, int fd, bool json)
{
	struct target t = { .pid = pid, .json = json, .all = fd < 0,
			    .everyone = !pid };
	struct stat st;
	int ret;

	if (stat(CALLOUT_DEVICE, &st))
		return callout_failed(-errno, CALLOUT_DEVICE);
	t.device = st.st_rdev;
	if (t.everyone)
		return list_everyone(&t);
	if (t.all) {
		ret = list_one(&t);
	} else {
		t.pidfd = pidfd_open(pid, 0);
		if (t.pidfd < 0)
			return callout_failed(-errno, "list: the process");
		ret = list_fd(&t, fd);
		close(t.pidfd);
	}
	if (!ret && !t.files)
		ret = none_listed(&t, fd);
	return ret;
}

/* Take a decimal number, at most INT_MAX, off the begin of @s. */
static bool take_number(const char **s, int *n)
{
	char *end;
	long value;

	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	value = strtol(*s, &end, 10);
	if (errno || value > INT_MAX)
		return false;
	*n = value;
	*s = end;
	return true;
}

/* PID, PID/FD, or /proc/PID/fd/FD. */
static bool parse_target(const char *s, int *pid, int *fd)
{
	bool is_path = !strncmp(s, "/proc/", strlen("/proc/"));
	const char *slash = is_path ? "/fd/" : "/";

	*fd = -1;
	if (is_path)
		s += strlen("/proc/");
	if (!take_number(&s, pid) || !*pid)
		return false;
	if (!*s)
		return !is_path;
	if (strncmp(s, slash, strlen(slash)))
		return false;
	s += strlen(slash);
	return take_number(&s, fd) && !*s;
}

int callout_cmd_list(int argc, char **argv)
{
	int pid, fd, ret;
	bool json;

	ret = callout_parse_json(argc, argv, &json);
	if (ret)
		return ret;
	if (optind == argc)
		return run(0, -1, json);
	if (argc - optind != 1)
		return callout_usage("list takes one process");
	if (!parse_target(argv[optind], &pid, &fd))
		return callout_usage("list: bad process \"%s\": not PID, PID/FD or /proc/PID/fd/FD",
				     argv[optind]);
	return run(pid, fd, json);
}
