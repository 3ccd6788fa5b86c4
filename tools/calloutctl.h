/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calloutctl.h - declarations that the commands of calloutctl share
 */
#ifndef _CALLOUTCTL_H
#define _CALLOUTCTL_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "libcallout.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define CALLOUT_NSEC_PER_SEC	1000000000ULL
#define CALLOUT_NSEC_PER_MSEC	1000000ULL

/* Exit status, if not 0. */
#define CALLOUT_EXIT_FAILED	1
#define CALLOUT_EXIT_USAGE	2

/* The clocks that callouts can have, and their names in arguments and output. */
#define CALLOUT_NR_CLOCKS	5

struct callout_clock {
	clockid_t id;
	const char *name;
};

extern const struct callout_clock callout_clocks[CALLOUT_NR_CLOCKS];

const char *callout_clock_name(clockid_t clockid);

/* Commands: argv[0] is the command's name. They return the exit status. */
int callout_cmd_shell(int argc, char **argv);
int callout_cmd_check(int argc, char **argv);
int callout_cmd_stat(int argc, char **argv);
int callout_cmd_top(int argc, char **argv);
int callout_cmd_list(int argc, char **argv);
int callout_cmd_bench(int argc, char **argv);
int callout_cmd_demo(int argc, char **argv);
int callout_cmd_fig9(int argc, char **argv);

/* The arguments are of a command of "shell", and no command line is to be tried again. */
extern bool callout_in_shell;

int callout_usage(const char *fmt, ...) __printf(1, 2);
int callout_failed(int error, const char *what);
int callout_set_failed(int fd, int error, const char *what);
int callout_open_or_complain(int flags);

/*
 * Return the val of the next option, or -1. A val that is a small letter is its short
 * name too.
 */
int callout_getopt(int argc, char **argv, const struct option *options);
int callout_bad_option(char **argv, int opt);
int callout_parse_json(int argc, char **argv, bool *json);
int callout_parse_only_json(int argc, char **argv, bool *json);

int callout_write_lines(void);

/* Styles of text, by their numbers in ECMA-48. */
#define CALLOUT_BOLD	1
#define CALLOUT_RED	31
#define CALLOUT_GREEN	32

void callout_style(int number);
unsigned int callout_terminal_lines(void);

extern bool callout_repaints;

/* Room for a number, or a name and a number, in a table. */
#define CALLOUT_TEXT_LEN	32

/**
 * struct callout_column - a column of a table, flush right
 * @name: its heading
 * @width: its width, unless a text is longer
 */
struct callout_column {
	const char *name;
	int width;
};

/* The texts of a line, without the text of the last column. */
struct callout_row {
	char text[12][CALLOUT_TEXT_LEN];
};

void callout_print_row(const struct callout_column *columns, unsigned int n,
		       const struct callout_row *row, const char *last,
		       int last_width);

/**
 * struct callout_json - a JSON object under construction, on one line
 * @members: how many members are written
 */
struct callout_json {
	unsigned int members;
};

void callout_json_begin(struct callout_json *j);
void callout_json_number(struct callout_json *j, const char *name, __u64 value);
void callout_json_hex(struct callout_json *j, const char *name, __u64 value);
void callout_json_decimal(struct callout_json *j, const char *name,
			  __u64 value);
void callout_json_real(struct callout_json *j, const char *name, double value);
void callout_json_string(struct callout_json *j, const char *name,
			 const char *value);
void callout_json_end(struct callout_json *j);

/* Write a time with up to three digits of a fraction, and a unit. */
void callout_time_text(__u64 ns, char text[CALLOUT_TEXT_LEN]);
void callout_print_event(const struct callout_event *event, bool json);

/**
 * struct callout_figures - counters of the whole facility since it was loaded
 * @handlers: callouts that have fired; this and the next ones are columns of
 *	debugfs's bases, of all CPUs together
 * @max_units: the greatest of all CPUs
 * @late: callouts by lateness in ticks: 0, 1, 2 to 3, 4 to 7, ...
 */
struct callout_figures {
	__u64 handlers, wakeups, false_wakeups, hops, visits, requeues;
	__u64 max_units;
	__u64 late[17];
};

void callout_json_late(struct callout_json *j, const struct callout_figures *f);

int callout_top_kernel_begin(void);
int callout_top_kernel_show(unsigned int count, bool json);
void callout_top_kernel_end(void);

int callout_read_figures(struct callout_figures *f);
bool callout_read_fdinfo(int fd, const char *name, __u64 *value);
void callout_unescape_name(char *name);
void callout_print_info(const struct callout_info *info, bool json);

/**
 * struct callout_wish - the arguments of "set", and of "move" in "shell"
 * @op: sets the callout
 * @count: how many callouts; of a periodic one, how many events
 * @json: print JSON
 */
struct callout_wish {
	struct callout_op op;
	__u64 count;
	bool json;
};

bool callout_parse_time(const char *s, __u64 *ns);
int callout_bad_time(const char *command, const char *what, const char *s);
int callout_parse_interval(const char *command, const char *s, __u64 *ns);
bool callout_parse_number(const char *s, __u64 *value);
int callout_parse_positive(const char *command, const char *what,
			   const char *s, __u64 max, __u64 *value);
int callout_parse_wish(int argc, char **argv, const struct option *options,
		       bool by_handle, struct callout_wish *wish);

static inline __u64 callout_ns(void)
{
	return callout_now(CLOCK_MONOTONIC);
}

/* The splitmix64 generator: any seed will do. */
static inline __u64 callout_random(__u64 *state)
{
	__u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif /* _CALLOUTCTL_H */
