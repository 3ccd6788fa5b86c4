// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - commands from stdin and events from the device, side by side
 *
 * A handle belongs to one open file, so this is where callouts can be set and
 * cancelled by hand: all commands work on the file that stays open.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"
#include "device.h"

#define EVENTS		64
#define LINE_MAX_LEN	256
#define WORDS		6

struct watch {
	int fd;
	bool quit;
	bool eof;
	bool skip;	/* the rest of a line that was too long */
	size_t len;
	char line[LINE_MAX_LEN];
};

static void complain(const char *why)
{
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s\n", why);
}

/* "set" and "timeout" take -a; returns how many words that was. */
static int take_abstime(int argc, char **argv, __u32 *flags)
{
	*flags = 0;
	if (argc < 2 || strcmp(argv[1], "-a"))
		return 0;
	*flags = CALLOUT_ABSTIME;
	return 1;
}

static void print_handle(int ret, const char *what, __u64 handle)
{
	if (ret < 0)
		callout_failed(ret, what);
	else
		printf("set handle 0x%llx\n", handle);
}

static void print_cancelled(int ret, const char *what)
{
	if (ret == CALLOUT_CANCELLED)
		puts("cancelled");
	else if (ret == CALLOUT_WITHDRAWN)
		puts("withdrawn: it had fired, its event was unread");
	else if (ret == -ENOENT)
		puts("not outstanding");
	else
		callout_failed(ret, what);
}

static bool watch_set(struct watch *w, int argc, char **argv)
{
	__u64 time, cookie = 0, handle = 0;
	__u32 flags;
	int ret, shift = take_abstime(argc, argv, &flags);

	argc -= shift;
	argv += shift;
	if (argc < 2 || argc > 3 || !callout_parse_time(argv[1], &time))
		return false;
	if (argc == 3 && !callout_parse_number(argv[2], &cookie))
		return false;
	ret = callout_dev_set(w->fd, flags, time, cookie, &handle);
	print_handle(ret, "set", handle);
	return true;
}

static bool watch_unset(struct watch *w, int argc, char **argv)
{
	__u64 handle;

	if (argc != 2 || !callout_parse_number(argv[1], &handle))
		return false;
	print_cancelled(callout_dev_unset(w->fd, handle), "unset");
	return true;
}

static bool watch_timeout(struct watch *w, int argc, char **argv)
{
	__u64 time, func, arg, handle = 0;
	__u32 flags;
	int ret, shift = take_abstime(argc, argv, &flags);

	argc -= shift;
	argv += shift;
	if (argc != 4 || !callout_parse_time(argv[1], &time) ||
	    !callout_parse_number(argv[2], &func) ||
	    !callout_parse_number(argv[3], &arg))
		return false;
	ret = callout_dev_timeout(w->fd, flags, time, func, arg, &handle);
	print_handle(ret, "timeout", handle);
	return true;
}

static bool watch_untimeout(struct watch *w, int argc, char **argv)
{
	__u64 func, arg, handle = 0;

	if (argc < 3 || argc > 4 || !callout_parse_number(argv[1], &func) ||
	    !callout_parse_number(argv[2], &arg))
		return false;
	if (argc == 4 && !callout_parse_number(argv[3], &handle))
		return false;
	print_cancelled(callout_dev_untimeout(w->fd, func, arg, handle),
			"untimeout");
	return true;
}

static bool watch_info(struct watch *w, int argc, char **argv)
{
	struct callout_info info;
	int ret;

	(void)argv;
	if (argc != 1)
		return false;
	ret = callout_dev_info(w->fd, &info);
	if (ret < 0)
		callout_failed(ret, "info");
	else
		callout_print_info(&info);
	return true;
}

static bool watch_quit(struct watch *w, int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return false;
	w->quit = true;
	return true;
}

static const struct {
	const char *name;
	const char *usage;
	bool (*run)(struct watch *w, int argc, char **argv);
} commands[] = {
	{ "set",	"set [-a] TIME [COOKIE]",	watch_set },
	{ "unset",	"unset HANDLE",			watch_unset },
	{ "timeout",	"timeout [-a] TIME FUNC ARG",	watch_timeout },
	{ "untimeout",	"untimeout FUNC ARG [HANDLE]",	watch_untimeout },
	{ "info",	"info",				watch_info },
	{ "quit",	"quit",				watch_quit },
};

static void run_line(struct watch *w, char *line)
{
	char *argv[WORDS];
	char *word, *save;
	int argc = 0;
	size_t i;

	for (word = strtok_r(line, " \t\r", &save); word && argc < WORDS;
	     word = strtok_r(NULL, " \t\r", &save))
		argv[argc++] = word;
	if (!argc)
		return;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (!commands[i].run(w, argc, argv)) {
			fflush(stdout);
			fprintf(stderr, "usage: %s\n", commands[i].usage);
		}
		return;
	}
	complain("commands are set, unset, timeout, untimeout, info, quit");
}

static void run_lines(struct watch *w)
{
	char *end;

	while (!w->quit && (end = memchr(w->line, '\n', w->len))) {
		*end++ = '\0';
		if (!w->skip)
			run_line(w, w->line);
		w->skip = false;
		w->len -= end - w->line;
		memmove(w->line, end, w->len);
	}
	if (w->len == sizeof(w->line)) {
		if (!w->skip)
			complain("line too long");
		w->skip = true;
		w->len = 0;
	}
}

static int read_stdin(struct watch *w)
{
	ssize_t n = read(STDIN_FILENO, w->line + w->len,
			 sizeof(w->line) - w->len);

	if (n < 0)
		return errno == EAGAIN ? 0 :
		       callout_failed(-errno, "standard input");
	if (!n) {
		w->eof = true;
		/* The last line may lack its end. There is room: see above. */
		w->line[w->len++] = '\n';
	}
	w->len += n;
	run_lines(w);
	return 0;
}

static int read_events(struct watch *w)
{
	struct callout_event events[EVENTS];
	int i, n = callout_dev_read(w->fd, events, EVENTS);

	if (n < 0)
		return n == -EAGAIN ? 0 : callout_failed(n, "read");
	for (i = 0; i < n; i++)
		callout_print_event(&events[i]);
	return 0;
}

/* Once stdin has ended, the last event is the end. */
static int nothing_left(struct watch *w)
{
	struct callout_info info;
	int ret = callout_dev_info(w->fd, &info);

	if (ret < 0)
		return callout_failed(ret, "info");
	if (!info.outstanding)
		w->quit = true;
	return 0;
}

static int watch_loop(struct watch *w)
{
	struct pollfd fds[] = {
		{ .fd = w->fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	int ret = 0;

	while (!ret && !w->quit) {
		fflush(stdout);
		if (poll(fds, 2, -1) < 0)
			return callout_failed(-errno, "poll");
		if (fds[0].revents)
			ret = read_events(w);
		if (!ret && fds[1].revents)
			ret = read_stdin(w);
		if (w->eof) {
			fds[1].fd = -1;
			fds[1].revents = 0;
			if (!ret && !w->quit)
				ret = nothing_left(w);
		}
	}
	return ret;
}

int callout_cmd_watch(int argc, char **argv)
{
	struct watch w = { 0 };
	int ret;

	(void)argv;
	if (argc != 1)
		return callout_usage("watch takes no arguments");
	w.fd = callout_open_or_complain(O_NONBLOCK);
	if (w.fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = watch_loop(&w);
	close(w.fd);
	return ret;
}
