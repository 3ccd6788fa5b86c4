// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - a program's io_uring: commands of the device, reads and polls of it
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

#define ENTRIES		64U

/* Set up by the first call that needs it. */
static struct {
	pthread_mutex_t lock;
	int fd;
	bool open;
	struct io_uring_params p;
	size_t size;
	char *rings;
	struct io_uring_sqe *sqes;
	/* What commands point to: the kernel may read it late. */
	struct callout_op op[ENTRIES];
	struct callout_batch batch[ENTRIES];
	struct callout_event event[ENTRIES];
} ring = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_uint *word(__u32 offset)
{
	return (void *)(ring.rings + offset);
}

static bool ring_begin(unsigned int how)
{
	static const __u32 flags[] = {
		0, 0, IORING_SETUP_COOP_TASKRUN, IORING_SETUP_SQPOLL,
	};

	if (ring.open)
		return true;
	ring.p = (struct io_uring_params){
		.flags = flags[how % 4],
		.sq_thread_idle = 1,
	};
	ring.fd = syscall(__NR_io_uring_setup, ENTRIES, &ring.p);
	if (ring.fd < 0)
		return false;
	ring.size = ring.p.cq_off.cqes +
		    ring.p.cq_entries * sizeof(struct io_uring_cqe) +
		    ring.p.sq_off.array + ring.p.sq_entries * sizeof(__u32);
	ring.rings = mmap(NULL, ring.size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring.fd, IORING_OFF_SQ_RING);
	ring.sqes = mmap(NULL, ring.p.sq_entries * sizeof(*ring.sqes),
			 PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
			 IORING_OFF_SQES);
	ring.open = ring.rings != MAP_FAILED && ring.sqes != MAP_FAILED;
	if (!ring.open)
		close(ring.fd);
	return ring.open;
}

static void ring_close(void)
{
	if (!ring.open)
		return;
	munmap(ring.rings, ring.size);
	munmap(ring.sqes, ring.p.sq_entries * sizeof(*ring.sqes));
	close(ring.fd);
	ring.open = false;
}

/* Closes the ring of a program that has ended. */
void ring_end(void)
{
	/* A thread may have been killed with it. */
	pthread_mutex_init(&ring.lock, NULL);
	ring_close();
}

/* Submits an entry; returns its number, or an error. */
static long submit(const struct io_uring_sqe *sqe)
{
	unsigned int flags = ring.p.flags & IORING_SETUP_SQPOLL ?
			     IORING_ENTER_SQ_WAKEUP : 0;
	atomic_uint *tail = word(ring.p.sq_off.tail);
	unsigned int i = *tail & (ring.p.sq_entries - 1);

	*word(ring.p.sq_off.array + i * sizeof(__u32)) = i;
	ring.sqes[i] = *sqe;
	atomic_fetch_add(tail, 1);
	if (syscall(__NR_io_uring_enter, ring.fd, 1, 0, flags, NULL, 0) < 0)
		return -errno;
	return i;
}

static __u32 *sqe_word(struct io_uring_sqe *sqe, unsigned int i)
{
	return (__u32 *)sqe + i % (sizeof(*sqe) / sizeof(__u32));
}

/* Makes a command a batch of its one operation, and of a read. */
static void make_batch(const struct call *c, unsigned int i,
		       struct io_uring_sqe *sqe)
{
	ring.op[i].flags = c->flags & F_COMPAT ? 0 : CALLOUT_OPF_KEY;
	ring.batch[i] = (struct callout_batch){
		.ops = sqe->addr,
		.events = (uintptr_t)&ring.event[i],
		.nr_ops = c->value % 3 != 0,
		.nr_events = c->value % 2,
		.op_size = sizeof(ring.op[i]),
		.flags = c->value % 5 ? 0 : CALLOUT_BATCHF_WAIT,
	};
	sqe->cmd_op = CALLOUT_IOC_BATCH;
	sqe->addr = (uintptr_t)&ring.batch[i];
}

/* By the call's number; the last one is made a batch. */
static const struct {
	__u32 op;
	__u32 flags;
} commands[] = {
	{ CALLOUT_OP_SET, CALLOUT_OPF_ONLY_NEW },
	{ CALLOUT_OP_SET, CALLOUT_OPF_ONLY_NEW },
	{ CALLOUT_OP_CANCEL, 0 },
	{ CALLOUT_OP_MOVE, 0 },
	{ CALLOUT_OP_SET, CALLOUT_OPF_ONLY_NEW },
	{ CALLOUT_OP_SET, CALLOUT_OPF_ONLY_OLD },
	{ CALLOUT_OP_TIMEOUT, 0 },
	{ CALLOUT_OP_SET, 0 },
};

#define COMMANDS	ARRAY_SIZE(commands)

static struct callout_op command_op(const struct call *c)
{
	unsigned int how = c->n % COMMANDS;
	struct callout_op op = {
		.op = commands[how].op,
		.flags = commands[how].flags | CALLOUT_OPF_KEY,
		.key = c->key + 1,
	};

	if (op.op == CALLOUT_OP_CANCEL)
		return op;
	op.time = time_is_far(c->when) ? HOUR : c->value * 1000;
	if (c->when == T_abs_past)
		op.flags |= CALLOUT_OPF_ABSTIME;
	if (op.op == CALLOUT_OP_MOVE)
		return op;
	op.clockid = c->key & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	if (c->flags & F_PERIOD)
		op.period = HOUR;
	if (c->flags & F_SLACK)
		op.slack = MSEC;
	return op;
}

/* Submits an operation as a command. */
long ring_command(struct worker *w, const struct call *c)
{
	struct callout_op *place;
	struct io_uring_sqe sqe;
	long ret = -ENODEV;
	unsigned int i;

	pthread_mutex_lock(&ring.lock);
	if (!ring_begin(c->value))
		goto out;
	i = *word(ring.p.sq_off.tail) % ENTRIES;
	place = &ring.op[i];
	*place = command_op(c);
	sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_URING_CMD,
		.fd = run.fd[c->file],
		.cmd_op = CALLOUT_IOC_OP,
		.addr = (uintptr_t)place,
		.flags = c->flags & F_SIZED ? IOSQE_ASYNC : 0,
		.user_data = 1,
	};
	if (c->place == P_null)
		sqe.addr = 8;
	else if (c->place == P_readonly)
		sqe.addr = (uintptr_t)w->arena + ARENA_READONLY * PAGE;
	if (c->n % COMMANDS == COMMANDS - 1)
		make_batch(c, i, &sqe);
	if (c->poke && c->poke < 17)
		*sqe_word(&sqe, c->poke + 1) = c->value;
	ret = submit(&sqe);
out:
	pthread_mutex_unlock(&ring.lock);
	return ret;
}

/* Takes all completions. */
static long reap(const struct call *c)
{
	atomic_uint *head = word(ring.p.cq_off.head);
	struct pollfd poller = { .fd = ring.fd, .events = POLLIN };
	long n;

	if (c->n & 1)
		poll(&poller, 1, 2);
	syscall(__NR_io_uring_enter, ring.fd, 0, 0, IORING_ENTER_GETEVENTS,
		NULL, 0);
	n = *word(ring.p.cq_off.tail) - *head;
	atomic_fetch_add(head, n);
	return n;
}

static long ring_other(const struct call *c)
{
	struct io_uring_sqe sqe = {
		.opcode = c->kind == K_RING_POLL ? IORING_OP_POLL_ADD :
						   IORING_OP_READ,
		.fd = run.fd[c->file],
		.user_data = 2,
	};

	if (!ring_begin(c->value))
		return -ENODEV;
	if (c->kind == K_RING_REAP)
		return reap(c);
	if (c->kind == K_RING_POLL) {
		sqe.poll32_events = POLLIN;
		sqe.len = c->n & 1 ? IORING_POLL_ADD_MULTI : 0;
		return submit(&sqe);
	}
	sqe.addr = (uintptr_t)&ring.event[*word(ring.p.sq_off.tail) % ENTRIES];
	sqe.len = sizeof(ring.event[0]);
	sqe.off = -1;
	if (c->array == P_null)
		sqe.addr = 8;
	return submit(&sqe);
}

long ring_call(struct worker *w, const struct call *c)
{
	long ret = 0;

	(void)w;
	pthread_mutex_lock(&ring.lock);
	if (c->kind == K_RING_CLOSE)
		ring_close();
	else
		ret = ring_other(c);
	pthread_mutex_unlock(&ring.lock);
	return ret;
}
