// SPDX-License-Identifier: GPL-2.0
/*
 * parse.c - parses numbers, times and the arguments of "set"
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calloutctl.h"

static const struct {
	const char *name;
	__u64 ns;
} units[] = {
	{ "ns",		1 },
	{ "us",		1000 },
	{ "ms",		1000000 },
	{ "s",		1000000000 },
	{ "min",	60000000000 },
	{ "h",		3600000000000 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *s)
{
	while (is_digit(*s))
		s++;
	return s;
}

/* A length of time: "50ms", "1.5s", "0". Fractions of 1 ns are dropped. */
bool callout_parse_time(const char *s, __u64 *ns)
{
	const char *fraction, *unit, *p;
	__u64 value = 0, below = 0;
	size_t i;

	*ns = 0;
	if (!strcmp(s, "0"))
		return true;
	if (!is_digit(*s))
		return false;
	fraction = skip_digits(s);
	unit = *fraction == '.' ? skip_digits(fraction + 1) : fraction;
	if (unit == fraction + 1)
		return false;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			break;
	if (i == ARRAY_SIZE(units))
		return false;

	for (p = s; p < fraction; p++)
		if (__builtin_mul_overflow(value, 10ULL, &value) ||
		    __builtin_add_overflow(value, (__u64)(*p - '0'), &value))
			return false;
	/* Begin with the last digit, so that the divisions drop nothing above 1 ns. */
	for (p = unit; p > fraction + 1; p--)
		below = ((p[-1] - '0') * units[i].ns + below) / 10;
	if (__builtin_mul_overflow(value, units[i].ns, &value) ||
	    __builtin_add_overflow(value, below, &value))
		return false;
	*ns = value;
	return true;
}

/*
 * Complain about a time that callout_parse_time() refuses, or that may not be 0
 * or as long.
 */
int callout_bad_time(const char *command, const char *what, const char *s)
{
	__u64 ns;

	if (callout_parse_time(s, &ns) && !ns)
		return callout_usage("%s: bad %s \"%s\": it is at least 1 ns",
				     command, what, s);
	if (is_digit(*s) && !s[strspn(s, "0123456789.")])
		return callout_usage("%s: bad %s \"%s\": it needs a unit: ns, us, ms, s, min or h",
				     command, what, s);
	return callout_usage("%s: bad %s \"%s\": it is a time such as 1.5s, up to 292 years",
			     command, what, s);
}

/* Complain unless @s is a time from 1 ns to the longest that callouts have. */
int callout_parse_interval(const char *command, const char *s, __u64 *ns)
{
	if (callout_parse_time(s, ns) && *ns && *ns <= INT64_MAX)
		return 0;
	return callout_bad_time(command, "interval", s);
}

/* Decimal, or hexadecimal with 0x, as handles are printed. */
bool callout_parse_number(const char *s, __u64 *value)
{
	char *end;

	if (!is_digit(*s))
		return false;
	errno = 0;
	*value = strtoull(s, &end, 0);
	return !errno && !*end;
}

/* Complain unless @s is a number from 1 to @max. */
int callout_parse_positive(const char *command, const char *what,
			   const char *s, __u64 max, __u64 *value)
{
	if (callout_parse_number(s, value) && *value && *value <= max)
		return 0;
	return callout_usage("%s: bad %s \"%s\": it is 1 to %llu", command,
			     what, s, max);
}

const struct callout_clock callout_clocks[CALLOUT_NR_CLOCKS] = {
	{ CLOCK_MONOTONIC,	"monotonic" },
	{ CLOCK_BOOTTIME,	"boottime" },
	{ CLOCK_REALTIME,	"realtime" },
	{ CLOCK_BOOTTIME_ALARM,	"boottime-alarm" },
	{ CLOCK_REALTIME_ALARM,	"realtime-alarm" },
};

const char *callout_clock_name(clockid_t clockid)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_NR_CLOCKS; i++)
		if (callout_clocks[i].id == clockid)
			return callout_clocks[i].name;
	return "unknown";
}

static bool parse_clock(const char *s, __s32 *clockid)
{
	unsigned int i;

	for (i = 0; i < CALLOUT_NR_CLOCKS; i++)
		if (!strcmp(s, callout_clocks[i].name)) {
			*clockid = callout_clocks[i].id;
			return true;
		}
	return false;
}

static int parse_wish_option(char **argv, int opt, struct callout_wish *wish)
{
	const char *command = argv[0];

	switch (opt) {
	case 'a':
		wish->op.flags |= CALLOUT_OPF_ABSTIME;
		return 0;
	case 'c':
		if (parse_clock(optarg, &wish->op.clockid))
			return 0;
		return callout_usage("%s: bad clock \"%s\": it is %s", command, optarg,
				     "monotonic, boottime[-alarm] or realtime[-alarm]");
	case 'n':
		return callout_parse_positive(command, "count", optarg, ~0U,
					      &wish->count);
	case 'p':
		if (callout_parse_time(optarg, &wish->op.period) &&
		    wish->op.period)
			return 0;
		return callout_bad_time(command, "period", optarg);
	case 's':
		if (!callout_parse_time(optarg, &wish->op.slack))
			return callout_bad_time(command, "slack", optarg);
		if (!wish->op.slack)
			wish->op.flags |= CALLOUT_OPF_EXACT;
		return 0;
	case 'j':
		wish->json = true;
		return 0;
	default:
		return callout_bad_option(argv, opt);
	}
}

/*
 * Parse "[OPTIONS] TIME [COOKIE]" or, with @by_handle, "[OPTIONS] TIME HANDLE";
 * complain if they are wrong.
 */
int callout_parse_wish(int argc, char **argv, const struct option *options,
		       bool by_handle, struct callout_wish *wish)
{
	const char *command = argv[0];
	__u64 time, number = 0;
	int opt, ret;

	wish->op = callout_op_set(0, 0);
	wish->count = 1;
	wish->json = false;
	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		ret = parse_wish_option(argv, opt, wish);
		if (ret)
			return ret;
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 + by_handle || argc > 2)
		return callout_usage("%s takes a time and %s", command,
				     by_handle ? "a handle" :
						 "optionally a cookie");
	if (!callout_parse_time(argv[0], &time))
		return callout_bad_time(command, "time", argv[0]);
	if (argc == 2 && !callout_parse_number(argv[1], &number))
		return callout_usage("%s: bad %s \"%s\": it is a number, decimal or with 0x",
				     command, by_handle ? "handle" : "cookie", argv[1]);
	wish->op.time = time;
	if (by_handle)
		wish->op.handle = number;
	else
		wish->op.cookie = number;
	return 0;
}
