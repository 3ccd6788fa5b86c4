/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz.h - the fuzzer of /dev/callout: programs, and what they did
 *
 * A program is a few calls, each of one thread. The calls of thread 0 come
 * first, one after the other. Then come the calls of the other threads, all at
 * once. A file is a number, 0 to 3, that all threads share: 3 is a duplicate of
 * 0, and 2 is the file that blocks.
 */
#ifndef _CALLOUT_FUZZ_H
#define _CALLOUT_FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <linux/callout.h>
#include <linux/types.h>

#define CALLS_MAX	28	/* of a program */
#define THREADS		4	/* of a program, with thread 0 */
#define FILES		4
#define FILE_BLOCKING	2
#define FILE_DUPLICATE	3
#define KEYS		4
#define NO_TARGET	0xff
#define EVENTS_MAX	16	/* events that a reader of the device takes at a time */
#define MORE		8	/* by which F_SIZED makes structures longer */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define NSEC		1000000000ULL
#define MSEC		1000000ULL
#define HOUR		(3600 * NSEC)

/* A wait that only a lost event exceeds. */
#define PATIENCE	(20 * NSEC)

/* Kinds of calls. */
#define FUZZ_KINDS(kind)						\
	/* Operations, which BATCH and COMMAND take too. By handle; */	\
	/* OLD is SET with ONLY_OLD. */					\
	kind(SET) kind(CANCEL) kind(MOVE) kind(OLD)			\
	kind(TIMEOUT) kind(UNTIMEOUT)					\
	/* By key; KNEW is SET with ONLY_NEW. */			\
	kind(KSET) kind(KCANCEL) kind(KMOVE) kind(KOLD) kind(KNEW)	\
	/* Other ioctls; ONE and KONE are LIST of one callout. */	\
	kind(BATCH) kind(INFO) kind(LIMIT) kind(ONE) kind(KONE)		\
	kind(LIST) kind(MATCH) kind(FIONREAD) kind(NUMBER) kind(FILL)	\
	/* Other calls on the file. */					\
	kind(READ) kind(POLL) kind(EPOLL) kind(FDINFO)			\
	kind(OPEN) kind(CLOSE) kind(DUP) kind(PASS) kind(OTHER)		\
	/* io_uring; COMMAND does the thread's next call, an operation. */ \
	kind(COMMAND) kind(RING_READ) kind(RING_POLL) kind(RING_REAP)	\
	kind(RING_CLOSE)						\
	/* Calls on the environment of the file. */			\
	kind(PAGE) kind(SLEEP) kind(FORK) kind(SIGNAL)	\
	kind(SETTIME) kind(PARAMETER) kind(DEBUGFS)

enum kind {
#define FUZZ_ENUM(name)	K_##name,
	FUZZ_KINDS(FUZZ_ENUM)
	K_KINDS,
};

#define K_LAST_OP	K_KNEW

/* When a callout is due. Callouts up to T_LAST_FAR do not fire in a program. */
#define FUZZ_TIMES(time)						\
	time(hour) time(day) time(max) time(abs_hour)			\
	time(now) time(tick) time(ms) time(abs_past) time(abs_soon)	\
	time(bad)

enum when {
#define FUZZ_TIME_ENUM(name)	T_##name,
	FUZZ_TIMES(FUZZ_TIME_ENUM)
	T_TIMES,
};

#define T_LAST_FAR	T_abs_hour

/* The memory of a call's argument, or of an array. */
#define FUZZ_PLACES(place)						\
	place(good) place(null) place(readonly) place(changing)		\
	place(edge) place(stall) place(kernel)

enum place {
#define FUZZ_PLACE_ENUM(name)	P_##name,
	FUZZ_PLACES(FUZZ_PLACE_ENUM)
	P_PLACES,
};

/* Flags of an operation. */
#define F_PERIOD	0x01
#define F_SLACK		0x02
#define F_BOOT		0x04	/* otherwise, unless REAL, by the parity of the key */
#define F_REAL		0x08
#define F_ALARM		0x10
#define F_ON_SET	0x20
#define F_SIZED		0x40	/* structures are longer than the kernel's */
#define F_COMPAT	0x80	/* as a 32-bit program does it */

/* Flags of BATCH; F_SIZED and F_COMPAT too. */
#define B_STOP		0x01
#define B_WAIT		0x02
#define B_EVENTS	0x04
#define B_ABSTIME	0x08	/* the wait ends at a time; with MASK it may be without a wait */
#define B_MASK		0x10	/* a signal mask */

/**
 * struct call - one call of a program
 * @kind: enum kind
 * @thread: 0 to THREADS - 1
 * @file: 0 to FILES - 1
 * @key: 0 to KEYS - 1: key, func, tag, or a choice among a few
 * @target: the call whose callout it means, or NO_TARGET
 * @when: enum when
 * @place: enum place, of the argument
 * @array: enum place, of what the argument points to
 * @flags: F_, B_, or flags of the kind
 * @n: room, or number; BATCH: how many of the thread's following calls; OLD, KSET,
 *	KOLD: no cookie if it is a multiple of 4
 * @poke: 0, or the word of the argument that gets another value, plus 1
 * @value: that value
 */
struct call {
	__u8 kind;
	__u8 thread;
	__u8 file;
	__u8 key;
	__u8 target;
	__u8 when;
	__u8 place;
	__u8 array;
	__u8 flags;
	__u8 n;
	__u8 poke;
	__u8 value;
};

/* A mark in the cookie of a SET, above its call and key. A cookie that was poked has no mark. */
#define COOKIE_MARK	(0xca11ULL << 16)

struct program {
	unsigned int n;
	struct call call[CALLS_MAX];
};

/* An event that a call has read. */
struct seen {
	__u64 handle;
	__u64 cookie;
	__u64 func;
	__u64 due;
	__u64 fired;
	__u32 flags;
	__s32 clockid;
};

/**
 * struct outcome - the result of a call, in memory that a forked child shares
 * @ret: what it returned, or the negative errno
 * @start: CLOCK_MONOTONIC before and @end after it
 * @handle: returned by SET and TIMEOUT
 * @target: the call whose handle it had, or NO_TARGET
 * @state: returned by ONE and KONE; LIST: READING if a callout was in this state
 * @command: returned by ONE and KONE: a command of io_uring has set the callout
 * @ran: the call was made, and has returned
 * @by: the call of BATCH or COMMAND that has done the operation, plus 1
 * @unknown: the result could not be written; COMMAND: nor was it waited for
 * @completions: the number of completions of a command
 * @completion: the result of the last completion
 * @wrong: what the call has done and no call may do, or NULL
 * @n: number of @seen
 * @seen: events that were read
 */
struct outcome {
	__s64 ret;
	__u64 start, end;
	atomic_ullong handle;
	__u8 target;
	__u8 state;
	__u8 by;
	__u8 n;
	bool command;
	bool unknown;
	atomic_bool ran;
	atomic_uint completions;
	atomic_int completion;
	const char *wrong;
	struct seen seen[EVENTS_MAX];
};

static inline bool kind_is_op(unsigned int kind)
{
	return kind <= K_LAST_OP;
}

static inline bool kind_is_keyed(unsigned int kind)
{
	return (kind >= K_KSET && kind <= K_KNEW) || kind == K_KONE;
}

/* Can a successful operation of this kind make a callout? */
static inline bool kind_makes(unsigned int kind)
{
	return kind == K_SET || kind == K_TIMEOUT || kind == K_KSET ||
	       kind == K_KNEW;
}

/* Does the operation keep everything of the callout but its time? */
static inline bool kind_moves(unsigned int kind)
{
	return kind == K_MOVE || kind == K_KMOVE;
}

/* May the operation change everything of a callout but its name? */
static inline bool kind_replaces(unsigned int kind)
{
	return kind == K_OLD || kind == K_KOLD || kind == K_KSET;
}

/* Does the operation set a callout, or set it again? */
static inline bool kind_sets(unsigned int kind)
{
	return kind_is_op(kind) && kind != K_CANCEL && kind != K_UNTIMEOUT &&
	       kind != K_KCANCEL;
}

/* Does the operation write a handle, or the time that was left? */
static inline bool kind_writes(unsigned int kind)
{
	return kind_sets(kind) && kind != K_KNEW;
}

static inline bool time_is_far(unsigned int when)
{
	return when <= T_LAST_FAR;
}

/* The open file description that a number means at the start. */
static inline unsigned int file_of(unsigned int file)
{
	return file == FILE_DUPLICATE ? 0 : file;
}

/* The file of a call. If another call does the operation, the file of that call. */
static inline unsigned int file_at(const struct program *p, const struct outcome *o,
				   unsigned int i)
{
	return file_of(p->call[o[i].by ? o[i].by - 1U : i].file);
}

/* Was an operation a command of io_uring? */
static inline bool op_is_command(const struct program *p, const struct outcome *o,
				 unsigned int i)
{
	return o[i].by && p->call[o[i].by - 1].kind == K_COMMAND;
}

/* Is the command a batch of one operation, and of a read? */
static inline bool command_is_batch(const struct call *c)
{
	return c->n % 8 == 7;
}

/* Does the callout have a cookie that the operation sets? A command has none. */
static inline bool op_has_cookie(const struct program *p, const struct outcome *o,
				 unsigned int i)
{
	if (kind_replaces(p->call[i].kind))
		return p->call[i].n % 4;
	return !op_is_command(p, o, i) || !kind_makes(p->call[i].kind);
}

/* Pseudo-random numbers from a seed: xorshift64*. */
static inline __u64 draw(__u64 *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dULL;
}

static inline unsigned int below(__u64 *seed, unsigned int n)
{
	return (draw(seed) >> 32) % n;
}

static inline bool chance(__u64 *seed, unsigned int one_in)
{
	return !below(seed, one_in);
}

/* program.c */
void program_random(struct program *p, __u64 *seed);
void program_mutate(struct program *p, const struct program *other, __u64 *seed);
size_t program_print(const struct program *p, char *text, size_t size);
bool program_parse(struct program *p, FILE *f);
bool program_is_concurrent(const struct program *p);
bool program_has(const struct program *p, unsigned int kind);
bool program_keeps_files(const struct program *p);
const char *kind_name(unsigned int kind);

/* fits.c */
bool model_fits(const struct program *p);

/* model.c */
const char *model_check(const struct program *p, const struct outcome *o,
			const __u64 outstanding[FILES], bool limited);

/* become.c */
bool write_file(const char *path, const char *text);
void become_nobody(bool namespace);
void become_other_time(void);
void take_cpu(unsigned int cpu);

/* cover.c */
bool cover_open(unsigned int threads);
void cover_begin(unsigned int thread);
void cover_call(void);
unsigned int cover_end(unsigned int kind);
void cover_share(void);
unsigned int cover_points(void);

struct worker;

/* op.c */
__u64 op_target(const struct call *c, struct outcome *o);
struct callout_op op_make(unsigned int i);
void op_done(unsigned int i, const struct callout_op *op, long ret);
const char *op_wrong(const struct callout_op *given, const struct callout_op *op,
		     long ret, bool in_batch);

/* call.c */
void call_run(struct worker *w, unsigned int i);

/* ring.c */
long ring_command(struct worker *w, unsigned int i);
long ring_call(struct worker *w, const struct call *c);
void ring_reap(void);
void ring_end(void);

/* around.c */
long around_call(struct worker *w, unsigned int i);

/* check.c */
bool file_info(unsigned int file, struct callout_info *info);
const char *check_commands(__u64 *left);
const char *check_run(const __u64 *left, bool limited);
void check_report(const char *why);

/* run.c */

/**
 * struct worker - a thread that runs calls
 * @number: the thread number of its calls
 * @tid: the thread id, for signals
 * @arena: its memory, see arena.h
 * @alias: an alias of the memory, which can always be written
 * @waits: the file whose event its call waits for, plus 1
 */
struct worker {
	unsigned int number;
	int tid;
	char *arena;
	char *alias;
	atomic_uint waits;
};

/**
 * struct limits - the module's parameters, shared by all processes
 * @lowered: bits of the processes whose program has lowered a parameter
 * @changes: how often a parameter was lowered or raised
 */
struct limits {
	atomic_uint lowered;
	atomic_uint changes;
};

/**
 * struct run - the program that this process runs
 * @fd: the files, -1 if closed
 * @kept: a duplicate of each file, for the checks
 * @epoll: an epoll set
 * @limits: the shared parameters
 * @process: number of this process
 * @judged: the model has judged the last program
 */
struct run {
	const struct program *program;
	struct outcome *outcome;
	atomic_int fd[FILES];
	int kept[FILES];
	int epoll;
	struct limits *limits;
	unsigned int process;
	bool judged;
};

extern struct run run;

__u64 now_of(clockid_t clock);
__u64 now(void);
bool run_init(void);
void limits_restore(struct limits *limits, unsigned int process);
const char *run_program(const struct program *p, unsigned int *points);
struct worker *run_worker(unsigned int number);

#endif /* _CALLOUT_FUZZ_H */
