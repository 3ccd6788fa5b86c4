// SPDX-License-Identifier: GPL-2.0
/*
 * parse.c - numbers and times as users write them
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calloutctl.h"

static const struct {
	const char *name;
	__u64 ns;
} units[] = {
	{ "",		1 },
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

/* A length of time: "1500", "50ms", "1.5s". What is below 1 ns is dropped. */
bool callout_parse_time(const char *s, __u64 *ns)
{
	const char *fraction, *unit, *p;
	__u64 value = 0, ns_per_unit;
	size_t i;

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
	ns_per_unit = units[i].ns;
	if (__builtin_mul_overflow(value, ns_per_unit, &value))
		return false;
	for (p = fraction + 1; p < unit; p++) {
		ns_per_unit /= 10;
		if (__builtin_add_overflow(value, (*p - '0') * ns_per_unit,
					   &value))
			return false;
	}
	*ns = value;
	return true;
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
