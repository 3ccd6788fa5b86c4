// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - reads commands from stdin and events from the device
 *
 * A handle belongs to one open file. All commands work on the file that stays
 * open, so callouts can be set and cancelled by hand here.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"

#define EVENTS		64
#define LINE_MAX_LEN	256
#define WORDS		12

struct watch {
	int fd;
	bool json;
	bool quit;
	bool eof;
	bool skip;	/* the rest of the line, which is too long */
	size_t len;
	char line[LINE_MAX_LEN];
};

static void complain(const char *why)
{
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s\n", why);
}

static void answer(const struct watch *w, const char *what,
		   callout_handle_t handle)
{
	struct callout_json j;

	if (w->json) {
		callout_json_begin(&j);
		callout_json_string(&j, "event", what);
		if (handle)
			callout_json_hex(&j, "handle", handle);
		callout_json_end(&j);
	} else if (handle) {
		printf("%s handle 0x%llx\n", what, handle);
	} else {
		puts(what);
	}
}

static void print_cancelled(const struct watch *w, int ret, const char *what)
{
	if (ret == CALLOUT_CANCELLED)
		answer(w, "cancelled", 0);
	else if (ret == CALLOUT_WITHDRAWN)
		answer(w, w->json ? "withdrawn" :
		       "withdrawn: it had fired, its event was unread", 0);
	else if (ret == -ENOENT)
		answer(w, "not outstanding", 0);
	else
		callout_failed(ret, what);
}

/* Parses the arguments of "set" or "reset"; complains if it returns false. */
static bool parse_line(int argc, char **argv, const char *options,
		       bool by_handle, struct callout_wish *wish)
{
	optind = 0;
	return !callout_parse_wish(argc, argv, options, by_handle, wish);
}

static void set_op(const struct watch *w, struct callout_op *op,
		   const char *what)
{
	int ret = callout_do(w->fd, op);

	if (ret < 0)
		callout_failed(ret, what);
	else
		answer(w, "set", op->handle);
}

static bool watch_set(struct watch *w, int argc, char **argv)
{
	struct callout_wish wish;

	if (!parse_line(argc, argv, "+:ac:p:s:", false, &wish))
		return false;
	set_op(w, &wish.op, "set");
	return true;
}

static bool watch_reset(struct watch *w, int argc, char **argv)
{
	struct callout_wish wish;
	int ret;

	if (!parse_line(argc, argv, "+:ap:s:", true, &wish))
		return false;
	wish.op.op = CALLOUT_OP_RESET;
	/* The clock stays. */
	wish.op.clockid = 0;
	wish.op.flags |= CALLOUT_NEW_PERIOD | CALLOUT_NEW_SLACK;
	ret = callout_do(w->fd, &wish.op);
	if (ret == CALLOUT_CANCELLED || ret == CALLOUT_WITHDRAWN)
		answer(w, "set", wish.op.handle);
	else
		print_cancelled(w, ret, "reset");
	return true;
}

static bool watch_unset(struct watch *w, int argc, char **argv)
{
	__u64 handle;

	if (argc != 2 || !callout_parse_number(argv[1], &handle))
		return false;
	print_cancelled(w, callout_unset(w->fd, handle), "unset");
	return true;
}

static bool watch_timeout(struct watch *w, int argc, char **argv)
{
	bool abstime = argc > 1 && !strcmp(argv[1], "-a");
	__u64 time, func, arg;
	struct callout_op op;

	argc -= abstime;
	argv += abstime;
	if (argc != 4 || !callout_parse_time(argv[1], &time) ||
	    !callout_parse_number(argv[2], &func) ||
	    !callout_parse_number(argv[3], &arg))
		return false;
	op = callout_op_timeout(func, arg, time);
	if (abstime)
		op.flags = CALLOUT_ABSTIME;
	set_op(w, &op, "timeout");
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
	print_cancelled(w, callout_untimeout(w->fd, func, arg, handle),
			"untimeout");
	return true;
}

static void print_next(const struct watch *w, const char *clock, __u64 due)
{
	struct callout_json j;

	if (w->json) {
		callout_json_begin(&j);
		callout_json_string(&j, "event", "next");
		callout_json_string(&j, "clock", clock);
		if (due != CALLOUT_FOREVER)
			callout_json_number(&j, "due_ns", due);
		callout_json_end(&j);
	} else if (due == CALLOUT_FOREVER) {
		printf("next %s none\n", clock);
	} else {
		printf("next %s due %llu.%09llu\n", clock,
		       due / CALLOUT_NSEC_PER_SEC, due % CALLOUT_NSEC_PER_SEC);
	}
}

static bool watch_next(struct watch *w, int argc, char **argv)
{
	unsigned int i;
	__u64 due;
	int ret;

	(void)argv;
	if (argc != 1)
		return false;
	for (i = 0; i < CALLOUT_NR_CLOCKS; i++) {
		ret = callout_get_next(w->fd, callout_clocks[i].id, &due);
		/* Where nothing can wake the system there are no alarm clocks. */
		if (ret == -EOPNOTSUPP)
			continue;
		if (ret < 0)
			callout_failed(ret, "next");
		else
			print_next(w, callout_clocks[i].name, due);
	}
	return true;
}

static bool watch_info(struct watch *w, int argc, char **argv)
{
	struct callout_info info;
	int ret;

	(void)argv;
	if (argc != 1)
		return false;
	ret = callout_get_info(w->fd, &info);
	if (ret < 0)
		callout_failed(ret, "info");
	else
		callout_print_info(&info, w->json);
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
	{ "set",	"set [-a] [-c CLOCK] [-p PERIOD] [-s SLACK] TIME [COOKIE]",
	  watch_set },
	{ "reset",	"reset [-a] [-p PERIOD] [-s SLACK] TIME HANDLE",
	  watch_reset },
	{ "unset",	"unset HANDLE",			watch_unset },
	{ "timeout",	"timeout [-a] TIME FUNC ARG",	watch_timeout },
	{ "untimeout",	"untimeout FUNC ARG [HANDLE]",	watch_untimeout },
	{ "next",	"next",				watch_next },
	{ "info",	"info",				watch_info },
	{ "quit",	"quit",				watch_quit },
};

static void run_line(struct watch *w, char *line)
{
	char *argv[WORDS + 1];
	char *word, *save;
	int argc = 0;
	size_t i;

	for (word = strtok_r(line, " \t\r", &save); word && argc < WORDS;
	     word = strtok_r(NULL, " \t\r", &save))
		argv[argc++] = word;
	if (!argc)
		return;
	argv[argc] = NULL;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (!commands[i].run(w, argc, argv)) {
			fflush(stdout);
			fprintf(stderr, "usage: %s\n", commands[i].usage);
		}
		return;
	}
	fflush(stdout);
	fprintf(stderr, "calloutctl: no command \"%s\": ", argv[0]);
	fputs("they are set, reset, unset, timeout, untimeout, next, info, quit\n",
	      stderr);
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
		/* The last line may lack its end. run_lines() leaves room. */
		w->line[w->len++] = '\n';
	}
	w->len += n;
	run_lines(w);
	return 0;
}

static int read_events(struct watch *w)
{
	struct callout_event events[EVENTS];
	int i, n = callout_read(w->fd, events, EVENTS);

	if (n < 0)
		return n == -EAGAIN ? 0 : callout_failed(n, "read");
	for (i = 0; i < n; i++)
		callout_print_event(&events[i], w->json);
	return 0;
}

/* After the end of stdin, quits when no callout is outstanding. */
static int nothing_left(struct watch *w)
{
	struct callout_info info;
	int ret = callout_get_info(w->fd, &info);

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
		ret = callout_write_lines();
		if (ret)
			break;
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

	ret = callout_parse_json(argc, argv, &w.json);
	if (ret)
		return ret;
	/* The device would take its number. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
		complain("watch: standard input is closed");
		return CALLOUT_EXIT_FAILED;
	}
	w.fd = callout_open_or_complain(O_NONBLOCK);
	if (w.fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = watch_loop(&w);
	close(w.fd);
	return ret;
}
