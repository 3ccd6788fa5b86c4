// SPDX-License-Identifier: GPL-2.0
/*
 * books.c - the books of calloutctl demo
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "calloutctl.h"
#include "demo.h"

#define MAX_COMPLAINTS	10

/* Count an error; print it if it is one of the first. */
void callout_demo_err(struct demo_books *b, const char *fmt, ...)
{
	va_list ap;

	if (++b->wrong > MAX_COMPLAINTS)
		return;
	fflush(stdout);
	fputs("demo: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Return the callout that UNTIMEOUT takes, or NULL. */
struct demo_callout *callout_demo_earliest(struct demo_books *b,
					   unsigned int key)
{
	struct demo_callout *c, *earliest = NULL;
	unsigned int i;

	for (i = demo_first(b, key); i < demo_end(b, key); i++) {
		c = &b->c[i];
		if (c->state == DEMO_OUTSTANDING &&
		    (!earliest || c->due < earliest->due))
			earliest = c;
	}
	return earliest;
}

/*
 * Record @ret, the result of an attempt to cancel @c, or none if @c is NULL.
 * Return whether a callout was cancelled.
 */
bool callout_demo_cancelled(struct demo_books *b, struct demo_callout *c,
			    enum demo_method method, int ret)
{
	bool outstanding = c && c->state == DEMO_OUTSTANDING;

	if (ret == -ENOENT && !outstanding) {
		b->too_late++;
		return false;
	}
	if (!outstanding || (ret != CALLOUT_STATE_PENDING &&
			     ret != CALLOUT_STATE_UNREAD)) {
		callout_demo_err(b, "callout %td is %soutstanding, but %s returned %d",
				 c ? c - b->c : -1, outstanding ? "" : "not ",
				 method == DEMO_CANCEL ? "CANCEL" : "UNTIMEOUT",
				 ret);
		return false;
	}

	c->state = DEMO_CANCELLED;
	b->outstanding--;
	if (method == DEMO_CANCEL)
		b->by_handle++;
	else
		b->by_untimeout++;
	if (ret == CALLOUT_STATE_UNREAD) {
		b->withdrawn++;
		if (callout_ns() < c->due)
			b->early++;
	}
	return true;
}

/* Return the event's callout. Callouts of one key differ in the handle. */
static struct demo_callout *find_owner(struct demo_books *b,
				       const struct callout_event *e)
{
	unsigned int i, end;

	if (!e->func) {
		if (e->cookie >= b->n_set)
			return NULL;
		i = e->cookie;
		end = i + 1;
	} else {
		if (e->cookie >= b->n || e->func != demo_func(e->cookie))
			return NULL;
		i = demo_first(b, e->cookie);
		end = demo_end(b, e->cookie);
	}
	for (; i < end; i++)
		if (b->c[i].handle == e->handle)
			return &b->c[i];
	return NULL;
}

/* Record an event that was read by @now. */
void callout_demo_received(struct demo_books *b, const struct callout_event *e,
			   __u64 now)
{
	struct demo_callout *c = find_owner(b, e);

	if (!c) {
		callout_demo_err(b, "an event without a callout: handle 0x%llx cookie %llu func 0x%llx",
				 e->handle, e->cookie, e->func);
		return;
	}
	if (e->due != c->due || e->fired > now || e->overrun || e->flags)
		callout_demo_err(b, "callout %td: due %llu instead of %llu, fired %llu, received %llu, overrun %llu, flags %u",
				 c - b->c, e->due, c->due, e->fired, now,
				 e->overrun, e->flags);
	if (c->state != DEMO_OUTSTANDING) {
		b->again++;
		return;
	}
	c->state = DEMO_FIRED;
	b->fired++;
	b->outstanding--;
	if (e->fired < c->due || now < c->due)
		b->early++;
	else
		c->late = e->fired - c->due;
}

static void audit_count(struct demo_books *b, int fd, const char *name,
			__u64 expected)
{
	__u64 count;

	if (!callout_read_fdinfo(fd, name, &count))
		callout_demo_err(b, "fdinfo has no %s", name);
	else if (count != expected)
		callout_demo_err(b, "fdinfo: %s is %llu instead of %llu", name,
				 count, expected);
}

/* The kernel's counters must agree, and every handle must be stale. */
void callout_demo_audit(struct demo_books *b, int fd)
{
	unsigned int cancelled = b->by_handle + b->by_untimeout - b->withdrawn;
	unsigned int i, alive = 0;

	for (i = 0; i < b->n; i++)
		if (b->c[i].state != DEMO_OUTSTANDING &&
		    callout_dev_cancel(fd, b->c[i].handle) != -ENOENT)
			alive++;
	if (alive)
		callout_demo_err(b, "%u handles are not stale", alive);

	audit_count(b, fd, "set", b->n);
	audit_count(b, fd, "cancelled", cancelled);
	audit_count(b, fd, "withdrawn", b->withdrawn);
	audit_count(b, fd, "delivered", b->fired);
	audit_count(b, fd, "outstanding", b->outstanding);
	audit_count(b, fd, "unread", 0);
}

static int by_value(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void report_lateness(const struct demo_books *b)
{
	unsigned int i, n = 0;
	__u64 *late;

	late = calloc(b->fired, sizeof(*late));
	if (!late)
		return;
	for (i = 0; i < b->n; i++)
		if (b->c[i].state == DEMO_FIRED)
			late[n++] = b->c[i].late;
	qsort(late, n, sizeof(*late), by_value);
	printf("lateness p50, in us      %10.1f\n", late[n / 2] / 1e3);
	printf("lateness p99             %10.1f\n", late[n * 99ULL / 100] / 1e3);
	printf("lateness max             %10.1f\n", late[n - 1] / 1e3);
	free(late);
}

int callout_demo_report(const struct demo_books *b)
{
	printf("set                      %10u\n", b->n);
	printf("cancelled by handle      %10u\n", b->by_handle);
	printf("cancelled by untimeout   %10u\n", b->by_untimeout);
	printf("  of both: fired, unread %10u\n", b->withdrawn);
	printf("fired and received       %10u\n", b->fired);
	printf("  too late to cancel     %10u\n", b->too_late);
	printf("early                    %10u\n", b->early);
	printf("lost                     %10u\n", b->outstanding);
	printf("duplicated               %10u\n", b->again);
	if (b->fired)
		report_lateness(b);

	if (!b->wrong && !b->early && !b->outstanding && !b->again) {
		puts("demo: ok: each callout fired or was cancelled, exactly once");
		return 0;
	}
	fflush(stdout);
	fprintf(stderr,
		"demo: FAILED: %u early, %u lost, %u duplicated, %u other errors\n",
		b->early, b->outstanding, b->again, b->wrong);
	return CALLOUT_EXIT_FAILED;
}
