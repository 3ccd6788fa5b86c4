// SPDX-License-Identifier: GPL-2.0
/*
 * calloutctl.c - command line access to /dev/callout
 *
 * The commands set, sleep and info. Each other command has its own file.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"

/* Maximum number of events read at a time. */
#define EVENTS	64

static const char help[] =
"usage: calloutctl COMMAND [ARGUMENTS]\n"
"\n"
"  set [OPTIONS] TIME [COOKIE]\n"
"          set a callout, print its handle, wait until it has fired and print\n"
"          its event\n"
"            -n, --count COUNT    COUNT callouts, or events of a periodic one\n"
"            -a, --absolute       TIME is absolute\n"
"            -c, --clock CLOCK    monotonic, boottime, realtime,\n"
"                                 boottime-alarm or realtime-alarm\n"
"            -p, --period PERIOD  fire again each PERIOD after it was due\n"
"            -s, --slack SLACK    it may fire later, by up to SLACK; 0: exact\n"
"            -j, --json           print events as JSON, one a line\n"
"  sleep TIME\n"
"          set a callout and wait until it has fired\n"
"  shell [OPTIONS]\n"
"          take commands from stdin and print events as they come\n"
"            -j, --json           print events as JSON, one a line\n"
"          The commands:\n"
"            set [-a] [-c CLOCK] [-p PERIOD] [-s SLACK] TIME [COOKIE]\n"
"            move [-a] TIME HANDLE          cancel HANDLE\n"
"            timeout [-a] TIME FUNC ARG     untimeout FUNC ARG [HANDLE]\n"
"            info                           quit\n"
"  check\n"
"          check that the module is loaded, the device may be opened and a\n"
"          callout of 1 ms fires; say what is wrong and how to mend it\n"
"  info [OPTIONS]\n"
"          print clocks, limits, and counters of the whole facility\n"
"            -j, --json           print a JSON object\n"
"  stat [OPTIONS] [INTERVAL [COUNT]]\n"
"          print the counters of the whole facility, at first since the module\n"
"          was loaded and then for each INTERVAL (1s)\n"
"            -j, --json           print JSON, one object a line\n"
"  top [OPTIONS] [INTERVAL [TIMES]]\n"
"          print the open files with the most callouts, once or, with an\n"
"          INTERVAL, TIMES times or for ever; on a terminal q quits, s sorts\n"
"          by the next column\n"
"            -n, --count COUNT    at most COUNT lines (20, or the terminal's)\n"
"            --sort COLUMN        sort by COLUMN (outstanding), the most first\n"
"            --processes          a line is a process, not a file\n"
"            --kernel             the handlers and programs whose callouts fire\n"
"                                 most often, counted from the start of this\n"
"                                 command, and printed after INTERVAL (1s)\n"
"            -j, --json           print JSON, one object a line\n"
"  list [OPTIONS] [PID[/FD]]\n"
"          print the callouts of the files that all processes have open, or that\n"
"          process PID has open, or of its descriptor FD\n"
"            -j, --json           print JSON, one object a line\n"
"  bench [OPTIONS]\n"
"          measure arming, re-arming, disarming and expiry of callouts and of\n"
"          timerfds\n"
"            -n, --count COUNT    COUNT (1000) timers of each\n"
"            -j, --json           print JSON, one object a line\n"
"  demo [OPTIONS]\n"
"          set many callouts, cancel most, receive the others, and check that\n"
"          each was cancelled or fired, exactly once\n"
"            -n, --count COUNT    COUNT (100000) callouts\n"
"            -t, --time TIME      over TIME (5s)\n"
"            -s, --seed SEED      the seed of random choices\n"
"  fig9 [OPTIONS]\n"
"          measure set and cancel with 0 to 1000 others outstanding, as\n"
"          figure 9 of Varghese and Lauck's paper does\n"
"            -w, --write FILE     write the times by handle to FILE\n"
"            -c, --compare FILE   draw the times in FILE, of another run, too\n"
"  help [COMMAND]\n"
"          print this, or the usage of COMMAND\n"
"\n"
"\"calloutctl --version\" prints the version.\n"
"Times have a unit: ns, us, ms, s, min, h; for example 1.5s.\n"
"Exit status: 0, 1 if something failed, 2 if the arguments are wrong.\n";

bool callout_in_shell;

int callout_usage(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("calloutctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs(callout_in_shell ? "\n" : "\nTry \"calloutctl help\".\n", stderr);
	return CALLOUT_EXIT_USAGE;
}

int callout_failed(int error, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s: %s\n", what, strerror(-error));
	return CALLOUT_EXIT_FAILED;
}

/* As callout_failed(), for an operation that sets: name the parameter that is its limit. */
int callout_set_failed(int fd, int error, const char *what)
{
	struct callout_info info;

	if ((error != -ENOSPC && error != -EDQUOT) || callout_dev_info(fd, &info))
		return callout_failed(error, what);
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s: %s (max_per_%s=%llu)\n", what,
		strerror(-error), error == -ENOSPC ? "file" : "user",
		error == -ENOSPC ? info.max_outstanding : info.max_user);
	return CALLOUT_EXIT_FAILED;
}

/* Open the device. If that fails, print why and return a negative number. */
int callout_open_or_complain(int flags)
{
	int fd = callout_dev_open(flags);

	if (fd >= 0)
		return fd;
	fflush(stdout);
	fprintf(stderr, "calloutctl: %s\n", callout_open_strerror(fd));
	return fd;
}

int callout_getopt(int argc, char **argv, const struct option *options)
{
	char letters[32] = "+:", *end = letters + strlen(letters);
	const struct option *o;

	for (o = options; o->name; o++) {
		if (o->val < 'a')
			continue;
		*end++ = o->val;
		if (o->has_arg)
			*end++ = ':';
	}
	*end = '\0';
	return getopt_long(argc, argv, letters, options, NULL);
}

int callout_bad_option(char **argv, int opt)
{
	const char *word = argv[optind - 1];

	if (opt == ':')
		return callout_usage("%s: %s needs a value", argv[0], word);
	if (!optopt)
		return callout_usage("%s: no option %s", argv[0], word);
	if (!strncmp(word, "--", 2) && strchr(word, '='))
		return callout_usage("%s: %.*s takes no value", argv[0],
				     (int)strcspn(word, "="), word);
	return callout_usage("%s: no option -%c", argv[0], optopt);
}

static int wait_for_events(int fd, const struct callout_wish *wish)
{
	struct callout_event events[EVENTS];
	__u64 left = wish->count;
	int i, n, ret;

	/* Write what was set before waiting for events. */
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
			return callout_set_failed(fd, ret, "set");
		print_set(&op, wish->json);
		if (ferror(stdout))
			return CALLOUT_EXIT_FAILED;
	}
	return wait_for_events(fd, wish);
}

static int cmd_set(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "absolute", no_argument, NULL, 'a' },
		{ "clock", required_argument, NULL, 'c' },
		{ "period", required_argument, NULL, 'p' },
		{ "slack", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	struct callout_wish wish;
	int fd, ret;

	ret = callout_parse_wish(argc, argv, options, false, &wish);
	if (ret)
		return ret;
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = set_and_wait(fd, &wish);
	close(fd);
	return ret;
}

static int cmd_sleep(int argc, char **argv)
{
	static const struct option options[] = { { } };
	struct callout_event event;
	callout_handle_t handle;
	__u64 time;
	int fd, ret;

	ret = callout_getopt(argc, argv, options);
	if (ret != -1)
		return callout_bad_option(argv, ret);
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

/* Parse the options of a command whose only option is --json. */
int callout_parse_json(int argc, char **argv, bool *json)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	int opt;

	*json = false;
	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		if (opt != 'j')
			return callout_bad_option(argv, opt);
		*json = true;
	}
	return 0;
}

/* Parse the arguments of a command that takes nothing but --json. */
int callout_parse_only_json(int argc, char **argv, bool *json)
{
	int ret = callout_parse_json(argc, argv, json);

	if (ret)
		return ret;
	if (optind != argc)
		return callout_usage("%s: no argument \"%s\"", argv[0],
				     argv[optind]);
	return 0;
}

static int cmd_info(int argc, char **argv)
{
	struct callout_info info;
	int fd, ret;
	bool json;

	ret = callout_parse_only_json(argc, argv, &json);
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

static int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("calloutctl " CALLOUT_VERSION);
	return 0;
}

static int cmd_help(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "set",	cmd_set },
	{ "sleep",	cmd_sleep },
	{ "shell",	callout_cmd_shell },
	{ "check",	callout_cmd_check },
	{ "info",	cmd_info },
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

/* Print the lines of the help that describe a command; false if there are none. */
static bool help_on(const char *command)
{
	size_t len = strlen(command);
	const char *line;

	for (line = help; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "  ", 2) || strncmp(line + 2, command, len) ||
		    (line[2 + len] != ' ' && line[2 + len] != '\n'))
			continue;
		printf("usage: calloutctl %.*s\n", (int)strcspn(line + 2, "\n"),
		       line + 2);
		while ((line = strchr(line, '\n')) && line[1] == ' ' && line[3] == ' ') {
			line++;
			printf("%.*s\n", (int)strcspn(line, "\n"), line);
		}
		return true;
	}
	return false;
}

static int cmd_help(int argc, char **argv)
{
	if (argc == 1)
		fputs(help, stdout);
	else if (argc > 2)
		return callout_usage("help takes a command");
	else if (!*argv[1] || !help_on(argv[1]))
		return callout_usage("no command \"%s\"", argv[1]);
	return 0;
}

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
	opterr = 0;
	if (argc == 3 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))
		ret = cmd_help(2, (char *[]){ "help", argv[1] });
	else
		ret = run(argc - 1, argv + 1);
	if (callout_write_lines()) {
		fputs("calloutctl: cannot write the output\n", stderr);
		ret = CALLOUT_EXIT_FAILED;
	}
	return ret;
}
