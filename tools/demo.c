// SPDX-License-Identifier: GPL-2.0
/*
 * demo.c - a large number of callouts through one open file
 *
 * SET sets most of them, TIMEOUT the others. Some of the others share their
 * (func, arg). Half are cancelled by handle, and most of the TIMEOUT ones by
 * UNTIMEOUT: one half of these before the first is due, the other half close to
 * the time they are due, when they are pending, unread or already read. When
 * CANCEL is too late for a callout, another is cancelled instead.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "calloutctl.h"
#include "demo.h"

#define DEFAULT_COUNT	100000U
#define DEFAULT_SPAN	(5 * CALLOUT_NSEC_PER_SEC)
/* Callouts with the same (func, arg) must be due some slacks apart. */
#define MIN_SPAN	(200 * CALLOUT_NSEC_PER_MSEC)
#define MAX_SPAN	(3600 * CALLOUT_NSEC_PER_SEC)

/* Time from the last early cancellation until the first callout is due. */
#define LEAD		(300 * CALLOUT_NSEC_PER_MSEC)
/* The longest time from when the last is due until all are received. */
#define PATIENCE	(45 * CALLOUT_NSEC_PER_SEC)
/* Time allowed for setting, as a multiple of its estimate. */
#define MAX_TIMES	100
/* Time after all callouts are received in which no event may come. */
#define QUIET		(100 * CALLOUT_NSEC_PER_MSEC)
/* Time until SIGALRM, in addition to all of these, in seconds. */
#define ALARM_MARGIN	15U

#define TIMEOUT_SHARE	10	/* one in 10 is set by TIMEOUT */
#define LATE_SLACKS	4	/* from a late cancel to due, at most */
#define SAMPLE		1000U	/* callouts set to measure the rate */
#define EVENTS		256

/* An attempt to cancel callout @id. */
struct cancel {
	__u64 when;		/* 0: before the first is due */
	unsigned int id;
	enum demo_method method;
};

/**
 * struct demo - the state of a run
 * @books: how each callout has ended
 * @fd: the device
 * @span: the time over which the callouts are due, in ns
 * @start: the earliest time at which a callout may be due
 * @rng: state of callout_random()
 * @plan: callouts to cancel, by time
 * @n_plan: length of @plan
 * @next: the next one in @plan
 * @spare: callouts set by SET that are not in @plan, by the time they are due
 * @n_spare: length of @spare
 * @next_spare: the next one in @spare
 */
struct demo {
	struct demo_books books;
	int fd;
	__u64 span, start, rng;
	struct cancel *plan;
	unsigned int n_plan, next;
	struct cancel *spare;
	unsigned int n_spare, next_spare;
};

/* Callouts with the same key are due far apart, so their order is unambiguous. */
static __u64 choose_due(struct demo *d, unsigned int id)
{
	__u64 offset = callout_random(&d->rng) % d->span;
	struct demo_books *b = &d->books;
	unsigned int first;

	if (id >= b->n_set) {
		first = demo_first(b, demo_key(b, id));
		if (id > first)
			offset = b->c[first].due - d->start +
				 (id - first) * (d->span / DEMO_GROUP);
	}
	return d->start + offset % d->span;
}

static int set_one(struct demo *d, unsigned int id)
{
	struct demo_callout *c = &d->books.c[id];
	struct callout_op op;
	unsigned int key;
	int ret;

	c->due = choose_due(d, id);
	if (id < d->books.n_set) {
		op = callout_op_set(c->due, id);
	} else {
		key = demo_key(&d->books, id);
		op = callout_op_timeout(demo_func(key), key, c->due);
	}
	op.flags = CALLOUT_OPF_ABSTIME;
	ret = callout_dev_do(d->fd, &op);
	c->handle = op.handle;
	return ret;
}

static int set_all(struct demo *d)
{
	unsigned int i;
	int ret;

	for (i = 0; i < d->books.n; i++) {
		ret = set_one(d, i);
		if (ret)
			return callout_failed(ret, "set");
		if (!d->books.c[i].handle)
			callout_demo_err(&d->books, "a handle is 0");
		d->books.outstanding++;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct cancel *x = a, *y = b;

	return (x->when > y->when) - (x->when < y->when);
}

/* Return the time @near before @due, or 0. */
static __u64 before(__u64 due, __u64 near)
{
	return due > near ? due - near : 0;
}

static void plan_one(struct demo *d, unsigned int id, enum demo_method method)
{
	struct cancel *p = &d->plan[d->n_plan++];
	__u64 near = LATE_SLACKS * d->books.slack;

	p->id = id;
	p->method = method;
	p->when = 0;
	if (callout_random(&d->rng) & 1)
		p->when = before(d->books.c[id].due, near) +
			  callout_random(&d->rng) % (2 * near);
}

static void spare_one(struct demo *d, unsigned int id)
{
	struct cancel *p = &d->spare[d->n_spare++];

	p->id = id;
	p->method = DEMO_CANCEL;
	p->when = before(d->books.c[id].due, LATE_SLACKS * d->books.slack);
}

/* Plan to cancel half of the callouts set by SET, and four of five set by TIMEOUT. */
static void make_plan(struct demo *d)
{
	unsigned int i, wanted = d->books.n / 2;

	for (i = 0; i < d->books.n_set; i++) {
		if (callout_random(&d->rng) % (d->books.n_set - i) < wanted) {
			plan_one(d, i, DEMO_CANCEL);
			wanted--;
		} else {
			spare_one(d, i);
		}
	}
	for (; i < d->books.n; i++)
		if (callout_random(&d->rng) % 5)
			plan_one(d, i, callout_random(&d->rng) % 4 ?
				       DEMO_UNTIMEOUT : DEMO_UNTIMEOUT_HANDLE);
	qsort(d->plan, d->n_plan, sizeof(*d->plan), by_time);
	qsort(d->spare, d->n_spare, sizeof(*d->spare), by_time);
}

static bool cancel_one(struct demo *d, const struct cancel *p)
{
	struct demo_callout *c = &d->books.c[p->id];
	struct callout_op op;
	unsigned int key;

	if (p->method == DEMO_CANCEL) {
		op = callout_op_cancel(c->handle);
	} else {
		key = demo_key(&d->books, p->id);
		if (p->method == DEMO_UNTIMEOUT)
			c = callout_demo_earliest(&d->books, key);
		op = callout_op_untimeout(demo_func(key), key,
					  p->method == DEMO_UNTIMEOUT ?
					  0 : c->handle);
	}
	return callout_demo_cancelled(&d->books, c, p->method,
				      callout_dev_do(d->fd, &op));
}

static void cancel_spare(struct demo *d, __u64 now)
{
	while (d->next_spare < d->n_spare &&
	       d->spare[d->next_spare].when <= now)
		d->next_spare++;
	if (d->next_spare < d->n_spare)
		cancel_one(d, &d->spare[d->next_spare++]);
}

static void cancel_until(struct demo *d, __u64 now)
{
	struct cancel *p;

	while (d->next < d->n_plan && d->plan[d->next].when <= now) {
		p = &d->plan[d->next++];
		if (!cancel_one(d, p) && p->method == DEMO_CANCEL)
			cancel_spare(d, now);
	}
}

static int receive(struct demo *d)
{
	struct callout_event events[EVENTS];
	__u64 now;
	int i, n;

	do {
		n = callout_dev_read(d->fd, events, EVENTS);
		if (n == -EAGAIN)
			break;
		if (n < 0)
			return callout_failed(n, "read");
		if (!n) {
			callout_demo_err(&d->books, "read returned 0");
			return CALLOUT_EXIT_FAILED;
		}
		now = callout_ns();
		for (i = 0; i < n; i++)
			callout_demo_received(&d->books, &events[i], now);
	} while (n == EVENTS);
	return 0;
}

static int wait_until(struct demo *d, __u64 when)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	__u64 now = callout_ns();

	if (when <= now)
		return 0;
	if (poll(&p, 1, (when - now) / CALLOUT_NSEC_PER_MSEC + 1) < 0)
		return callout_failed(-errno, "poll");
	if (p.revents & ~POLLIN)
		callout_demo_err(&d->books, "poll reports 0x%x", p.revents);
	return 0;
}

/* Run until all callouts are received or cancelled, and QUIET longer. */
static int expire_all(struct demo *d)
{
	__u64 limit = d->start + d->span + PATIENCE;
	__u64 now, wake;
	int ret = 0;

	while (!ret && d->books.outstanding) {
		now = callout_ns();
		if (now > limit)
			return 0;
		cancel_until(d, now);
		ret = receive(d);
		wake = d->next < d->n_plan ? d->plan[d->next].when : limit;
		if (!ret && d->books.outstanding)
			ret = wait_until(d, wake);
	}

	limit = callout_ns() + QUIET;
	while (!ret && callout_ns() < limit) {
		ret = wait_until(d, limit);
		if (!ret)
			ret = receive(d);
	}
	cancel_until(d, ~0ULL);
	return ret;
}

static void on_alarm(int sig)
{
	static const char text[] = "demo: FAILED: out of time\n";
	ssize_t ret = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)sig;
	(void)ret;
	_exit(CALLOUT_EXIT_FAILED);
}

/* Measures the ns to set a callout, on another file, and looks what slack it has. */
static int measure_set(__u64 max, __u64 *ns, __u64 *slack)
{
	struct callout_entry entry = { 0 };
	__u64 i, handle, begin, sample = max < SAMPLE ? max : SAMPLE;
	int fd, ret = 0;

	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	begin = callout_ns();
	for (i = 0; i < sample && !ret; i++)
		ret = callout_dev_set(fd, 3600 * CALLOUT_NSEC_PER_SEC, i, &handle);
	*ns = (callout_ns() - begin) / sample;
	if (!ret)
		ret = callout_dev_list_one(fd, CALLOUT_LISTF_HANDLE, handle, &entry);
	*slack = entry.slack;
	close(fd);
	return ret ? callout_failed(ret, "set") : 0;
}

/*
 * Check the limits, and compute when the first callout may be due: in @times
 * the time that setting takes.
 */
static int prepare(struct demo *d, unsigned int times)
{
	struct callout_info info;
	__u64 ns, until_start;
	int ret;

	ret = callout_dev_info(d->fd, &info);
	if (ret)
		return callout_failed(ret, "info");
	if (d->books.n > info.max_outstanding) {
		fprintf(stderr,
			"calloutctl: demo: %u callouts: a file may have at most %llu: see --count\n",
			d->books.n, info.max_outstanding);
		return CALLOUT_EXIT_FAILED;
	}

	ret = measure_set(info.max_outstanding, &ns, &d->books.slack);
	if (ret)
		return ret;
	until_start = LEAD + d->books.n * ns * times;
	d->start = callout_ns() + until_start;
	signal(SIGALRM, on_alarm);
	alarm((until_start + d->span + PATIENCE) / CALLOUT_NSEC_PER_SEC +
	      ALARM_MARGIN);
	return 0;
}

static double seconds_since(__u64 begin)
{
	return ((double)callout_ns() - begin) / CALLOUT_NSEC_PER_SEC;
}

/*
 * Set all callouts before the first is due, since overdue callouts with the same
 * key expire in the order of setting. If other programs have delayed this, begin
 * again with another file and twice the time.
 */
static int set_in_time(struct demo *d)
{
	/* About four operations for three callouts, and more than double the time for them. */
	unsigned int times = 3;
	__u64 begin;
	int ret;

	for (;;) {
		ret = prepare(d, times);
		if (ret)
			return ret;
		begin = callout_ns();
		ret = set_all(d);
		if (ret)
			return ret;
		printf("%u set in %.3f s", d->books.n, seconds_since(begin));
		if (callout_ns() < d->start)
			return 0;
		puts(", when some were due: again");
		if (times > MAX_TIMES)
			break;
		times *= 2;
		close(d->fd);
		d->fd = callout_open_or_complain(O_NONBLOCK);
		if (d->fd < 0)
			return CALLOUT_EXIT_FAILED;
		d->books.outstanding = 0;
	}
	fputs("calloutctl: demo: setting is delayed too much: try a smaller --count\n", stderr);
	return CALLOUT_EXIT_FAILED;
}

static int run(struct demo *d)
{
	double lead;
	__u64 begin;
	int ret;

	ret = set_in_time(d);
	if (ret)
		return ret;
	make_plan(d);
	begin = callout_ns();
	cancel_until(d, 0);
	lead = -seconds_since(d->start);
	printf(", %u of the cancelling in %.3f s; the first %s %.3f s\n",
	       d->next, seconds_since(begin),
	       lead < 0 ? "should have fired before, by" : "is due in",
	       lead < 0 ? -lead : lead);
	ret = callout_write_lines();
	if (ret)
		return ret;
	ret = expire_all(d);
	if (!ret)
		callout_demo_audit(&d->books, d->fd);
	return callout_demo_report(&d->books) ?: ret;
}

static int parse_arguments(struct demo *d, int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "time", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ }
	};
	__u64 value;
	int opt, ret;

	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		switch (opt) {
		case 'n':
			ret = callout_parse_positive("demo", "count", optarg,
						     ~0U, &value);
			if (ret)
				return ret;
			d->books.n = value;
			break;
		case 't':
			if (!callout_parse_time(optarg, &d->span))
				return callout_bad_time("demo", "time", optarg);
			if (d->span < MIN_SPAN || d->span > MAX_SPAN)
				return callout_usage("demo: bad time \"%s\": it is 200ms to 1h",
						     optarg);
			break;
		case 's':
			if (!callout_parse_number(optarg, &d->rng))
				return callout_usage("demo: bad seed \"%s\": it is a number",
						     optarg);
			break;
		default:
			return callout_bad_option(argv, opt);
		}
	}
	if (optind != argc)
		return callout_usage("demo: no argument \"%s\"", argv[optind]);
	return 0;
}

int callout_cmd_demo(int argc, char **argv)
{
	struct demo d = {
		.books.n = DEFAULT_COUNT,
		.span = DEFAULT_SPAN,
		.rng = callout_ns(),
	};
	struct demo_books *b = &d.books;
	int ret;

	ret = parse_arguments(&d, argc, argv);
	if (ret)
		return ret;
	d.fd = callout_open_or_complain(O_NONBLOCK);
	if (d.fd < 0)
		return CALLOUT_EXIT_FAILED;
	printf("demo: %u callouts over %.3f s, seed %llu\n", b->n,
	       (double)d.span / CALLOUT_NSEC_PER_SEC, d.rng);
	ret = callout_write_lines();
	if (ret) {
		close(d.fd);
		return ret;
	}

	b->n_set = b->n - b->n / TIMEOUT_SHARE;
	b->n_single = (b->n - b->n_set) / 2;
	b->c = calloc(b->n, sizeof(*b->c));
	d.plan = calloc(b->n, sizeof(*d.plan));
	d.spare = calloc(b->n_set, sizeof(*d.spare));
	if (b->c && d.plan && d.spare)
		ret = run(&d);
	else
		ret = callout_failed(-ENOMEM, "demo");
	free(d.spare);
	free(d.plan);
	free(b->c);
	close(d.fd);
	return ret;
}
