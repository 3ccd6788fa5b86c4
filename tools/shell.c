// SPDX-License-Identifier: GPL-2.0
/*
 * shell.c - reads commands from stdin and events from the device
 *
 * A handle belongs to one open file. All commands use the same open file, so
 * callouts can be set and cancelled by hand here.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"

#define EVENTS		64
#define LINE_MAX_LEN	256
#define WORDS		12

struct shell {
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

/* Print what happened to a callout. @handle may be 0, and @note NULL. */
static void answer(const struct shell *s, const char *what,
		   callout_handle_t handle, const char *note)
{
	struct callout_json j;

	if (s->json) {
		callout_json_begin(&j);
		callout_json_string(&j, "event", what);
		if (handle)
			callout_json_hex(&j, "handle", handle);
		callout_json_end(&j);
		return;
	}
	fputs(what, stdout);
	if (handle)
		printf(" handle 0x%llx", handle);
	if (note)
		printf(": %s", note);
	putchar('\n');
}

/* @handle is the handle that the command named, or 0. */
static void print_cancelled(const struct shell *s, int ret, const char *what,
			    callout_handle_t handle)
{
	if (ret == CALLOUT_STATE_PENDING)
		answer(s, "cancelled", handle, NULL);
	else if (ret == CALLOUT_STATE_UNREAD)
		answer(s, "withdrawn", handle,
		       "it had fired, its event was unread");
	else if (ret == CALLOUT_STATE_READING)
		answer(s, s->json ? "reading" : "cancelled", handle,
		       "an event of it is being read");
	else if (ret == -ENOENT)
		answer(s, "not outstanding", handle, NULL);
	else
		callout_failed(ret, what);
}

/* Parse the arguments of "set" or "move". Complain if it returns false. */
static bool parse_line(int argc, char **argv, const struct option *options,
		       bool by_handle, struct callout_wish *wish)
{
	optind = 0;
	return !callout_parse_wish(argc, argv, options, by_handle, wish);
}

static void set_op(const struct shell *s, struct callout_op *op,
		   const char *what)
{
	int ret = callout_dev_do(s->fd, op);

	if (ret < 0)
		callout_set_failed(s->fd, ret, what);
	else
		answer(s, "set", op->handle, NULL);
}

static bool shell_set(struct shell *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "absolute", no_argument, NULL, 'a' },
		{ "clock", required_argument, NULL, 'c' },
		{ "period", required_argument, NULL, 'p' },
		{ "slack", required_argument, NULL, 's' },
		{ }
	};
	struct callout_wish wish;

	if (!parse_line(argc, argv, options, false, &wish))
		return true;
	set_op(s, &wish.op, "set");
	return true;
}

static bool shell_move(struct shell *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "absolute", no_argument, NULL, 'a' },
		{ }
	};
	struct callout_wish wish;
	struct callout_op op;
	int ret;

	if (!parse_line(argc, argv, options, true, &wish))
		return true;
	op = callout_op_move(wish.op.handle, wish.op.time);
	op.flags |= wish.op.flags;
	ret = callout_dev_do(s->fd, &op);
	if (ret > 0)
		answer(s, "set", op.handle, NULL);
	else
		print_cancelled(s, ret, "move", wish.op.handle);
	return true;
}

static bool shell_cancel(struct shell *s, int argc, char **argv)
{
	__u64 handle;

	if (argc != 2 || !callout_parse_number(argv[1], &handle))
		return false;
	print_cancelled(s, callout_dev_cancel(s->fd, handle), "cancel", handle);
	return true;
}

static bool shell_timeout(struct shell *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "absolute", no_argument, NULL, 'a' },
		{ }
	};
	bool abstime = false;
	__u64 time, func, arg;
	struct callout_op op;
	int opt;

	optind = 0;
	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		if (opt != 'a') {
			callout_bad_option(argv, opt);
			return true;
		}
		abstime = true;
	}
	if (argc - optind != 3)
		return false;
	argv += optind;
	if (!callout_parse_time(argv[0], &time)) {
		callout_bad_time("timeout", "time", argv[0]);
		return true;
	}
	if (!callout_parse_number(argv[1], &func) ||
	    !callout_parse_number(argv[2], &arg))
		return false;
	op = callout_op_timeout(func, arg, time);
	if (abstime)
		op.flags = CALLOUT_OPF_ABSTIME;
	set_op(s, &op, "timeout");
	return true;
}

static bool shell_untimeout(struct shell *s, int argc, char **argv)
{
	__u64 func, arg, handle = 0;
	struct callout_op op;

	if (argc < 3 || argc > 4 || !callout_parse_number(argv[1], &func) ||
	    !callout_parse_number(argv[2], &arg))
		return false;
	if (argc == 4 && !callout_parse_number(argv[3], &handle))
		return false;
	op = callout_op_untimeout(func, arg, handle);
	print_cancelled(s, callout_dev_do(s->fd, &op), "untimeout", handle);
	return true;
}

static bool shell_info(struct shell *s, int argc, char **argv)
{
	struct callout_info info;
	int ret;

	(void)argv;
	if (argc != 1)
		return false;
	ret = callout_dev_info(s->fd, &info);
	if (ret < 0)
		callout_failed(ret, "info");
	else
		callout_print_info(&info, s->json);
	return true;
}

static bool shell_quit(struct shell *s, int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return false;
	s->quit = true;
	return true;
}

/* A command that returns false has said nothing of what is wrong: its usage does. */
static const struct {
	const char *name;
	const char *usage;
	bool (*run)(struct shell *s, int argc, char **argv);
} commands[] = {
	{ "set",	"set [-a] [-c CLOCK] [-p PERIOD] [-s SLACK] TIME [COOKIE]",
	  shell_set },
	{ "move",	"move [-a] TIME HANDLE",	shell_move },
	{ "cancel",	"cancel HANDLE",		shell_cancel },
	{ "timeout",	"timeout [-a] TIME FUNC ARG",	shell_timeout },
	{ "untimeout",	"untimeout FUNC ARG [HANDLE]",	shell_untimeout },
	{ "info",	"info",				shell_info },
	{ "quit",	"quit",				shell_quit },
};

static void run_line(struct shell *s, char *line)
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
		if (!commands[i].run(s, argc, argv)) {
			fflush(stdout);
			fprintf(stderr, "usage: %s\n", commands[i].usage);
		}
		return;
	}
	fflush(stdout);
	fprintf(stderr, "calloutctl: no command \"%s\": ", argv[0]);
	fputs("they are set, move, cancel, timeout, untimeout, info, quit\n",
	      stderr);
}

static void run_lines(struct shell *s)
{
	char *end;

	while (!s->quit && (end = memchr(s->line, '\n', s->len))) {
		*end++ = '\0';
		if (!s->skip)
			run_line(s, s->line);
		s->skip = false;
		s->len -= end - s->line;
		memmove(s->line, end, s->len);
	}
	if (s->len == sizeof(s->line)) {
		if (!s->skip)
			complain("line too long");
		s->skip = true;
		s->len = 0;
	}
}

static int read_stdin(struct shell *s)
{
	ssize_t n = read(STDIN_FILENO, s->line + s->len,
			 sizeof(s->line) - s->len);

	if (n < 0)
		return errno == EAGAIN ? 0 :
		       callout_failed(-errno, "standard input");
	if (!n) {
		s->eof = true;
		/* The last line may lack its newline. run_lines() leaves room for it. */
		s->line[s->len++] = '\n';
	}
	s->len += n;
	run_lines(s);
	return 0;
}

static int read_events(struct shell *s)
{
	struct callout_event events[EVENTS];
	int i, n = callout_dev_read(s->fd, events, EVENTS);

	if (n < 0)
		return n == -EAGAIN ? 0 : callout_failed(n, "read");
	for (i = 0; i < n; i++)
		callout_print_event(&events[i], s->json);
	return 0;
}

/* After the end of stdin, quit when no callout is outstanding. */
static int nothing_left(struct shell *s)
{
	struct callout_info info;
	int ret = callout_dev_info(s->fd, &info);

	if (ret < 0)
		return callout_failed(ret, "info");
	if (!info.outstanding)
		s->quit = true;
	return 0;
}

static int shell_loop(struct shell *s)
{
	struct pollfd fds[] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	int ret = 0;

	while (!ret && !s->quit) {
		ret = callout_write_lines();
		if (ret)
			break;
		if (poll(fds, 2, -1) < 0)
			return callout_failed(-errno, "poll");
		if (fds[0].revents)
			ret = read_events(s);
		if (!ret && fds[1].revents)
			ret = read_stdin(s);
		if (s->eof) {
			fds[1].fd = -1;
			fds[1].revents = 0;
			if (!ret && !s->quit)
				ret = nothing_left(s);
		}
	}
	return ret;
}

int callout_cmd_shell(int argc, char **argv)
{
	struct shell s = { 0 };
	int ret;

	ret = callout_parse_only_json(argc, argv, &s.json);
	if (ret)
		return ret;
	/* The device would be opened with the number of standard input. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
		complain("shell: standard input is closed");
		return CALLOUT_EXIT_FAILED;
	}
	s.fd = callout_open_or_complain(O_NONBLOCK);
	if (s.fd < 0)
		return CALLOUT_EXIT_FAILED;
	callout_in_shell = true;
	ret = shell_loop(&s);
	close(s.fd);
	return ret;
}
