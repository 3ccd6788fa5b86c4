// SPDX-License-Identifier: GPL-2.0
/*
 * ring.c - a program's io_uring: commands, reads and polls of the device
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
	/* Operations of commands, by call, which the kernel may read late. */
	struct {
		struct callout_op op;
		char more[MORE];
	} late[CALLS_MAX];
	struct callout_batch batch[CALLS_MAX];
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

/* Close the ring of a program that has ended. */
void ring_end(void)
{
	/* A thread may have been killed while it held this lock. */
	pthread_mutex_init(&ring.lock, NULL);
	ring_close();
}

/* Submit an entry. Return its number, or an error. */
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

/* The user_data of a command's completion is the number of its operation's call, plus 1. */
static void note(const struct io_uring_cqe *cqe)
{
	struct outcome *o;

	if (!cqe->user_data || cqe->user_data > CALLS_MAX)
		return;
	o = &run.outcome[cqe->user_data - 1];
	o->completion = cqe->res;
	o->completions++;
}

/* Take all completions. */
static long reap(void)
{
	atomic_uint *head = word(ring.p.cq_off.head);
	const struct io_uring_cqe *cqes = (void *)word(ring.p.cq_off.cqes);
	long n;

	syscall(__NR_io_uring_enter, ring.fd, 0, 0, IORING_ENTER_GETEVENTS,
		NULL, 0);
	for (n = 0; *head != *word(ring.p.cq_off.tail); n++) {
		note(&cqes[*head & (ring.p.cq_entries - 1)]);
		atomic_fetch_add(head, 1);
	}
	return n;
}

/* Note completions in the outcomes. */
void ring_reap(void)
{
	pthread_mutex_lock(&ring.lock);
	if (ring.open)
		reap();
	pthread_mutex_unlock(&ring.lock);
}

/* Make a command a batch of its one operation, and of a read. */
static void make_batch(const struct call *c, unsigned int i,
		       struct io_uring_sqe *sqe)
{
	ring.batch[i] = (struct callout_batch){
		.ops = sqe->addr,
		.events = (uintptr_t)&ring.event[i],
		.nr_ops = c->value % 3 != 0,
		.nr_events = c->value % 2,
		.op_size = sizeof(struct callout_op),
		.flags = c->value % 5 ? 0 : CALLOUT_BATCHF_WAIT,
	};
	sqe->cmd_op = CALLOUT_IOC_BATCH;
	sqe->addr = (uintptr_t)&ring.batch[i];
}

/* May the kernel read the command of a call after the submission? */
static bool is_late(const struct call *c)
{
	return c->flags & F_SIZED || ring.p.flags & IORING_SETUP_SQPOLL;
}

/* The place of the operation of call @i's command. */
static struct memory command_at(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	char *late = (char *)&ring.late[i];

	if (!is_late(c))
		return arena_at(w, c->place, AT_ARGUMENT, sizeof(ring.late[i]));
	return (struct memory){ c->place == P_null ? (char *)8 : late, late };
}

/* Submit the operation of call @j as a command of call @i. */
static long submit_op(unsigned int i, unsigned int j, struct memory m)
{
	const struct call *c = &run.program->call[i];
	size_t more = run.program->call[j].flags & F_SIZED ? MORE : 0;
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_URING_CMD,
		.fd = run.fd[c->file],
		.cmd_op = CALLOUT_IOC_OP + ((__u32)more << _IOC_SIZESHIFT),
		.addr = (uintptr_t)m.user,
		.flags = c->flags & F_SIZED ? IOSQE_ASYNC : 0,
		.user_data = j + 1,
	};

	if (command_is_batch(c))
		make_batch(c, i, &sqe);
	if (c->poke && c->poke < 17)
		*sqe_word(&sqe, c->poke + 1) = c->value;
	return submit(&sqe);
}

/*
 * Wait until the command of call @j has completed, unless it stays. Return false if
 * that takes for ever. Do not wait if the command is late or poked. After FORK
 * completions may be lost.
 */
static bool wait_command(unsigned int j)
{
	const struct call *c = &run.program->call[j];
	struct outcome *o = &run.outcome[j];
	const struct call *command = &run.program->call[o->by - 1];

	reap();
	o->unknown = is_late(command) || c->poke || command->poke ||
		     command_is_batch(command) || program_has(run.program, K_FORK);
	while (!o->unknown && !kind_makes(c->kind) && !o->completions) {
		if (now() - o->start > PATIENCE)
			return false;
		sched_yield();
		reap();
	}
	return true;
}

/* Note the outcome of call @j's command. */
static void command_done(unsigned int j, const struct callout_op *given,
			 const struct memory *m)
{
	bool makes = kind_makes(run.program->call[j].kind);
	struct outcome *o = &run.outcome[j];
	const struct call *command = &run.program->call[o->by - 1];
	bool in_time = wait_command(j);
	long ret = makes ? 0 : -EINPROGRESS;
	struct callout_op op;

	memcpy(&op, m->fill, sizeof(op));
	/* If the callout was made, it was cancelled since. */
	if (o->completions && !(makes && o->completion == -ECANCELED))
		ret = o->completion;
	op_done(j, &op, ret);
	if (!in_time)
		o->wrong = "a command does not complete";
	else if (!o->unknown && command->place != P_stall)
		o->wrong = op_wrong(given, &op, ret, false);
	o->end = now();
	o->ran = true;
}

/* The call whose operation a COMMAND does, or NO_TARGET. */
static unsigned int command_call(unsigned int i)
{
	const struct program *p = run.program;
	unsigned int j = i + 1;

	while (j < p->n && p->call[j].thread != p->call[i].thread)
		j++;
	return j < p->n && kind_is_op(p->call[j].kind) ? j : NO_TARGET;
}

/* Submit an operation as a command. If that fails, leave it for an ioctl. */
long ring_command(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	unsigned int j = command_call(i);
	struct callout_op given;
	long ret = -ENODEV;
	struct outcome *o;
	struct memory m;

	if (j == NO_TARGET)
		return -ENOENT;
	pthread_mutex_lock(&ring.lock);
	if (!ring_begin(c->value))
		goto out;
	o = &run.outcome[j];
	o->by = i + 1;
	o->start = now();
	given = op_make(j);
	poke(&run.program->call[j], &given, sizeof(given));
	m = command_at(w, i);
	memcpy(m.fill, &given, sizeof(given));
	memset(m.fill + sizeof(given), 0, MORE);
	ret = submit_op(i, j, m);
	if (ret < 0)
		o->by = 0;
	else
		command_done(j, &given, &m);
out:
	pthread_mutex_unlock(&ring.lock);
	return ret;
}

static long ring_other(const struct call *c)
{
	struct io_uring_sqe sqe = {
		.opcode = c->kind == K_RING_POLL ? IORING_OP_POLL_ADD :
						   IORING_OP_READ,
		.fd = run.fd[c->file],
	};
	struct pollfd ring_poll = { .events = POLLIN };

	if (!ring_begin(c->value))
		return -ENODEV;
	if (c->kind == K_RING_REAP) {
		ring_poll.fd = ring.fd;
		if (c->n & 1)
			poll(&ring_poll, 1, 2);
		return reap();
	}
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
