// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * idle_uring.c - idle timeouts in a server whose loop is io_uring, as commands of the device
 *
 *	idle_uring [CONNECTIONS [SECONDS]]
 *
 * A connection is closed when no data has come for IDLE. Its timeout is a SET, which completes when
 * the callout fires; the number of the connection is its key. Data that comes moves the timeout by
 * MOVE, and CANCEL ends it when the peer has closed. These operations go to the kernel together
 * with the next receives: a turn of the loop makes one system call, however many connections there
 * are.
 *
 * A second process plays the clients for SECONDS: it sends to connections at random, and closes a
 * few. Then all is quiet until the last connection has timed out. The program checks that every
 * connection is closed once, and that none times out early.
 */
#include <err.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <callout_uring.h>

#define MSEC		1000000ULL
#define SEC		1000000000ULL

#define DEFAULT_COUNT	500
#define DEFAULT_TIME	5

#define IDLE		(2 * SEC)
#define TICK		(10 * MSEC)
/* Each connection receives data once a second, on average. */
#define TICKS_PER_TOUR	100
/* Per thousand picked connections, how many their peers close. */
#define CLOSED		10

/* Time after the last timeout is due, in seconds. */
#define PATIENCE	60

#define ENTRIES		256

/* Kinds of requests, in the low bits of user_data. The other bits are the connection's number. */
enum request { ACCEPT, RECEIVE, SET, MOVE, CANCEL, SHUTDOWN, CLOSE };

#define REQUEST_BITS	3

/**
 * struct conn - a connection
 * @fd: its socket, or -1 if it is closed
 * @receiving: whether a receive is pending
 * @armed: whether its SET is pending
 * @last: when the last data came
 * @due: the earliest time at which its SET may complete
 * @data: received data
 */
struct conn {
	int fd;
	bool receiving, armed;
	__u64 last, due;
	char data[64];
};

/**
 * struct server - the state of the program
 * @ring: the loop
 * @ops: an operation for each entry of the ring; the kernel has read it when
 *	io_uring_submit() returns, before the entry can be filled again
 * @device: an open file of the device
 * @listener: a socket
 * @conns: the connections
 * @n: how many connections there are
 * @n_accepted: how many connections have come
 * @n_closed: how many connections are closed
 * @moved: how often a timeout was moved
 * @too_late: how often a timeout had just fired before a move
 * @timed_out: connections that were closed because they were idle
 * @early: timed out before IDLE was over
 */
struct server {
	struct io_uring ring;
	struct callout_op ops[ENTRIES];
	int device, listener;
	struct conn *conns;
	unsigned int n, n_accepted, n_closed;
	unsigned long moved, too_late, timed_out, early;
};

static struct io_uring_sqe *next_entry(struct server *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

	if (!sqe && io_uring_submit(&s->ring) > 0)
		sqe = io_uring_get_sqe(&s->ring);
	if (!sqe)
		errx(EXIT_FAILURE, "the ring stays full");
	return sqe;
}

static void name(struct server *s, struct io_uring_sqe *sqe, enum request request,
		 const struct conn *c)
{
	sqe->user_data = (__u64)(c - s->conns) << REQUEST_BITS | request;
}

static void accept_next(struct server *s)
{
	struct io_uring_sqe *sqe = next_entry(s);

	io_uring_prep_accept(sqe, s->listener, NULL, NULL, SOCK_CLOEXEC);
	name(s, sqe, ACCEPT, &s->conns[s->n_accepted]);
}

static void receive(struct server *s, struct conn *c)
{
	struct io_uring_sqe *sqe = next_entry(s);

	c->receiving = true;
	io_uring_prep_recv(sqe, c->fd, c->data, sizeof(c->data), 0);
	name(s, sqe, RECEIVE, c);
}

static void callout(struct server *s, struct conn *c, enum request request,
		    struct callout_op op)
{
	struct io_uring_sqe *sqe = next_entry(s);
	struct callout_op *kept = &s->ops[sqe - s->ring.sq.sqes];

	*kept = callout_op_key(op, c - s->conns);
	callout_uring_prep_op(sqe, s->device, kept);
	name(s, sqe, request, c);
}

static void set_timeout(struct server *s, struct conn *c, __u64 time)
{
	struct callout_op op = callout_op_set(time, 0);

	op.flags = CALLOUT_OPF_ONLY_NEW;
	c->armed = true;
	c->due = callout_now(CLOCK_MONOTONIC) + time;
	callout(s, c, SET, op);
}

static void close_conn(struct server *s, struct conn *c)
{
	struct io_uring_sqe *sqe = next_entry(s);

	io_uring_prep_close(sqe, c->fd);
	name(s, sqe, CLOSE, c);
	c->fd = -1;
}

static void on_accept(struct server *s, struct conn *c, int fd)
{
	if (fd < 0)
		errx(EXIT_FAILURE, "accept: %s", strerror(-fd));
	c->fd = fd;
	c->last = callout_now(CLOCK_MONOTONIC);
	set_timeout(s, c, IDLE);
	receive(s, c);
	if (++s->n_accepted < s->n)
		accept_next(s);
}

static void on_receive(struct server *s, struct conn *c, int length)
{
	c->receiving = false;
	if (length > 0) {
		c->last = callout_now(CLOCK_MONOTONIC);
		if (c->armed)
			callout(s, c, MOVE, callout_op_move(0, IDLE));
		receive(s, c);
	} else if (c->armed) {
		callout(s, c, CANCEL, callout_op_cancel(0));
	} else {
		close_conn(s, c);
	}
}

/* The callout has fired, or CANCEL has found it. */
static void on_set(struct server *s, struct conn *c, int result)
{
	__u64 now = callout_now(CLOCK_MONOTONIC);
	struct io_uring_sqe *sqe;

	if (result && (result != -ECANCELED || c->receiving))
		errx(EXIT_FAILURE, "SET: %s", strerror(-result));
	c->armed = false;
	if (!result && now < c->due)
		s->early++;
	if (!c->receiving) {
		close_conn(s, c);
	} else if (now < c->last + IDLE) {
		/* Data came when the callout fired, so the MOVE was or will be too late. */
		set_timeout(s, c, c->last + IDLE - now);
	} else {
		s->timed_out++;
		sqe = next_entry(s);
		io_uring_prep_shutdown(sqe, c->fd, SHUT_RDWR);
		name(s, sqe, SHUTDOWN, c);
	}
}

static void on_move(struct server *s, struct conn *c, int result)
{
	if (result == CALLOUT_STATE_PENDING) {
		s->moved++;
		c->due = c->last + IDLE;
	} else if (result == -ENOENT) {
		s->too_late++;
	} else {
		errx(EXIT_FAILURE, "MOVE: %d", result);
	}
}

static void on_completion(struct server *s, __u64 data, int result)
{
	struct conn *c = &s->conns[data >> REQUEST_BITS];

	switch (data & ((1 << REQUEST_BITS) - 1)) {
	case ACCEPT:
		on_accept(s, c, result);
		break;
	case RECEIVE:
		on_receive(s, c, result);
		break;
	case SET:
		on_set(s, c, result);
		break;
	case MOVE:
		on_move(s, c, result);
		break;
	case CANCEL:
		/* The completion of the SET follows, also if the callout had just fired. */
		if (result != CALLOUT_STATE_PENDING && result != -ENOENT)
			errx(EXIT_FAILURE, "CANCEL: %d", result);
		break;
	case CLOSE:
		if (result)
			errx(EXIT_FAILURE, "close: %s", strerror(-result));
		s->n_closed++;
		break;
	}
}

static void serve(struct server *s)
{
	struct io_uring_cqe *cqe;
	unsigned int head, count;
	int ret;

	ret = io_uring_queue_init(ENTRIES, &s->ring, 0);
	if (ret)
		errx(EXIT_FAILURE, "io_uring: %s", strerror(-ret));
	accept_next(s);
	while (s->n_closed < s->n) {
		ret = io_uring_submit_and_wait(&s->ring, 1);
		if (ret < 0 && ret != -EINTR)
			errx(EXIT_FAILURE, "io_uring: %s", strerror(-ret));
		count = 0;
		io_uring_for_each_cqe(&s->ring, head, cqe) {
			on_completion(s, cqe->user_data, cqe->res);
			count++;
		}
		io_uring_cq_advance(&s->ring, count);
	}
	io_uring_queue_exit(&s->ring);
}

/* The clients, a separate process. */
static int play(const struct sockaddr_un *address, socklen_t length, unsigned int n,
		unsigned int seconds)
{
	__u64 quiet = callout_now(CLOCK_MONOTONIC) + seconds * SEC;
	unsigned int i, picks, seed = quiet;
	int *fds = calloc(n, sizeof(*fds));
	char byte;

	if (!fds)
		return EXIT_FAILURE;
	for (i = 0; i < n; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || connect(fds[i], (const void *)address, length)) {
			warn("client %u", i);
			return EXIT_FAILURE;
		}
	}
	while (callout_now(CLOCK_MONOTONIC) < quiet) {
		for (picks = n / TICKS_PER_TOUR + 1; picks; picks--) {
			i = rand_r(&seed) % n;
			if (rand_r(&seed) % 1000 < CLOSED && fds[i] >= 0) {
				close(fds[i]);
				fds[i] = -1;
			} else if (fds[i] >= 0) {
				/* The send fails if the connection has timed out. */
				send(fds[i], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
			}
		}
		usleep(TICK / 1000);
	}
	for (i = 0; i < n; i++) {
		/* The server closes the connection. */
		if (fds[i] >= 0 && read(fds[i], &byte, 1) > 0)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static void open_device(struct server *s)
{
	struct callout_info info;
	int ret;

	s->device = callout_dev_open(0);
	if (s->device < 0)
		errx(EXIT_FAILURE, "%s", callout_open_strerror(s->device));
	ret = callout_dev_info(s->device, &info);
	if (ret)
		errx(EXIT_FAILURE, "the device: %s", strerror(-ret));
	if (!(info.features & CALLOUT_FEATURE_URING))
		errx(EXIT_FAILURE, "no commands of io_uring: Linux 6.12 and later have them");
}

static int verdict(const struct server *s)
{
	printf("connections          %10u\n", s->n);
	printf("timeouts moved       %10lu\n", s->moved);
	printf("moved too late       %10lu\n", s->too_late);
	printf("timed out            %10lu\n", s->timed_out);
	printf("closed by peer       %10lu\n", s->n - s->timed_out);
	printf("early                %10lu\n", s->early);
	printf("idle_uring: %s\n",
	       s->early ? "FAILED" : "ok: each connection was closed once, none early");
	return s->early ? EXIT_FAILURE : EXIT_SUCCESS;
}

static unsigned int argument(int argc, char **argv, int i, unsigned int value)
{
	if (i < argc)
		value = strtoul(argv[i], NULL, 10);
	if (!value || argc > 3)
		errx(2, "usage: idle_uring [CONNECTIONS [SECONDS]]");
	return value;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	static struct server server;
	struct server *s = &server;
	unsigned int seconds;
	pid_t clients;
	int status;

	s->n = argument(argc, argv, 1, DEFAULT_COUNT);
	seconds = argument(argc, argv, 2, DEFAULT_TIME);
	s->conns = calloc(s->n, sizeof(*s->conns));
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The kernel chooses an address. */
	if (!s->conns || s->listener < 0 ||
	    bind(s->listener, (void *)&address, sizeof(sa_family_t)) ||
	    listen(s->listener, SOMAXCONN) ||
	    getsockname(s->listener, (void *)&address, &length))
		err(EXIT_FAILURE, "no server");
	open_device(s);
	clients = fork();
	if (clients < 0)
		err(EXIT_FAILURE, "no clients");
	if (!clients)
		_exit(play(&address, length, s->n, seconds));
	alarm(seconds + IDLE / SEC + PATIENCE);
	serve(s);
	if (waitpid(clients, &status, 0) != clients || status)
		errx(EXIT_FAILURE, "the clients have failed");
	close(s->device);
	close(s->listener);
	free(s->conns);
	return verdict(s);
}
