// SPDX-License-Identifier: GPL-2.0
/*
 * call.c - makes the ioctls and reads of a program
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

#define MANY		400	/* a number of callouts that makes tables and hashes grow */
#define COUNT_UNWRITTEN	0xdeadbeef

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

/* An ioctl whose number encodes the size of its structure in *@arg. */
static long struct_ioctl(struct worker *w, const struct call *c,
			 unsigned long number, void *arg)
{
	size_t size = _IOC_SIZE(number);
	size_t more = c->flags & F_SIZED ? MORE : 0;
	struct memory m = arena_at(w, c->place, AT_ARGUMENT, size);
	long ret;

	memcpy(m.fill, arg, size);
	memset(m.fill + size, 0, more);
	poke(c, m.fill, size);
	number += (unsigned long)more << _IOC_SIZESHIFT;
	ret = device_ioctl(c, number, m.user);
	memcpy(arg, m.fill, size);
	return ret;
}

static long call_op(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_op op = op_make(i), given = op;
	long ret;

	poke(c, &given, sizeof(given));
	ret = struct_ioctl(w, c, CALLOUT_IOC_OP, &op);
	op_done(i, &op, ret);
	if (c->place != P_stall)
		run.outcome[i].wrong = op_wrong(&given, &op, ret, false);
	return ret;
}

/* Note events that were read to @at. */
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

/* The calls that a BATCH does: the following operations of its thread. */
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
	struct memory mask = arena_at(w, P_good, AT_MASK, 8);

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

/*
 * Return what is wrong with a batch whose structure could be read and written, or NULL.
 * Check its counts, which must hold whatever the batch has returned, and the operations
 * in its array.
 */
static const char *batch_wrong(const struct call *c, const struct callout_batch *b,
			       const struct callout_op *given, size_t op_size,
			       const char *ops, long ret)
{
	unsigned int failed = 0, i;
	const char *why = NULL;
	struct callout_op op;

	if (b->done == COUNT_UNWRITTEN || b->failed == COUNT_UNWRITTEN ||
	    b->got == COUNT_UNWRITTEN)
		return "a batch has not written its counts";
	if (c->poke)
		return NULL;
	if (b->done > b->nr_ops || b->failed > b->done || b->got > b->nr_events)
		return "a batch counts more than there is";
	if (!ret && b->done < b->nr_ops && !(b->flags & CALLOUT_BATCHF_STOP && b->failed))
		return "a batch has left operations out";
	for (i = 0; i < b->nr_ops && c->array == P_good && !why; i++) {
		memcpy(&op, ops + i * op_size, sizeof(op));
		why = i < b->done ? op_wrong(&given[i], &op, op.result, true) :
				    op_wrong(&given[i], &op, -ECANCELED, false);
		failed += i < b->done && op.result < 0;
	}
	/* A result that cannot be written is a failure, too. */
	if (c->array == P_readonly)
		failed = b->done;
	else if (c->array != P_good)
		return why;
	return why || failed == b->failed ? why : "a batch counts wrongly what has failed";
}

/* Note the outcomes of a batch's operations. */
static void batch_done(const struct call *c, const unsigned int *calls,
		       const struct callout_batch *b, size_t op_size,
		       const char *ops, long ret)
{
	bool counted = c->place == P_good && !c->poke;
	struct callout_op op;
	struct outcome *o;
	unsigned int i;

	for (i = 0; i < b->nr_ops; i++) {
		o = &run.outcome[calls[i]];
		memcpy(&op, ops + i * op_size, sizeof(op));
		o->unknown = !counted || (i < b->done && c->array != P_good);
		o->end = now();
		if (counted && i >= b->done)
			op.result = -ECANCELED;
		op_done(calls[i], &op, ret < 0 && o->unknown ? ret : op.result);
		o->ran = true;
	}
}

static long call_batch(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	size_t more = c->flags & F_SIZED ? MORE : 0;
	size_t op_size = sizeof(struct callout_op) + more;
	struct callout_batch b = {
		.op_size = op_size,
		.done = COUNT_UNWRITTEN,
		.failed = COUNT_UNWRITTEN,
		.got = COUNT_UNWRITTEN,
	};
	unsigned int calls[EVENTS_MAX], j;
	struct callout_op given[EVENTS_MAX];
	struct memory ops, events;
	long ret;

	b.nr_ops = batch_calls(i, calls);
	ops = arena_at(w, c->array, AT_ARRAY, b.nr_ops * op_size);
	events = arena_at(w, c->array == P_edge ? P_good : c->array, AT_EVENTS, 0);
	for (j = 0; j < b.nr_ops; j++) {
		run.outcome[calls[j]].by = i + 1;
		run.outcome[calls[j]].start = now();
		given[j] = op_make(calls[j]);
		poke(&run.program->call[calls[j]], &given[j], sizeof(given[j]));
		memcpy(ops.fill + j * op_size, &given[j], sizeof(given[j]));
		memset(ops.fill + j * op_size + sizeof(given[j]), 0, more);
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
	} else if (c->flags & B_ABSTIME && c->flags & B_MASK) {
		/* A member of a wait without a wait is refused. */
		b.flags |= CALLOUT_BATCHF_ABSTIME;
	}
	ret = struct_ioctl(w, c, CALLOUT_IOC_BATCH, &b);
	w->waits = 0;
	b.nr_ops = batch_calls(i, calls);
	if (c->place == P_good && program_keeps_files(run.program))
		run.outcome[i].wrong = batch_wrong(c, &b, given, op_size, ops.fill, ret);
	if (b.done == COUNT_UNWRITTEN) {
		b.done = 0;
		b.got = 0;
	}
	batch_done(c, calls, &b, op_size, ops.fill, ret);
	if (c->place == P_good && c->array == P_good)
		note_events(&run.outcome[i], events.fill, b.got);
	return ret;
}

static long call_read(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	size_t size = sizeof(struct callout_event), n = c->n % (EVENTS_MAX + 1);
	struct memory m = arena_at(w, c->array, AT_EVENTS, n * size);
	long ret;

	if (c->file == FILE_BLOCKING)
		w->waits = FILE_BLOCKING + 1;
	ret = read(run.fd[c->file], m.user, n * size);
	w->waits = 0;
	if (ret < 0)
		return -errno;
	if (c->array == P_edge && ret > (long)arena_cut(n * size))
		run.outcome[i].wrong = "more events were read than there was memory for";
	if (c->array <= P_edge && c->array != P_null)
		note_events(&run.outcome[i], m.fill, ret / size);
	return ret / size;
}

/* Is an entry impossible for any callout? */
static bool entry_wrong(const struct callout_entry *e)
{
	const __u32 flags = CALLOUT_OPF_KEY | CALLOUT_OPF_ABSTIME |
			    CALLOUT_OPF_CANCEL_ON_SET | CALLOUT_OPF_EXACT;

	if (!e->slack != !!(e->op_flags & CALLOUT_OPF_EXACT))
		return true;
	if (e->reserved || e->flags & ~CALLOUT_ENTRYF_COMMAND || e->op_flags & ~flags)
		return true;
	/* A command has no event. */
	if (e->flags & CALLOUT_ENTRYF_COMMAND)
		return e->op != CALLOUT_OP_SET || e->state != CALLOUT_STATE_PENDING ||
		       e->period || e->cookie || e->func ||
		       e->op_flags & CALLOUT_OPF_CANCEL_ON_SET;
	if (e->op == CALLOUT_OP_TIMEOUT ? e->period || e->op_flags & CALLOUT_OPF_KEY :
					  e->op != CALLOUT_OP_SET || e->func)
		return true;
	return e->state < CALLOUT_STATE_PENDING || e->state > CALLOUT_STATE_READING;
}

/* Check the entries. The outcome gets the last entry, or an entry that is being read. */
static void note_entries(struct outcome *o, const char *at, size_t size, unsigned int n)
{
	struct callout_entry e;

	for (; n; n--, at += size) {
		memcpy(&e, at, sizeof(e));
		if (entry_wrong(&e))
			o->wrong = "LIST has a callout as none can be";
		if (o->state == CALLOUT_STATE_READING)
			continue;
		o->state = e.state;
		o->command = e.flags & CALLOUT_ENTRYF_COMMAND;
	}
}

static long list(struct worker *w, unsigned int i, struct callout_list *l)
{
	const struct call *c = &run.program->call[i];
	size_t more = c->flags & F_SIZED ? MORE : 0;
	struct memory m;
	long ret;

	l->entry_size = sizeof(struct callout_entry) + more;
	m = arena_at(w, c->array, AT_EVENTS, l->nr_entries * l->entry_size);
	l->entries = (uintptr_t)m.user;
	ret = struct_ioctl(w, c, CALLOUT_IOC_LIST, l);
	if (!ret && !c->poke && c->place == P_good && c->array == P_good)
		note_entries(&run.outcome[i], m.fill, l->entry_size, l->got);
	return ret;
}

/* LIST of the callout that has a handle, or a key. */
static long call_one(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_list l = { .nr_entries = 1 };

	if (c->kind == K_KONE) {
		l.flags = CALLOUT_LISTF_KEY;
		l.key = c->key + 1;
	} else {
		l.flags = CALLOUT_LISTF_HANDLE;
		l.handle = op_target(c, &run.outcome[i]);
	}
	return list(w, i, &l);
}

/* Return the number of entries. */
static long call_list(struct worker *w, unsigned int i)
{
	const struct call *c = &run.program->call[i];
	struct callout_list l = {
		.nr_entries = c->n % 20,
		.cursor = c->key == 3 ? poke_value(c) : 0,
	};
	long ret = list(w, i, &l);

	return ret ? ret : l.got;
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
	struct memory m = arena_at(w, c->place, AT_ARGUMENT, 0);

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
	case K_LIST:	return call_list(w, i);
	case K_MATCH:	return call_match(w, c);
	case K_NUMBER:	return call_number(w, c);
	case K_FILL:	return call_fill(c);
	default:
		m = arena_at(w, c->place, AT_ARGUMENT, 4);
		return device_ioctl(c, FIONREAD, m.user);
	}
}

/* Make the call with the number @i. */
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
		ret = ring_command(w, i);
	else if (c->kind >= K_RING_READ && c->kind <= K_RING_CLOSE)
		ret = ring_call(w, c);
	else
		ret = around_call(w, i);
	o->ret = ret;
	o->end = now();
	o->ran = true;
}
