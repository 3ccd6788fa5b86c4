/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calloutctl.h - what the commands of calloutctl share
 */
#ifndef _CALLOUTCTL_H
#define _CALLOUTCTL_H

#include <stdbool.h>

#include <linux/callout.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit status, beside 0. */
#define CALLOUT_EXIT_FAILED	1
#define CALLOUT_EXIT_USAGE	2

/* Commands: argv[0] is the command's name. They return the exit status. */
int callout_cmd_set(int argc, char **argv);
int callout_cmd_unset(int argc, char **argv);
int callout_cmd_watch(int argc, char **argv);
int callout_cmd_info(int argc, char **argv);
int callout_cmd_demo(int argc, char **argv);
int callout_cmd_fig9(int argc, char **argv);

int callout_usage(const char *fmt, ...) __printf(1, 2);
int callout_failed(int error, const char *what);
int callout_open_or_complain(int flags);

void callout_print_event(const struct callout_event *event);
void callout_print_info(const struct callout_info *info);

bool callout_parse_time(const char *s, __u64 *ns);
bool callout_parse_number(const char *s, __u64 *value);

/* The splitmix64 generator: any seed will do. */
static inline __u64 callout_random(__u64 *state)
{
	__u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif /* _CALLOUTCTL_H */
