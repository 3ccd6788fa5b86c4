// SPDX-License-Identifier: GPL-2.0
/*
 * output.c - prints events, limits and counters, as text and JSON
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "calloutctl.h"

/*
 * Write the lines that were printed. Return the exit status. A command ends at once
 * if a line cannot be written, and main() reports the error.
 */
int callout_write_lines(void)
{
	return fflush(stdout) || ferror(stdout) ? CALLOUT_EXIT_FAILED : 0;
}

/* The width of the terminal, or unlimited if standard output is not a terminal. */
static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return INT_MAX;
	return size.ws_col;
}

/*
 * Print the name of a program, which can be any bytes. Control characters would
 * disturb the terminal, and which bytes beyond ASCII are control characters
 * depends on its encoding: 0x9b, or c2 9b in UTF-8, begins a sequence, as ESC [
 * does.
 */
static void print_name(const char *name, int width)
{
	for (; *name && width > 0; name++, width--)
		putchar(*name >= ' ' && *name <= '~' ? *name : '?');
}

/* The number of lines of the terminal, or 0 if standard output is not a terminal. */
unsigned int callout_terminal_lines(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_row;
}

/*
 * Switch to a colour or to bold, by its number in ECMA-48, or back by 0: on a
 * terminal that knows them, unless the user wants none (see no-color.org).
 */
void callout_style(int number)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (isatty(STDOUT_FILENO) && !(none && *none) && term && strcmp(term, "dumb"))
		printf("\033[%dm", number);
}

/* The next table overwrites the last one, and each line clears what was there. */
bool callout_repaints;

/*
 * Print a line of a table, or the headings if @row is NULL. Columns that do not fit
 * beside a @last of @last_width are left out, from the right, and @last is cut.
 */
void callout_print_row(const struct callout_column *columns, unsigned int n,
		       const struct callout_row *row, const char *last,
		       int last_width)
{
	int width = terminal_width(), used = 0;
	const char *text;
	unsigned int i;
	int len;

	if (!row)
		callout_style(CALLOUT_BOLD);
	for (i = 0; i < n; i++) {
		text = row ? row->text[i] : columns[i].name;
		len = strlen(text);
		if (len < columns[i].width)
			len = columns[i].width;
		if (used + len + 1 + last_width > width)
			break;
		used += printf("%*s ", columns[i].width, text);
	}
	print_name(last, width - used);
	if (!row)
		callout_style(0);
	puts(callout_repaints ? "\033[K" : "");
}

void callout_json_begin(struct callout_json *j)
{
	j->members = 0;
	putchar('{');
}

static void json_name(struct callout_json *j, const char *name)
{
	printf("%s\"%s\": ", j->members++ ? ", " : "", name);
}

void callout_json_number(struct callout_json *j, const char *name, __u64 value)
{
	json_name(j, name);
	printf("%llu", value);
}

/* Write a number that may exceed 2^53 as a string, since many readers of JSON round it. */
void callout_json_hex(struct callout_json *j, const char *name, __u64 value)
{
	json_name(j, name);
	printf("\"0x%llx\"", value);
}

/* As callout_json_hex(), for numbers that are printed in decimal elsewhere. */
void callout_json_decimal(struct callout_json *j, const char *name,
			  __u64 value)
{
	json_name(j, name);
	printf("\"%llu\"", value);
}

static void json_bool(struct callout_json *j, const char *name, bool value)
{
	json_name(j, name);
	fputs(value ? "true" : "false", stdout);
}

void callout_json_real(struct callout_json *j, const char *name, double value)
{
	json_name(j, name);
	printf("%.1f", value);
}

/* Escape bytes beyond ASCII: the name of a process need not be UTF-8. */
void callout_json_string(struct callout_json *j, const char *name,
			 const char *value)
{
	unsigned char c;

	json_name(j, name);
	putchar('"');
	while ((c = *value++)) {
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void json_array(struct callout_json *j, const char *name,
		       const __u64 *values, unsigned int n)
{
	unsigned int i;

	json_name(j, name);
	for (i = 0; i < n; i++)
		printf("%s%llu", i ? ", " : "[", values[i]);
	putchar(']');
}

/* The least number of ticks that late[i] counts. */
static __u64 late_from(unsigned int i)
{
	return i ? 1ULL << (i - 1) : 0;
}

/* Write the lateness, and from how many ticks on each count is. */
void callout_json_late(struct callout_json *j, const struct callout_figures *f)
{
	__u64 from[ARRAY_SIZE(f->late)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(from); i++)
		from[i] = late_from(i);
	json_array(j, "late_from", from, ARRAY_SIZE(from));
	json_array(j, "late", f->late, ARRAY_SIZE(f->late));
}

void callout_json_end(struct callout_json *j)
{
	(void)j;
	puts("}");
}

static const char *type_name(const struct callout_event *event)
{
	return event->type == CALLOUT_EVENT_CLOCK_SET ? "clock set" : "fired";
}

static void print_event_json(const struct callout_event *event)
{
	struct callout_json j;

	callout_json_begin(&j);
	callout_json_string(&j, "event", type_name(event));
	callout_json_hex(&j, "handle", event->handle);
	callout_json_decimal(&j, "cookie", event->cookie);
	callout_json_hex(&j, "func", event->func);
	callout_json_string(&j, "clock", callout_clock_name(event->clockid));
	callout_json_decimal(&j, "due_ns", event->due);
	callout_json_decimal(&j, "fired_ns", event->fired);
	callout_json_decimal(&j, "overrun", event->overrun);
	json_bool(&j, "periodic", event->flags & CALLOUT_EVENTF_PERIODIC);
	callout_json_end(&j);
}

/*
 * @event->fired is in CLOCK_MONOTONIC, @event->due in the callout's clock: the
 * lateness is known if both are the same.
 */
void callout_print_event(const struct callout_event *event, bool json)
{
	if (json) {
		print_event_json(event);
		return;
	}
	printf("%s handle 0x%llx cookie %llu", type_name(event), event->handle,
	       event->cookie);
	if (event->func)
		printf(" func 0x%llx", event->func);
	printf(" clock %s due %llu.%09llu", callout_clock_name(event->clockid),
	       event->due / CALLOUT_NSEC_PER_SEC,
	       event->due % CALLOUT_NSEC_PER_SEC);
	if (event->clockid == CLOCK_MONOTONIC)
		printf(" late %.3f ms", (double)(event->fired - event->due) /
					CALLOUT_NSEC_PER_MSEC);
	if (event->flags & CALLOUT_EVENTF_PERIODIC)
		printf(" overrun %llu", event->overrun);
	putchar('\n');
}

/* Up to three digits of a fraction, and a unit. */
void callout_time_text(__u64 ns, char text[CALLOUT_TEXT_LEN])
{
	static const struct {
		const char *name;
		__u64 ns;
	} units[] = {
		{ "s", 1000000000 },
		{ "ms", 1000000 },
		{ "us", 1000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns < units[i].ns)
			continue;
		snprintf(text, CALLOUT_TEXT_LEN, "%llu.%03llu%s", ns / units[i].ns,
			 ns % units[i].ns / (units[i].ns / 1000),
			 units[i].name);
		return;
	}
	snprintf(text, CALLOUT_TEXT_LEN, ns ? "%lluns" : "%llu", ns);
}

#define NUMBER(name)	{ #name, offsetof(struct callout_info, name) }

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	NUMBER(features),
	NUMBER(tick_ns),
	NUMBER(max_outstanding),
	NUMBER(outstanding),
	NUMBER(unread),
	NUMBER(max_user),
	NUMBER(user_charged),
};

#define FIGURE(name)	{ #name, offsetof(struct callout_figures, name) }

static const struct {
	const char *name;
	size_t offset;
} figures[] = {
	FIGURE(handlers),
	FIGURE(wakeups),
	FIGURE(false_wakeups),
	FIGURE(hops),
	FIGURE(visits),
	FIGURE(requeues),
	FIGURE(max_units),
};

/* The number at an offset in a structure. */
static __u64 number_at(const void *structure, size_t offset)
{
	return *(const __u64 *)((const char *)structure + offset);
}

static void print_info_json(const struct callout_info *info,
			    const struct callout_figures *f)
{
	struct callout_json j;
	unsigned int i;

	callout_json_begin(&j);
	callout_json_number(&j, "clocks", info->clocks);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		callout_json_number(&j, numbers[i].name,
				    number_at(info, numbers[i].offset));
	for (i = 0; f && i < ARRAY_SIZE(figures); i++)
		callout_json_number(&j, figures[i].name,
				    number_at(f, figures[i].offset));
	if (f)
		callout_json_late(&j, f);
	callout_json_end(&j);
}

/* The width of the longest bar of lateness. */
#define BAR	24

static void print_count(const char *what, __u64 count)
{
	printf("  %-19s%20llu\n", what, count);
}

/* Print a number and its name, with spaces. */
static void print_number(const char *name, __u64 number)
{
	char what[32];
	char *p;

	snprintf(what, sizeof(what), "%s", name);
	for (p = what; *p; p++)
		if (*p == '_')
			*p = ' ';
	print_count(what, number);
}

/* Print a line for each count, up to the last that is not 0. */
static void print_lateness(const __u64 *late, unsigned int n)
{
	__u64 sum = 0, most = 1;
	unsigned int i;
	char what[32];
	double part;
	int len;

	while (n && !late[n - 1])
		n--;
	for (i = 0; i < n; i++) {
		sum += late[i];
		if (late[i] > most)
			most = late[i];
	}
	for (i = 0; i < n; i++) {
		part = (double)late[i] / most;
		len = part * BAR + 0.5;
		snprintf(what, sizeof(what), "late from %llu ticks",
			 late_from(i));
		printf("  %-19s%20llu %5.1f%% %.*s\n", what, late[i],
		       100.0 * late[i] / sum, len, "########################");
	}
}

static void print_figures(const struct callout_figures *f)
{
	unsigned int i;

	puts("all files and kernel code, since the module was loaded:");
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		print_number(figures[i].name, number_at(f, figures[i].offset));
	print_lateness(f->late, ARRAY_SIZE(f->late));
}

static void print_clocks(__u32 clocks)
{
	unsigned int i;

	printf("%-9s", "clocks");
	for (i = 0; i < CALLOUT_NR_CLOCKS; i++)
		if (clocks & 1U << callout_clocks[i].id)
			printf(" %s", callout_clocks[i].name);
	putchar('\n');
}

static void print_features(__u64 features)
{
	__u64 others = features & ~CALLOUT_FEATURE_URING;

	printf("%-9s", "features");
	if (features & CALLOUT_FEATURE_URING)
		fputs(" uring", stdout);
	if (others)
		printf(" 0x%llx", others);
	puts(features ? "" : " none");
}

/* Include the counters of the facility, if the caller may read them. */
void callout_print_info(const struct callout_info *info, bool json)
{
	struct callout_figures f;
	bool shown = !callout_read_figures(&f);
	char tick[CALLOUT_TEXT_LEN];

	if (json) {
		print_info_json(info, shown ? &f : NULL);
		return;
	}
	print_clocks(info->clocks);
	print_features(info->features);
	callout_time_text(info->tick_ns, tick);
	printf("%-9s %s\n", "tick", tick);
	puts("this file:");
	print_count("outstanding", info->outstanding);
	print_count("unread", info->unread);
	print_count("at most", info->max_outstanding);
	puts("all files of this user:");
	print_count("charged", info->user_charged);
	print_count("at most", info->max_user);
	if (shown)
		print_figures(&f);
}
