// SPDX-License-Identifier: GPL-2.0
/*
 * call.c - makes the ioctls and reads of a program
 *
 * An argument is written through an alias of the thread's memory and given to
 * the kernel by an address at which it may be readonly, or end in the middle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

/* Where things are in a page of the arena. */
#define AT_ARGUMENT	0
#define AT_ARRAY	512
#define AT_EVENTS	2048
#define AT_MASK		3600

#define MANY		400	/* callouts: tables and hashes grow */
#define MORE		8	/* by which F_SIZED makes structures longer */

static const __u64 values[16] = {
	0, 1, 2, 3, 8, 63, 64, 4096, 65536, 65537, 1ULL << 31, ~0U,
	(1ULL << 63) - 1, 1ULL << 63, ~0ULL, 0xffff888000001000ULL,
};

static const __u64 times[T_TIMES] = {
	[T_hour] = HOUR, [T_day] = 24 * HOUR, [T_max] = ~0ULL >> 1,
	[T_abs_hour] = HOUR, [T_tick] = 150000, [T_ms] = MSEC,
	[T_abs_soon] = 300000, [T_bad] = 1ULL << 63,
};

static __u64 now_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

__u64 now(void)
{
	return now_of(CLOCK_MONOTONIC);
}

/* A piece of memory: where the kernel finds it, and where it can be written. */
struct memory {
	char *user;
	char *fill;
};

/* Of @size bytes at an edge, as many as are memory. */
static size_t edge_cut(size_t size)
{
	return size / 2 & ~3UL;
}

static struct memory memory_at(struct worker *w, unsigned int place,
			       size_t at, size_t size)
{
	char *scratch = w->alias + ARENA_SCRATCH * PAGE;
	size_t cut;

	switch (place) {
	case P_null:
		return (struct memory){ (char *)8, scratch + at };
	case P_kernel:
		return (struct memory){ (char *)0xffff888000001000UL,
					scratch + at };
	case P_stall:
		if (run.stall)
			return (struct memory){ run.stall + at, scratch + at };
		return memory_at(w, P_null, at, size);
	case P_edge:
		cut = ARENA_EDGE * PAGE - edge_cut(size);
		return (struct memory){ w->arena + cut, w->alias + cut };
	case P_readonly:
		at += ARENA_READONLY * PAGE;
		break;
	case P_changing:
		at += ARENA_CHANGING * PAGE;
		break;
	}
	return (struct memory){ w->arena + at, w->alias + at };
}

static void poke(const struct call *c, void *fill, size_t size)
{
	__u64 *word = fill;

	if (c->poke)
		word[(c->poke - 1) % (size / 8)] = values[c->value % 16];
}

/* ioctl(2) of a 32-bit program. */
static long compat_ioctl(int fd, unsigned int number, const void *arg)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a" (ret)
			 : "a" (54), "b" (fd), "c" (number), "d" (arg)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

static long device_ioctl(const struct call *c, unsigned long number,
			 const void *arg)
{
	int fd = run.fd[c->file], ret;

	if (c->flags & F_COMPAT)
		return compat_ioctl(fd, number, arg);
	ret = ioctl(fd, number, arg);
	return ret < 0 ? -errno : ret;
}

/* An ioctl whose number has the size of its structure, which is in *@arg. */
static long struct_ioctl(struct worker *w, const struct call *c,
			 unsigned long number, void *arg)
{
	size_t size = _IOC_SIZE(number);
	size_t more = c->flags & F_SIZED ? MORE : 0;
	struct memory m = memory_at(w, c->place, AT_ARGUMENT, size);
	long ret;

	memcpy(m.fill, arg, size);
	memset(m.fill + size, 0, more);
	poke(c, m.fill, size);
	number += (unsigned long)more << _IOC_SIZESHIFT;
	ret = device_ioctl(c, number, m.user);
	memcpy(arg, m.fill, size);
	return ret;
}

static clockid_t op_clock(const struct call *c)
{
	if (c->flags & F_REAL)
		return c->flags & F_ALARM ? CLOCK_REALTIME_ALARM :
					    CLOCK_REALTIME;
	if (c->flags & F_ALARM)
		return CLOCK_BOOTTIME_ALARM;
	return c->flags & F_BOOT || c->key & 1 ? CLOCK_BOOTTIME :
						 CLOCK_MONOTONIC;
}

/* The clock whose time an absolute time is. */
static clockid_t plain_clock(clockid_t clock)
{
	if (clock == CLOCK_REALTIME_ALARM)
		return CLOCK_REALTIME;
	return clock == CLOCK_BOOTTIME_ALARM ? CLOCK_BOOTTIME : clock;
}

/* The handle of the call that @c means. */
static __u64 target_handle(const struct call *c, struct outcome *o)
{
	__u64 handle;

	o->target = NO_TARGET;
	if (c->target >= run.program->n)
		return 0;
	handle = run.outcome[c->target].handle;
	if (handle)
		o->target = c->target;
	return handle;
}

static void fill_time(const struct call *c, clockid_t clock,
		      struct callout_op *op)
{
	op->time = times[c->when];
	if (c->when == T_abs_past)
		op->time = 1;
	else if (c->when == T_abs_hour || c->when == T_abs_soon)
		op->time += now_of(plain_clock(clock));
	else
		return;
	op->flags |= CALLOUT_OPF_ABSTIME;
}

/* The opcode, and the flags that say which callout is meant. */
static const struct {
	__u32 op;
	__u32 flags;
} op_of[] = {
	[K_SET] = { CALLOUT_OP_SET, 0 },
	[K_CANCEL] = { CALLOUT_OP_CANCEL, 0 },
	[K_MOVE] = { CALLOUT_OP_MOVE, 0 },
	[K_OLD] = { CALLOUT_OP_SET, CALLOUT_OPF_ONLY_OLD },
	[K_TIMEOUT] = { CALLOUT_OP_TIMEOUT, 0 },
	[K_UNTIMEOUT] = { CALLOUT_OP_UNTIMEOUT, 0 },
	[K_KSET] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY },
	[K_KCANCEL] = { CALLOUT_OP_CANCEL, CALLOUT_OPF_KEY },
	[K_KMOVE] = { CALLOUT_OP_MOVE, CALLOUT_OPF_KEY },
	[K_KOLD] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_OLD },
	[K_KNEW] = { CALLOUT_OP_SET, CALLOUT_OPF_KEY | CALLOUT_OPF_ONLY_NEW },
};

/* The name of the callout that the operation of call @i means. */
static void fill_name(unsigned int i, struct callout_op *op)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];

	o->target = NO_TARGET;
	if (kind_is_keyed(c->kind))
		op->key = c->key + 1;
	else if (c->kind == K_CANCEL || c->kind == K_MOVE || c->kind == K_OLD ||
		 (c->kind == K_UNTIMEOUT && c->n % 4 == 0))
		op->handle = target_handle(c, o);
	if (c->kind == K_TIMEOUT || c->kind == K_UNTIMEOUT) {
		op->cookie = c->key;
		op->func = c->key + 1;
	}
}

/* All that an operation sets but the name and the time. */
static void fill_rest(unsigned int i, struct callout_op *op)
{
	const struct call *c = &run.program->call[i];
	unsigned int target = run.outcome[i].target;

	op->clockid = op_clock(c);
	if (c->flags & F_PERIOD)
		op->period = c->value & 1 ? 100000 : HOUR;
	if (c->flags & F_SLACK)
		op->slack = c->value & 1 ? MSEC : HOUR;
	if (c->flags & F_ON_SET)
		op->flags |= CALLOUT_OPF_CANCEL_ON_SET;
	if (c->kind == K_TIMEOUT)
		return;
	/* MATCH looks at the key, so it stays. */
	if (target != NO_TARGET)
		c = &run.program->call[target];
	op->cookie = (i + 1) | c->key << 8 | COOKIE_MARK;
}

/* An operation, of the call with the number @i. */
static struct callout_op make_op(unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_op op = {
		.op = op_of[c->kind].op,
		.flags = op_of[c->kind].flags,
	};
	unsigned int target;

	fill_name(i, &op);
	if (op.op == CALLOUT_OP_CANCEL || op.op == CALLOUT_OP_UNTIMEOUT)
		return op;
	target = run.outcome[i].target;
	fill_time(c, op_clock(kind_keeps(c->kind) && target != NO_TARGET ?
			      &run.program->call[target] : c), &op);
	if (!kind_keeps(c->kind))
		fill_rest(i, &op);
	return op;
}

static void op_done(unsigned int i, const struct callout_op *op, long ret)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];

	o->ret = ret;
	if (!ret && (c->kind == K_SET || c->kind == K_TIMEOUT))
		o->handle = op->handle;
}

static long call_op(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_op op = make_op(i);
	long ret;

	ret = struct_ioctl(w, c, CALLOUT_IOC_OP, &op);
	op_done(i, &op, ret);
	return ret;
}

/* Notes events that were read to @at. */
static void note_events(struct outcome *o, const char *at, long n)
{
	struct callout_event e;

	for (; n > 0 && o->n < EVENTS_MAX; n--, at += sizeof(e)) {
		memcpy(&e, at, sizeof(e));
		o->seen[o->n++] = (struct seen){
			.handle = e.handle,
			.cookie = e.cookie,
			.func = e.func,
			.due = e.due,
			.fired = e.fired,
			.flags = e.flags,
			.clockid = e.clockid,
		};
	}
}

/* The calls that a BATCH does: the operations of its thread that follow. */
static unsigned int batch_calls(unsigned int i, unsigned int *calls)
{
	const struct program *p = run.program;
	unsigned int most = p->call[i].n % (EVENTS_MAX + 1), n = 0, j;

	for (j = i + 1; j < p->n && n < most; j++) {
		if (p->call[j].thread != p->call[i].thread)
			continue;
		if (!kind_is_op(p->call[j].kind))
			break;
		calls[n++] = j;
	}
	return n;
}

static void batch_wait(struct worker *w, const struct call *c,
		       struct callout_batch *b)
{
	struct memory mask = memory_at(w, P_good, AT_MASK, 0);

	b->flags |= CALLOUT_BATCHF_WAIT;
	b->time = c->n & 1 ? MSEC : ~0ULL;
	b->clockid = c->key & 1 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	b->min_events = c->key % 2;
	if (c->flags & B_ABSTIME) {
		b->flags |= CALLOUT_BATCHF_ABSTIME;
		b->time = now_of(b->clockid) + MSEC;
	}
	if (c->flags & B_MASK) {
		b->sigmask = (uintptr_t)mask.user;
		b->sigmask_size = 8;
		memset(mask.fill, 0, 8);
	}
}

/* What became of the operations of a batch. */
static void batch_done(const struct call *c, const unsigned int *calls,
		       const struct callout_batch *b, size_t op_size,
		       const char *ops, long ret)
{
	bool unknown = c->place != P_good || c->array != P_good || c->poke;
	struct callout_op op;
	struct outcome *o;
	unsigned int i;

	for (i = 0; i < b->nr_ops; i++) {
		o = &run.outcome[calls[i]];
		memcpy(&op, ops + i * op_size, sizeof(op));
		o->unknown = unknown;
		o->end = now();
		if (!unknown && i >= b->done)
			op.result = -ECANCELED;
		op_done(calls[i], &op, ret < 0 && unknown ? ret : op.result);
		o->ran = true;
	}
}

static long call_batch(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	size_t more = c->flags & F_SIZED ? MORE : 0;
	size_t op_size = sizeof(struct callout_op) + more;
	struct callout_batch b = { .op_size = op_size };
	unsigned int calls[EVENTS_MAX], j;
	struct memory ops, events;
	struct callout_op op;
	long ret;

	b.nr_ops = batch_calls(i, calls);
	ops = memory_at(w, c->array, AT_ARRAY, b.nr_ops * op_size);
	events = memory_at(w, c->array == P_edge ? P_good : c->array, AT_EVENTS,
			   0);
	for (j = 0; j < b.nr_ops; j++) {
		run.outcome[calls[j]].in_batch = i + 1;
		run.outcome[calls[j]].start = now();
		op = make_op(calls[j]);
		memcpy(ops.fill + j * op_size, &op, sizeof(op));
		memset(ops.fill + j * op_size + sizeof(op), 0, more);
		poke(&run.program->call[calls[j]], ops.fill + j * op_size,
		     sizeof(op));
	}
	b.ops = (uintptr_t)ops.user;
	if (c->flags & (B_EVENTS | B_WAIT)) {
		b.events = (uintptr_t)events.user;
		b.nr_events = 1 + c->n % EVENTS_MAX;
	}
	if (c->flags & B_STOP)
		b.flags |= CALLOUT_BATCHF_STOP;
	if (c->flags & B_WAIT) {
		batch_wait(w, c, &b);
		w->waits = file_of(c->file) + 1;
	}
	ret = struct_ioctl(w, c, CALLOUT_IOC_BATCH, &b);
	w->waits = 0;
	b.nr_ops = batch_calls(i, calls);
	batch_done(c, calls, &b, op_size, ops.fill, ret);
	if (!ret && c->place == P_good && c->array == P_good)
		note_events(&run.outcome[i], events.fill, b.got);
	return ret;
}

static long call_read(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	size_t size = sizeof(struct callout_event), n = c->n % (EVENTS_MAX + 1);
	struct memory m = memory_at(w, c->array, AT_EVENTS, n * size);
	long ret;

	if (c->file == FILE_BLOCKING)
		w->waits = FILE_BLOCKING + 1;
	ret = read(run.fd[c->file], m.user, n * size);
	w->waits = 0;
	if (ret < 0)
		return -errno;
	run.outcome[i].beyond = c->array == P_edge &&
				ret > (long)edge_cut(n * size);
	if (c->array <= P_edge && c->array != P_null)
		note_events(&run.outcome[i], m.fill, ret / size);
	return ret / size;
}

/* LIST of the callout that has a handle, or a key. */
static long call_one(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];
	size_t size = sizeof(struct callout_entry) +
		      (c->flags & F_SIZED ? MORE : 0);
	struct memory m = memory_at(w, c->array, AT_EVENTS, size);
	struct callout_list list = {
		.entries = (uintptr_t)m.user,
		.nr_entries = 1,
		.entry_size = size,
	};
	struct callout_entry entry;
	long ret;

	if (c->kind == K_KONE) {
		list.flags = CALLOUT_LISTF_KEY;
		list.key = c->key + 1;
	} else {
		list.flags = CALLOUT_LISTF_HANDLE;
		list.handle = target_handle(c, o);
	}
	ret = struct_ioctl(w, c, CALLOUT_IOC_LIST, &list);
	memcpy(&entry, m.fill, sizeof(entry));
	o->state = entry.state;
	return ret;
}

/* Returns how many entries there were. */
static long call_list(struct worker *w, const struct call *c)
{
	size_t size = sizeof(struct callout_entry) +
		      (c->flags & F_SIZED ? MORE : 0);
	unsigned int n = c->n % 20;
	struct memory m = memory_at(w, c->array, AT_EVENTS, n * size);
	struct callout_list list = {
		.entries = (uintptr_t)m.user,
		.nr_entries = n,
		.entry_size = size,
		.cursor = c->key == 3 ? values[c->value % 16] : 0,
	};
	long ret = struct_ioctl(w, c, CALLOUT_IOC_LIST, &list);

	return ret ? ret : list.got;
}

static long call_match(struct worker *w, const struct call *c)
{
	struct callout_match match = { 0 };

	if (c->n & 1) {
		match.mask = 0xff00;
		match.cookie = (__u64)c->key << 8;
	}
	return struct_ioctl(w, c, CALLOUT_IOC_CANCEL_MATCHING, &match);
}

static long call_limit(struct worker *w, const struct call *c)
{
	struct callout_limit arg = { .max_outstanding = c->n };

	return struct_ioctl(w, c, CALLOUT_IOC_LIMIT, &arg);
}

static long call_info(struct worker *w, const struct call *c)
{
	struct callout_info info;

	return struct_ioctl(w, c, CALLOUT_IOC_INFO, &info);
}

/* A batch of many that do not fire, some of which are cancelled at once. */
static long call_fill(const struct call *c)
{
	struct callout_op op[MANY];
	struct callout_batch b = {
		.ops = (uintptr_t)op,
		.nr_ops = MANY,
		.op_size = sizeof(op[0]),
	};
	unsigned int i;
	long ret;

	for (i = 0; i < MANY; i++) {
		op[i] = (struct callout_op){
			.op = c->key & 1 ? CALLOUT_OP_TIMEOUT : CALLOUT_OP_SET,
			.clockid = CLOCK_MONOTONIC,
			.time = HOUR + i % 7 * NSEC,
			.cookie = c->key < 2 && c->n ? i % c->n : i,
			.func = c->key & 1 ? 1000 : 0,
		};
		if (c->key == 2) {
			op[i].flags = CALLOUT_OPF_KEY;
			op[i].key = 1000 + op[i].cookie;
		}
	}
	ret = device_ioctl(c, CALLOUT_IOC_BATCH, &b);
	if (ret || c->key == 2)
		return ret;
	for (i = 0; i < MANY; i++)
		op[i] = (struct callout_op){ .op = CALLOUT_OP_CANCEL,
					     .handle = op[i].handle };
	b.nr_ops = c->value % 16 * (MANY / 16);
	return device_ioctl(c, CALLOUT_IOC_BATCH, &b);
}

static long call_number(struct worker *w, const struct call *c)
{
	struct memory m = memory_at(w, c->place, AT_ARGUMENT, 0);

	memset(m.fill, c->value, 256);
	return device_ioctl(c, _IOC(c->flags & 3, CALLOUT_IOC_MAGIC, c->n % 10,
				    c->value * 24), m.user);
}

static long call_ioctl(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct memory m;

	switch (c->kind) {
	case K_BATCH:	return call_batch(w, i);
	case K_INFO:	return call_info(w, c);
	case K_LIMIT:	return call_limit(w, c);
	case K_ONE:
	case K_KONE:	return call_one(w, i);
	case K_LIST:	return call_list(w, c);
	case K_MATCH:	return call_match(w, c);
	case K_NUMBER:	return call_number(w, c);
	case K_FILL:	return call_fill(c);
	default:
		m = memory_at(w, c->place, AT_ARGUMENT, 4);
		return device_ioctl(c, FIONREAD, m.user);
	}
}

/* Makes the call with the number @i. */
void call_run(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct outcome *o = &run.outcome[i];
	long ret;

	o->start = now();
	if (kind_is_op(c->kind))
		ret = call_op(w, i);
	else if (c->kind <= K_FILL)
		ret = call_ioctl(w, i);
	else if (c->kind == K_READ)
		ret = call_read(w, i);
	else if (c->kind == K_COMMAND)
		ret = ring_command(w, c);
	else if (c->kind >= K_RING_READ && c->kind <= K_RING_CLOSE)
		ret = ring_call(w, c);
	else
		ret = around_call(w, i);
	o->ret = ret;
	o->end = now();
	o->ran = true;
}
