// SPDX-License-Identifier: GPL-2.0
/*
 * calloutctl.c - command line access to /dev/callout
 *
 * The commands that try the device out: set, unset and info. watch, demo and
 * fig9 have files of their own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calloutctl.h"
#include "device.h"

/* Events that are read at a time. */
#define EVENTS	64

static const char help[] =
"usage: calloutctl COMMAND [ARGUMENTS]\n"
"\n"
"  set [-a] [-n COUNT] TIME [COOKIE]\n"
"          set COUNT callouts (1), print their handles, wait until they have\n"
"          fired and print their events; -a: TIME is not from now on but\n"
"          CLOCK_MONOTONIC's\n"
"  unset HANDLE\n"
"          cancel a callout of the file that this very command opens: there\n"
"          is none, see watch\n"
"  watch   take commands from stdin and print events as they come:\n"
"            set [-a] TIME [COOKIE]         unset HANDLE\n"
"            timeout [-a] TIME FUNC ARG     untimeout FUNC ARG [HANDLE]\n"
"            info                           quit\n"
"  info    print limits and counters\n"
"  demo [-n COUNT] [-t TIME] [-s SEED]\n"
"          set COUNT callouts (100000) over TIME (5s), cancel most, receive\n"
"          the others, and check that each does exactly one of the two\n"
"  fig9    measure set and cancel beside 0 to 1000 other callouts, as\n"
"          figure 9 of Varghese and Lauck's paper does\n"
"  help    print this\n"
"\n"
"TIME is in ns, or with a unit: ns, us, ms, s, min, h; for example 1.5s.\n"
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

/* Returns a negative number when it has complained. */
int callout_open_or_complain(int flags)
{
	int fd = callout_dev_open(flags);

	if (fd >= 0)
		return fd;
	callout_failed(fd, CALLOUT_DEVICE);
	if (fd == -ENOENT || fd == -ENXIO || fd == -ENODEV)
		fputs("The module is not loaded. As root:\n"
		      "  modprobe callout\n"
		      "or, where it was built: insmod callout.ko\n", stderr);
	else if (fd == -EACCES || fd == -EPERM)
		fputs("Only root may use it, unless a udev rule says otherwise.\n",
		      stderr);
	return fd;
}

void callout_print_event(const struct callout_event *event)
{
	__u64 late = event->fired - event->due;

	printf("fired handle 0x%llx cookie %llu", event->handle, event->cookie);
	if (event->func)
		printf(" func 0x%llx", event->func);
	printf(" due %llu.%09llu late %llu.%03llu ms\n",
	       event->due / CALLOUT_NSEC_PER_SEC,
	       event->due % CALLOUT_NSEC_PER_SEC,
	       late / CALLOUT_NSEC_PER_MSEC,
	       late % CALLOUT_NSEC_PER_MSEC / 1000);
}

static void print_count(const char *what, __u64 count)
{
	printf("%-16s%20llu\n", what, count);
}

void callout_print_info(const struct callout_info *info)
{
	char what[32];
	unsigned int i;

	print_count("ABI version", info->abi_version);
	print_count("op size", info->op_size);
	print_count("event size", info->event_size);
	print_count("tick ns", info->tick_ns);
	for (i = 0; i < 32; i++)
		if (info->clocks & 1U << i)
			print_count("clock", i);
	print_count("max outstanding", info->max_outstanding);
	print_count("outstanding", info->outstanding);
	print_count("  unread", info->unread);
	print_count("set", info->set);
	print_count("cancelled", info->cancelled);
	print_count("withdrawn", info->withdrawn);
	print_count("delivered", info->delivered);
	print_count("handlers", info->handlers);
	print_count("wakeups", info->wakeups);
	print_count("false wakeups", info->false_wakeups);
	print_count("hops", info->hops);
	print_count("visits", info->visits);
	print_count("refiles", info->refiles);
	print_count("max units", info->max_units);
	for (i = 0; i < ARRAY_SIZE(info->late); i++) {
		snprintf(what, sizeof(what), "  late from %u",
			 i ? 1U << (i - 1) : 0);
		print_count(what, info->late[i]);
	}
}

static int wait_for_events(int fd, __u64 count)
{
	struct callout_event events[EVENTS];
	int i, n;

	while (count) {
		n = callout_dev_read(fd, events, EVENTS);
		if (n < 0)
			return callout_failed(n, "read");
		for (i = 0; i < n; i++)
			callout_print_event(&events[i]);
		fflush(stdout);
		count -= n;
	}
	return 0;
}

static int set_and_wait(int fd, __u32 flags, __u64 count, __u64 time,
			__u64 cookie)
{
	__u64 i, handle;
	int ret;

	for (i = 0; i < count; i++) {
		ret = callout_dev_set(fd, flags, time, cookie + i, &handle);
		if (ret)
			return callout_failed(ret, "set");
		printf("set handle 0x%llx cookie %llu\n", handle, cookie + i);
	}
	fflush(stdout);
	return wait_for_events(fd, count);
}

int callout_cmd_set(int argc, char **argv)
{
	__u64 count = 1, time, cookie = 0;
	__u32 flags = 0;
	int opt, fd, ret;

	while ((opt = getopt(argc, argv, "+:an:")) != -1) {
		switch (opt) {
		case 'a':
			flags |= CALLOUT_ABSTIME;
			break;
		case 'n':
			if (!callout_parse_number(optarg, &count) || !count)
				return callout_usage("set: bad count \"%s\"",
						     optarg);
			break;
		case ':':
			return callout_usage("set: -%c needs a value", optopt);
		default:
			return callout_usage("set: no option -%c", optopt);
		}
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 || argc > 2)
		return callout_usage("set takes a time and perhaps a cookie");
	if (!callout_parse_time(argv[0], &time))
		return callout_usage("set: bad time \"%s\"", argv[0]);
	if (argc == 2 && !callout_parse_number(argv[1], &cookie))
		return callout_usage("set: bad cookie \"%s\"", argv[1]);

	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = set_and_wait(fd, flags, count, time, cookie);
	close(fd);
	return ret;
}

int callout_cmd_unset(int argc, char **argv)
{
	__u64 handle;
	int fd, ret;

	if (argc != 2)
		return callout_usage("unset takes a handle");
	if (!callout_parse_number(argv[1], &handle))
		return callout_usage("unset: bad handle \"%s\"", argv[1]);

	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = callout_dev_unset(fd, handle);
	close(fd);
	if (ret >= 0) {
		fputs("calloutctl: unset: cancelled a callout of a new file\n",
		      stderr);
		return CALLOUT_EXIT_FAILED;
	}
	callout_failed(ret, "unset");
	if (ret == -ENOENT)
		fputs("A handle is valid only in the open file that it was set in,\n"
		      "and this command has opened one of its own.\n"
		      "\"calloutctl watch\" takes both set and unset.\n", stderr);
	return CALLOUT_EXIT_FAILED;
}

int callout_cmd_info(int argc, char **argv)
{
	struct callout_info info;
	int fd, ret;

	(void)argv;
	if (argc != 1)
		return callout_usage("info takes no arguments");
	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = callout_dev_info(fd, &info);
	close(fd);
	if (ret)
		return callout_failed(ret, "info");
	callout_print_info(&info);
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fputs(help, stdout);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "set",	callout_cmd_set },
	{ "unset",	callout_cmd_unset },
	{ "watch",	callout_cmd_watch },
	{ "info",	callout_cmd_info },
	{ "demo",	callout_cmd_demo },
	{ "fig9",	callout_cmd_fig9 },
	{ "help",	cmd_help },
	{ "--help",	cmd_help },
	{ "-h",		cmd_help },
};

int main(int argc, char **argv)
{
	size_t i;
	int ret;

	if (argc < 2)
		return callout_usage("no command");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		ret = commands[i].run(argc - 1, argv + 1);
		if (fflush(stdout) || ferror(stdout)) {
			fputs("calloutctl: cannot write the output\n", stderr);
			ret = CALLOUT_EXIT_FAILED;
		}
		return ret;
	}
	return callout_usage("no command \"%s\"", argv[1]);
}
