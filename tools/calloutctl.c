// SPDX-License-Identifier: GPL-2.0
/*
 * calloutctl.c - command line access to /dev/callout
 *
 * The commands set, sleep and info. The others have files of their own.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"

/* Events that are read at a time. */
#define EVENTS	64

static const char help[] =
"usage: calloutctl COMMAND [ARGUMENTS]\n"
"\n"
"  set [OPTIONS] TIME [COOKIE]\n"
"          set a callout, print its handle, wait until it has fired and print\n"
"          its event\n"
"            -n COUNT   COUNT callouts, or events of a periodic one\n"
"            -a         TIME is absolute\n"
"            -c CLOCK   monotonic, boottime, realtime, boottime-alarm or\n"
"                       realtime-alarm\n"
"            -p PERIOD  fire again each PERIOD after it was due\n"
"            -s SLACK   it may fire later, by up to SLACK\n"
"            --json     print events as JSON, one a line\n"
"  sleep TIME\n"
"          set a callout and wait until it has fired\n"
"  watch [--json]\n"
"          take commands from stdin and print events as they come:\n"
"            set [-a] [-c CLOCK] [-p PERIOD] [-s SLACK] TIME [COOKIE]\n"
"            move [-a] TIME HANDLE          cancel HANDLE\n"
"            timeout [-a] TIME FUNC ARG     untimeout FUNC ARG [HANDLE]\n"
"            info                           quit\n"
"  info [--json]\n"
"          print limits, and counters of the whole facility\n"
"  stat [--json] [INTERVAL [COUNT]]\n"
"          print the counters of the whole facility, at first since the module\n"
"          was loaded and then for each INTERVAL (1s)\n"
"  top [-n COUNT] [-p | --kernel] [--json] [INTERVAL]\n"
"          print the COUNT (20) open files with the most callouts, or with -p\n"
"          processes; once or, with an INTERVAL, again and again; or with\n"
"          --kernel the handlers and programs whose callouts fire most often,\n"
"          of those set, cancelled and fired while this runs: an INTERVAL (1s)\n"
"  list [--json] PID[/FD]\n"
"          print the callouts of the files that a process has open, or of its\n"
"          descriptor FD\n"
"  bench [-n COUNT] [--json]\n"
"          measure arming, re-arming and expiry of COUNT (1000) timers, and of\n"
"          as many timerfds\n"
"  demo [-n COUNT] [-t TIME] [-s SEED]\n"
"          set COUNT callouts (100000) over TIME (5s), cancel most, receive\n"
"          the others, and check that each was cancelled or fired, once\n"
"  fig9    measure set and cancel with 0 to 1000 others outstanding, as\n"
"          figure 9 of Varghese and Lauck's paper does\n"
"  help    print this\n"
"\n"
"\"calloutctl --version\" prints the version.\n"
"Times have a unit: ns, us, ms, s, min, h; for example 1.5s.\n"
"Exit status: 0, 1 if something failed, 2 if the arguments are wrong.\n";

int callout_usage(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("calloutctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nTry \"calloutctl help\".\n", stderr);
	return CALLOUT_EXIT_USAGE;
}

int callout_failed(int error, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s: %s\n", what, strerror(-error));
	return CALLOUT_EXIT_FAILED;
}

/* Prints why it failed, if it returns a negative number. */
int callout_open_or_complain(int flags)
{
	int fd = callout_dev_open(flags);

	if (fd >= 0)
		return fd;
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s\n", callout_open_strerror(fd));
	return fd;
}

int callout_getopt(int argc, char **argv, const char *options)
{
	/* Each command has those from one place on. */
	static const struct option names[] = {
		{ "kernel", no_argument, NULL, 'k' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	const struct option *first = names;

	while (first->name && !strchr(options, first->val))
		first++;
	return getopt_long(argc, argv, options, first, NULL);
}

int callout_bad_option(const char *command, int opt)
{
	if (opt == ':')
		return callout_usage("%s: -%c needs a value", command, optopt);
	if (optopt)
		return callout_usage("%s: no option -%c", command, optopt);
	return callout_usage("%s: no such option", command);
}

static int wait_for_events(int fd, const struct callout_wish *wish)
{
	struct callout_event events[EVENTS];
	__u64 left = wish->count;
	int i, n, ret;

	/* What was set. */
	ret = callout_write_lines();
	while (!ret && left) {
		n = callout_dev_read(fd, events, left < EVENTS ? left : EVENTS);
		if (n < 0)
			return callout_failed(n, "read");
		for (i = 0; i < n; i++)
			callout_print_event(&events[i], wish->json);
		ret = callout_write_lines();
		left -= n;
	}
	return ret;
}

static void print_set(const struct callout_op *op, bool json)
{
	struct callout_json j;

	if (!json) {
		printf("set handle 0x%llx cookie %llu\n", op->handle,
		       op->cookie);
		return;
	}
	callout_json_begin(&j);
	callout_json_string(&j, "event", "set");
	callout_json_hex(&j, "handle", op->handle);
	callout_json_decimal(&j, "cookie", op->cookie);
	callout_json_end(&j);
}

static int set_and_wait(int fd, const struct callout_wish *wish)
{
	__u64 i, n = wish->op.period ? 1 : wish->count;
	struct callout_op op;
	int ret;

	for (i = 0; i < n; i++) {
		op = wish->op;
		op.cookie += i;
		ret = callout_dev_do(fd, &op);
		if (ret)
			return callout_failed(ret, "set");
		print_set(&op, wish->json);
		if (ferror(stdout))
			return CALLOUT_EXIT_FAILED;
	}
	return wait_for_events(fd, wish);
}

int callout_cmd_set(int argc, char **argv)
{
	struct callout_wish wish;
	int fd, ret;

	ret = callout_parse_wish(argc, argv, "+:ac:n:p:s:j", false, &wish);
	if (ret)
		return ret;
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = set_and_wait(fd, &wish);
	close(fd);
	return ret;
}

int callout_cmd_sleep(int argc, char **argv)
{
	struct callout_event event;
	callout_handle_t handle;
	__u64 time;
	int fd, ret;

	ret = callout_getopt(argc, argv, "+:");
	if (ret != -1)
		return callout_bad_option("sleep", ret);
	if (argc - optind != 1)
		return callout_usage("sleep takes a time");
	if (!callout_parse_time(argv[optind], &time))
		return callout_bad_time("sleep", "time", argv[optind]);
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = callout_dev_set(fd, time, 0, &handle);
	if (!ret)
		ret = callout_dev_read(fd, &event, 1);
	close(fd);
	return ret < 0 ? callout_failed(ret, "sleep") : 0;
}

/* For commands that take no arguments but --json. */
int callout_parse_json(int argc, char **argv, bool *json)
{
	int opt;

	*json = false;
	while ((opt = callout_getopt(argc, argv, "+:j")) != -1) {
		if (opt != 'j')
			return callout_bad_option(argv[0], opt);
		*json = true;
	}
	if (optind != argc)
		return callout_usage("%s: no argument \"%s\"", argv[0],
				     argv[optind]);
	return 0;
}

int callout_cmd_info(int argc, char **argv)
{
	struct callout_info info;
	int fd, ret;
	bool json;

	ret = callout_parse_json(argc, argv, &json);
	if (ret)
		return ret;
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = callout_dev_info(fd, &info);
	close(fd);
	if (ret)
		return callout_failed(ret, "info");
	callout_print_info(&info, json);
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs(help, stdout);
	return 0;
}

static int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("calloutctl " CALLOUT_VERSION);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "set",	callout_cmd_set },
	{ "sleep",	callout_cmd_sleep },
	{ "watch",	callout_cmd_watch },
	{ "info",	callout_cmd_info },
	{ "stat",	callout_cmd_stat },
	{ "top",	callout_cmd_top },
	{ "list",	callout_cmd_list },
	{ "bench",	callout_cmd_bench },
	{ "demo",	callout_cmd_demo },
	{ "fig9",	callout_cmd_fig9 },
	{ "help",	cmd_help },
	{ "--help",	cmd_help },
	{ "-h",		cmd_help },
	{ "--version",	cmd_version },
	{ "-V",		cmd_version },
};

int main(int argc, char **argv)
{
	int (*run)(int argc, char **argv) = NULL;
	size_t i;
	int ret;

	if (argc < 2)
		return callout_usage("no command");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			run = commands[i].run;
	if (!run)
		return callout_usage("no command \"%s\"", argv[1]);
	if (argc == 3 && !strcmp(argv[2], "--help"))
		run = cmd_help;
	opterr = 0;
	ret = run(argc - 1, argv + 1);
	if (callout_write_lines()) {
		fputs("calloutctl: cannot write the output\n", stderr);
		ret = CALLOUT_EXIT_FAILED;
	}
	return ret;
}
