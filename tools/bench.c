// SPDX-License-Identifier: GPL-2.0
/*
 * bench.c - a short comparison of /dev/callout and timerfd on this machine
 *
 * Each row is the time for one timer, of COUNT, with all of them outstanding:
 *
 *	arm		the timer's first time
 *	re-arm		another time while it is pending
 *	disarm
 *	expire		from when all are due at once until the last is
 *			received, over COUNT
 *
 * Creating a timerfd is not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "calloutctl.h"

#define DEFAULT_COUNT	1000
#define MAX_COUNT	1000000
#define BATCH		64U
#define EVENTS		256

/* Far enough that none fires while others are armed. */
#define FAR		(3600 * CALLOUT_NSEC_PER_SEC)
/* The time until all are due at once: SOON, and SOON_PER_TIMER ns for each. */
#define SOON		(50 * CALLOUT_NSEC_PER_MSEC)
#define SOON_PER_TIMER	20000

enum bench_column {
	TIMERFD,
	CALLOUT,
	CALLOUT_BATCH,
	COLUMNS,
};

static const char * const column_names[] = {
	[TIMERFD] = "timerfd",
	[CALLOUT] = "callout",
	[CALLOUT_BATCH] = "batch64",
};

enum bench_row {
	ARM,
	REARM,
	DISARM,
	EXPIRE,
	ROWS,
};

static const char * const row_names[] = {
	[ARM] = "arm",
	[REARM] = "re-arm",
	[DISARM] = "disarm",
	[EXPIRE] = "expire",
};

/**
 * struct bench - a measurement
 * @n: how many timers
 * @fd: /dev/callout, or the epoll instance of the timerfds
 * @fds: the timerfds, by number
 * @handles: the callouts, by number
 * @ns: the results; negative: could not be measured
 */
struct bench {
	unsigned int n;
	int fd;
	int *fds;
	callout_handle_t *handles;
	double ns[ROWS][COLUMNS];
};

/* Do one step for all timers. A step that arms uses @time. */
typedef int step_fn(struct bench *b, enum bench_row row, __u64 time);

static int timerfd_step(struct bench *b, enum bench_row row, __u64 time)
{
	struct itimerspec its = { 0 };
	int flags = row == EXPIRE ? TFD_TIMER_ABSTIME : 0;
	unsigned int i;

	if (row != DISARM) {
		its.it_value.tv_sec = time / CALLOUT_NSEC_PER_SEC;
		its.it_value.tv_nsec = time % CALLOUT_NSEC_PER_SEC;
	}
	for (i = 0; i < b->n; i++)
		if (timerfd_settime(b->fds[i], flags, &its, NULL))
			return -errno;
	return 0;
}

static struct callout_op make_op(const struct bench *b, enum bench_row row,
				 unsigned int i, __u64 time)
{
	struct callout_op op;

	if (row == DISARM)
		return callout_op_cancel(b->handles[i]);
	if (row == REARM)
		return callout_op_move(b->handles[i], time);
	op = callout_op_set(time, i);
	if (row == EXPIRE)
		op.flags = CALLOUT_OPF_ABSTIME;
	return op;
}

static int single_step(struct bench *b, enum bench_row row, __u64 time)
{
	struct callout_op op;
	unsigned int i;
	int ret;

	for (i = 0; i < b->n; i++) {
		op = make_op(b, row, i, time);
		ret = callout_dev_do(b->fd, &op);
		if (ret < 0)
			return ret;
		b->handles[i] = op.handle;
	}
	return 0;
}

static int batch_step(struct bench *b, enum bench_row row, __u64 time)
{
	struct callout_op ops[BATCH];
	struct callout_batch batch;
	unsigned int i, j, n;
	int ret;

	for (i = 0; i < b->n; i += n) {
		n = b->n - i < BATCH ? b->n - i : BATCH;
		for (j = 0; j < n; j++)
			ops[j] = make_op(b, row, i + j, time);
		callout_batch_init(&batch, ops, n, NULL, 0);
		ret = callout_dev_batch(b->fd, &batch);
		if (ret < 0)
			return ret;
		for (j = 0; j < n; j++) {
			if (ops[j].result < 0)
				return ops[j].result;
			b->handles[i + j] = ops[j].handle;
		}
	}
	return 0;
}

static int receive_timerfds(struct bench *b)
{
	struct epoll_event events[EVENTS];
	unsigned int got = 0;
	__u64 expirations;
	int i, n;

	while (got < b->n) {
		n = epoll_wait(b->fd, events, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			return -errno;
		for (i = 0; i < n; i++, got++)
			if (read(events[i].data.fd, &expirations,
				 sizeof(expirations)) < 0)
				return -errno;
	}
	return 0;
}

static int receive_callouts(struct bench *b)
{
	struct callout_event events[EVENTS];
	unsigned int got = 0;
	int n;

	while (got < b->n) {
		n = callout_dev_read(b->fd, events, EVENTS);
		if (n < 0 && n != -EINTR)
			return n;
		if (n > 0)
			got += n;
	}
	return 0;
}

static int measure(struct bench *b, enum bench_column column, step_fn *step,
		   int (*receive)(struct bench *b))
{
	enum bench_row row;
	__u64 begin;
	int ret;

	for (row = ARM; row <= DISARM; row++) {
		begin = callout_ns();
		ret = step(b, row, FAR + row);
		b->ns[row][column] = (double)(callout_ns() - begin) / b->n;
		if (ret < 0)
			return ret;
	}
	begin = callout_ns() + SOON + (__u64)b->n * SOON_PER_TIMER;
	ret = step(b, EXPIRE, begin);
	if (ret < 0)
		return ret;
	if (callout_ns() >= begin)
		return -ETIME;
	ret = receive(b);
	b->ns[EXPIRE][column] = (double)(callout_ns() - begin) / b->n;
	return ret;
}

static int measure_callouts(struct bench *b, enum bench_column column,
			    step_fn *step)
{
	int ret;

	b->fd = callout_open_or_complain(0);
	if (b->fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = measure(b, column, step, receive_callouts);
	close(b->fd);
	return ret < 0 ? callout_failed(ret, column_names[column]) : 0;
}

/* Raise the soft limit on descriptors, which is often too low. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_timerfd(struct bench *b, unsigned int i)
{
	struct epoll_event event = { .events = EPOLLIN };

	b->fds[i] = timerfd_create(CLOCK_MONOTONIC,
				   TFD_NONBLOCK | TFD_CLOEXEC);
	if (b->fds[i] < 0)
		return -errno;
	event.data.fd = b->fds[i];
	return epoll_ctl(b->fd, EPOLL_CTL_ADD, b->fds[i], &event) ? -errno : 0;
}

static void measure_timerfds(struct bench *b)
{
	unsigned int i;
	enum bench_row row;
	int ret = 0;

	allow_descriptors();
	b->fd = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < b->n; i++)
		b->fds[i] = -1;
	for (i = 0; i < b->n && !ret; i++)
		ret = make_timerfd(b, i);
	if (!ret)
		ret = measure(b, TIMERFD, timerfd_step, receive_timerfds);
	for (i = 0; i < b->n; i++)
		if (b->fds[i] >= 0)
			close(b->fds[i]);
	close(b->fd);
	if (!ret)
		return;
	callout_failed(ret, "bench: timerfd left out");
	for (row = 0; row < ROWS; row++)
		b->ns[row][TIMERFD] = -1;
}

static void print_text(const struct bench *b)
{
	enum bench_column column;
	enum bench_row row;

	printf("bench: %u timers; ns for one\n%-8s", b->n, "");
	for (column = 0; column < COLUMNS; column++)
		printf(" %10s", column_names[column]);
	putchar('\n');
	for (row = 0; row < ROWS; row++) {
		printf("%-8s", row_names[row]);
		for (column = 0; column < COLUMNS; column++) {
			if (b->ns[row][column] < 0)
				printf(" %10s", "-");
			else
				printf(" %10.0f", b->ns[row][column]);
		}
		putchar('\n');
	}
}

static void print_json(const struct bench *b)
{
	struct callout_json j;
	enum bench_column column;
	enum bench_row row;

	for (row = 0; row < ROWS; row++) {
		callout_json_begin(&j);
		callout_json_string(&j, "operation", row_names[row]);
		callout_json_number(&j, "timers", b->n);
		for (column = 0; column < COLUMNS; column++)
			if (b->ns[row][column] >= 0)
				callout_json_real(&j, column_names[column],
						  b->ns[row][column]);
		callout_json_end(&j);
	}
}

static int run(struct bench *b, bool json)
{
	int ret;

	ret = measure_callouts(b, CALLOUT, single_step);
	if (!ret)
		ret = measure_callouts(b, CALLOUT_BATCH, batch_step);
	if (ret)
		return ret;
	measure_timerfds(b);
	if (json)
		print_json(b);
	else
		print_text(b);
	return 0;
}

int callout_cmd_bench(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ }
	};
	struct bench b = { 0 };
	__u64 n = DEFAULT_COUNT;
	bool json = false;
	int opt, ret = 0;

	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		if (opt == 'j')
			json = true;
		else if (opt == 'n')
			ret = callout_parse_positive("bench", "count", optarg,
						     MAX_COUNT, &n);
		else
			ret = callout_bad_option(argv, opt);
		if (ret)
			return ret;
	}
	if (optind != argc)
		return callout_usage("bench: no argument \"%s\"", argv[optind]);
	b.n = n;
	b.fds = calloc(n, sizeof(*b.fds));
	b.handles = calloc(n, sizeof(*b.handles));
	if (b.fds && b.handles)
		ret = run(&b, json);
	else
		ret = callout_failed(-ENOMEM, "bench");
	free(b.handles);
	free(b.fds);
	return ret;
}
