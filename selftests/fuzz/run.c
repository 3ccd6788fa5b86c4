// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - runs a program, and judges what it did
 *
 * Besides the model, which can judge some programs only, these hold for all:
 *
 *	no event is early, and none is read twice, or after its callout was cancelled
 *	what is cancelled is being read only while somebody reads
 *	a callout that is due fires
 *	a thread does not sleep while there is what it waits for
 *	a file's counters add up when no call is under way
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

/* What only a lost event exceeds. */
#define PATIENCE	(20 * NSEC)

#define ENTRIES		64

struct run run;

static struct worker workers[THREADS];
/* What a file has counted, of its fdinfo. */
struct counts {
	__u64 set, cancelled, withdrawn, delivered, outstanding, unread;
};

static struct counts at_end[FILES];	/* each file's when its calls had ended */
static int uffd = -1;
static bool stall_failed;

/*
 * A phase of a program: the threads of a mask run their calls. Its number and the
 * mask are one word: a thread that slept through a phase with other threads must
 * not see its number with the mask of the next one, and count itself twice.
 */
#define PHASE_MASK	((1U << THREADS) - 1)

static struct {
	atomic_uint word;	/* number << THREADS | mask */
	atomic_uint arrived;
	atomic_uint left;
	atomic_uint progress;	/* calls that have returned */
	atomic_uint points;	/* that are new */
} phase;

static long futex(atomic_uint *word, int op, unsigned int value,
		  const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout,
		       NULL, 0);
}

struct worker *run_worker(unsigned int number)
{
	return &workers[number];
}

static void run_calls(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < run.program->n; i++) {
		if (run.program->call[i].thread != w->number ||
		    run.outcome[i].ran)
			continue;
		cover_call();
		call_run(w, i);
		phase.points += cover_end(run.program->call[i].kind);
		phase.progress++;
	}
}

/* All begin at once, as far as that is possible. */
static void meet(unsigned int mask)
{
	unsigned int n = __builtin_popcount(mask), i;

	phase.arrived++;
	for (i = 0; i < 3000 && phase.arrived < n; i++)
		if (i % 500 == 499)
			sched_yield();
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int word = 0, last;

	w->tid = syscall(SYS_gettid);
	cover_begin(w->number);
	phase.left--;
	for (;;) {
		last = word;
		while ((word = phase.word) == last)
			futex(&phase.word, FUTEX_WAIT, last, NULL);
		if (!(word & 1U << w->number))
			continue;
		meet(word & PHASE_MASK);
		run_calls(w);
		if (!--phase.left)
			futex(&phase.left, FUTEX_WAKE, 1, NULL);
	}
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Addresses that a 32-bit program can have. */
static char *map_low(size_t size, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_32BIT |
		       (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED),
		       fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool make_arena(struct worker *w)
{
	size_t size = ARENA_PAGES * PAGE;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, size))
		return false;
	w->arena = map_low(size, fd);
	w->alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (!w->arena || w->alias == MAP_FAILED)
		return false;
	return !mprotect(w->arena + ARENA_READONLY * PAGE, PAGE, PROT_READ) &&
	       !mprotect(w->arena + ARENA_EDGE * PAGE, PAGE, PROT_NONE);
}

/* Without userfaultfd no copy stalls. */
static void make_stall(void)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	char *page = map_low(PAGE, -1);

	uffd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	if (!page || uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	    ioctl(uffd, UFFDIO_REGISTER, &reg))
		return;
	run.stall = page;
}

/* Prepares this process; false if it cannot run programs. */
bool run_init(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	unsigned int i;

	run.outcome = mmap(NULL, CALLS_MAX * sizeof(*run.outcome),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	run.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (run.outcome == MAP_FAILED || run.epoll < 0)
		return false;
	sigaction(SIGUSR1, &action, NULL);
	make_stall();
	phase.left = THREADS;
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		if (!make_arena(&workers[i]) ||
		    pthread_create(&thread, NULL, work, &workers[i]))
			return false;
	}
	while (phase.left)
		sched_yield();
	return true;
}

static bool has_kind(unsigned int kind)
{
	unsigned int i;

	for (i = 0; i < run.program->n; i++)
		if (run.program->call[i].kind == kind)
			return true;
	return false;
}

/* Do the numbers mean the files that they meant at the start? */
static bool files_stay(void)
{
	return !has_kind(K_OPEN) && !has_kind(K_CLOSE) && !has_kind(K_DUP) &&
	       !has_kind(K_PASS);
}

static bool file_info(unsigned int file, struct callout_info *info)
{
	memset(info, 0, sizeof(*info));
	return run.kept[file] >= 0 &&
	       !ioctl(run.kept[file], CALLOUT_IOC_INFO, info);
}

static bool file_counts(unsigned int file, struct counts *counts)
{
	const struct {
		const char *name;
		__u64 *value;
	} lines[] = {
		{ "set", &counts->set },
		{ "cancelled", &counts->cancelled },
		{ "withdrawn", &counts->withdrawn },
		{ "delivered", &counts->delivered },
		{ "outstanding", &counts->outstanding },
		{ "unread", &counts->unread },
	};
	unsigned int found = 0, i;
	unsigned long long value;
	char line[64], name[32];
	FILE *f;

	memset(counts, 0, sizeof(*counts));
	if (run.kept[file] < 0)
		return false;
	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", run.kept[file]);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31[a-z]: %llu", name, &value) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(lines); i++) {
			if (strcmp(name, lines[i].name))
				continue;
			*lines[i].value = value;
			found++;
		}
	}
	if (f)
		fclose(f);
	return found == ARRAY_SIZE(lines);
}

/* A copy that stalls succeeds, or fails. */
static void end_stall(void)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)run.stall, .len = PAGE },
	};
	struct pollfd p = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (!run.stall || poll(&p, 1, 0) <= 0 ||
	    read(uffd, &msg, sizeof(msg)) < 0)
		return;
	if (run.program->n & 1) {
		ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
		return;
	}
	stall_failed = true;
	mprotect(run.stall, PAGE, PROT_NONE);
	ioctl(uffd, UFFDIO_WAKE, &zero.range);
}

static void renew_stall(void)
{
	if (stall_failed)
		mprotect(run.stall, PAGE, PROT_READ | PROT_WRITE);
	stall_failed = false;
	madvise(run.stall, PAGE, MADV_DONTNEED);
}

/*
 * No call has returned for a while: threads wait for what may not come. Does one
 * of them sleep although it need not? Otherwise they are interrupted.
 */
static bool interrupt_waiters(unsigned int mask)
{
	struct callout_info info;
	bool needless = false;
	unsigned int i, waits;

	for (i = 0; i < THREADS; i++) {
		if (!(mask & 1U << i))
			continue;
		waits = workers[i].waits;
		if (waits && files_stay() && file_info(waits - 1, &info) &&
		    info.unread) {
			needless = true;
			continue;
		}
		syscall(SYS_tgkill, getpid(), workers[i].tid, SIGUSR1);
	}
	return needless;
}

/* Runs the calls of some threads; returns what is wrong, or NULL. */
static const char *run_phase(unsigned int mask)
{
	static const struct timespec moment = { .tv_nsec = MSEC / 2 };
	unsigned int left, progress = 0;
	__u64 since = now();

	phase.arrived = 0;
	phase.left = __builtin_popcount(mask);
	phase.word = ((phase.word >> THREADS) + 1) << THREADS | mask;
	futex(&phase.word, FUTEX_WAKE, INT32_MAX, NULL);
	while ((left = phase.left)) {
		futex(&phase.left, FUTEX_WAIT, left, &moment);
		end_stall();
		if (phase.progress != progress) {
			progress = phase.progress;
			since = now();
			continue;
		}
		if (!interrupt_waiters(mask) && now() - since < 3 * PATIENCE)
			continue;
		if (now() - since > PATIENCE)
			return "a thread sleeps, and need not";
	}
	return NULL;
}

/* The files that the calls use, as bits. */
static unsigned int files_used(void)
{
	const struct call *c = run.program->call;
	unsigned int used = 0, i;

	for (i = 0; i < run.program->n; i++, c++) {
		used |= 1U << c->file;
		if (c->kind == K_DUP)
			used |= 1U << c->key;
	}
	return used & 1U << FILE_DUPLICATE ? used | 1 : used;
}

static bool open_files(void)
{
	unsigned int used = files_used(), i;
	int fd;

	for (i = 0; i < FILES; i++) {
		fd = -1;
		if (i == FILE_DUPLICATE && used & 1U << i)
			fd = fcntl(run.fd[0], F_DUPFD_CLOEXEC, 0);
		else if (used & 1U << i)
			fd = open("/dev/callout", O_RDWR | O_CLOEXEC |
				  (i == FILE_BLOCKING ? 0 : O_NONBLOCK));
		run.fd[i] = fd;
		run.kept[i] = fd < 0 || i == FILE_DUPLICATE ? -1 :
			      fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (used & 1U << i && fd < 0)
			return false;
	}
	return true;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_files(void)
{
	unsigned int i;

	for (i = 0; i < FILES; i++) {
		close_fd(run.fd[i]);
		close_fd(run.kept[i]);
	}
}

static __u64 clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* The call that has set the callout of an event, if that fires once; or NULL. */
static const struct call *call_of(const struct seen *e)
{
	unsigned int i = (e->cookie & 0xff) - 1;

	if (e->flags & CALLOUT_EVENTF_PERIODIC || e->func ||
	    (e->cookie & ~0xffffULL) != COOKIE_MARK || i >= run.program->n ||
	    !kind_is_op(run.program->call[i].kind))
		return NULL;
	return &run.program->call[i];
}

static const char *check_event(const struct seen *e, unsigned char *reads)
{
	const struct call *c = call_of(e);
	unsigned int i;

	if ((e->clockid == CLOCK_MONOTONIC || e->clockid == CLOCK_BOOTTIME) &&
	    e->due > clock_now(e->clockid))
		return "an event is early";
	if (e->clockid == CLOCK_MONOTONIC && e->fired < e->due)
		return "an event has fired before it was due";
	if (e->fired > now())
		return "an event has fired in the future";
	if (!c || c->poke)
		return NULL;
	i = c - run.program->call;
	if (reads[i]++)
		return "an event was read twice";
	return NULL;
}

static bool any_periodic(void)
{
	const struct call *c = run.program->call;
	unsigned int i;

	for (i = 0; i < run.program->n; i++, c++)
		if (kind_is_op(c->kind) && (c->poke || c->flags & F_PERIOD))
			return true;
	return false;
}

/* Did another thread perhaps read events while the call was made? */
static bool met_reader(unsigned int i)
{
	const struct call *c = run.program->call;
	const struct outcome *o = run.outcome;
	unsigned int j;

	for (j = 0; j < run.program->n; j++)
		if (c[j].thread != c[i].thread && o[j].start < o[i].end &&
		    o[j].end > o[i].start &&
		    (c[j].kind == K_READ ||
		     (c[j].kind == K_BATCH &&
		      (c[j].poke || c[j].flags & (B_EVENTS | B_WAIT)))))
			return true;
	return false;
}

/* The call whose callout an operation has cancelled for good, or NO_TARGET. */
static unsigned int cancels(unsigned int i)
{
	const struct call *c = &run.program->call[i];
	const struct outcome *o = &run.outcome[i];

	if (c->kind != K_CANCEL || c->poke || o->unknown || o->ret <= 0)
		return NO_TARGET;
	return o->target;
}

/* The file that a call was made on: for an operation of a batch, the batch's. */
static unsigned int file_at(unsigned int i)
{
	if (run.outcome[i].in_batch)
		i = run.outcome[i].in_batch - 1;
	return file_of(run.program->call[i].file);
}

/* Has a call read an event of the callout that call @set has set? */
static bool has_read(const struct outcome *o, unsigned int set)
{
	unsigned int i;

	for (i = 0; i < o->n; i++)
		if (!(o->seen[i].flags & CALLOUT_EVENTF_KEY) &&
		    o->seen[i].handle == run.outcome[set].handle)
			return true;
	return false;
}

/* Is there an event that was read later of a callout that call @i has cancelled? */
static bool read_after(unsigned int i)
{
	unsigned int target = cancels(i), j;
	const struct outcome *o = run.outcome;

	for (j = 0; target != NO_TARGET && j < run.program->n; j++)
		if (o[j].start > o[i].end && file_at(j) == file_at(i) &&
		    has_read(&o[j], target))
			return true;
	return false;
}

/* In a program whose calls are all made once, and whose events are read by them. */
static const char *check_cancels(void)
{
	bool periodic = any_periodic();
	unsigned int i;

	if (has_kind(K_FORK) || has_kind(K_COMMAND) || has_kind(K_RING_READ))
		return NULL;
	for (i = 0; i < run.program->n; i++) {
		if (!kind_is_op(run.program->call[i].kind))
			continue;
		if (run.outcome[i].ret == CALLOUT_STATE_READING &&
		    (!periodic || !met_reader(i)))
			return "a callout is being read, and there is no reader";
		if (read_after(i))
			return "an event was read after its callout was cancelled";
	}
	return NULL;
}

/* May a batch have done operations of an earlier one, which are beyond its own? */
static bool poked_batch(void)
{
	unsigned int i;

	for (i = 0; i < run.program->n; i++)
		if (run.program->call[i].kind == K_BATCH &&
		    run.program->call[i].poke)
			return true;
	return false;
}

static const char *check_events(void)
{
	unsigned char reads[CALLS_MAX] = { 0 };
	const char *why = NULL;
	unsigned int i, j;

	for (i = 0; i < run.program->n; i++)
		if (run.outcome[i].beyond)
			return "more events were read than there was memory for";
	if (has_kind(K_NUMBER) || has_kind(K_SETTIME) || has_kind(K_PAGE) ||
	    !files_stay() || poked_batch())
		return NULL;
	for (i = 0; i < run.program->n && !why; i++)
		for (j = 0; j < run.outcome[i].n && !why; j++)
			why = check_event(&run.outcome[i].seen[j], reads);
	return why ? why : check_cancels();
}

/* Is a callout pending that is due? */
static bool is_due(unsigned int file)
{
	static struct callout_entry entries[ENTRIES];
	struct callout_list list = {
		.entries = (uintptr_t)entries,
		.nr_entries = ENTRIES,
		.entry_size = sizeof(entries[0]),
	};
	unsigned int i;

	if (ioctl(run.kept[file], CALLOUT_IOC_LIST, &list))
		return false;
	for (i = 0; i < list.got; i++)
		if (entries[i].state == CALLOUT_STATE_PENDING &&
		    !entries[i].left && !entries[i].slack)
			return true;
	return false;
}

static bool adds_up(const struct counts *i)
{
	return i->set == i->cancelled + i->withdrawn + i->delivered +
			 i->outstanding && i->unread <= i->outstanding;
}

static void pause_ms(void)
{
	static const struct timespec ms = { .tv_nsec = MSEC };

	nanosleep(&ms, NULL);
}

static const char *check_file(unsigned int file, __u64 *outstanding)
{
	__u64 limit = now() + PATIENCE;
	struct counts counts;

	/* What has to do with a ring that was closed ends some time later. */
	while (!file_counts(file, &counts) || !adds_up(&counts)) {
		if (now() > limit)
			return "the counters of a file do not add up";
		pause_ms();
	}
	*outstanding = counts.outstanding;
	at_end[file] = counts;
	if (counts.outstanding == counts.unread)
		return NULL;
	limit = now() + PATIENCE;
	while (is_due(file)) {
		if (now() > limit)
			return "a callout that is due does not fire";
		pause_ms();
	}
	return NULL;
}

/* CANCEL_MATCHING leaves nothing. */
static const char *check_match(unsigned int file)
{
	__u64 limit = now() + PATIENCE;
	struct callout_match all = { 0 };
	struct counts counts;

	do {
		if (now() > limit)
			return "CANCEL_MATCHING leaves callouts behind";
		ioctl(run.kept[file], CALLOUT_IOC_CANCEL_MATCHING, &all);
	} while (!file_counts(file, &counts) || counts.outstanding);
	/* They are no snapshot: a command may fire while they are read. */
	while (!adds_up(&counts)) {
		if (now() > limit)
			return "CANCEL_MATCHING counts wrongly";
		pause_ms();
		file_counts(file, &counts);
	}
	return NULL;
}

static const char *check_run(bool limited)
{
	__u64 outstanding[FILES] = { 0 };
	const char *why = check_events();
	unsigned int i;

	for (i = 0; i < FILES && !why; i++)
		if (run.kept[i] >= 0)
			why = check_file(i, &outstanding[i]);
	if (!why && model_fits(run.program))
		why = model_check(run.program, run.outcome, outstanding,
				  limited);
	/* Else callouts are pending when their file is closed. */
	for (i = 0; i < FILES && !why && run.program->n & 2; i++)
		if (run.kept[i] >= 0)
			why = check_match(i);
	return why;
}

/*
 * Runs a program. Returns what is wrong, or NULL; and how many points of the
 * kernel were reached that none had reached before.
 */
const char *run_program(const struct program *p, unsigned int *points)
{
	unsigned int mask = 0, changes = run.limits->changes, i;
	bool limited = run.limits->lowered;
	const char *why = NULL;

	run.program = p;
	memset(run.outcome, 0, CALLS_MAX * sizeof(*run.outcome));
	memset(at_end, 0, sizeof(at_end));
	phase.points = 0;
	if (open_files()) {
		for (i = 0; i < p->n; i++)
			mask |= 1U << p->call[i].thread;
		if (mask & 1)
			why = run_phase(1);
		if (!why && mask & ~1U)
			why = run_phase(mask & ~1U);
		ring_end();
		if (!why)
			why = check_run(limited ||
					run.limits->changes != changes);
	}
	close_files();
	limits_restore(run.limits, run.process);
	if (run.stall)
		renew_stall();
	*points = phase.points;
	return why;
}

/* Prints what the calls of the program have returned. */
void run_report(const char *why)
{
	const struct outcome *o = run.outcome;
	__u64 first = ~0ULL;
	unsigned int i;

	printf("fuzz: REPORT: %s\n", why);
	for (i = 0; i < run.program->n; i++)
		if (o[i].ran && o[i].start < first)
			first = o[i].start;
	for (i = 0; i < run.program->n; i++) {
		printf("# call %u, thread %u, %s: ", i,
		       run.program->call[i].thread,
		       kind_name(run.program->call[i].kind));
		if (!o[i].ran) {
			printf("not done\n");
			continue;
		}
		printf("%lld%s, from %llu to %llu us, target %d, %u events\n",
		       o[i].ret, o[i].unknown ? " (unknown)" : "",
		       (o[i].start - first) / 1000, (o[i].end - first) / 1000,
		       o[i].target == NO_TARGET ? -1 : o[i].target, o[i].n);
	}
	for (i = 0; i < FILES; i++)
		printf("file %u: set %llu, cancelled %llu, withdrawn %llu, read %llu, left %llu\n",
		       i, at_end[i].set, at_end[i].cancelled,
		       at_end[i].withdrawn, at_end[i].delivered,
		       at_end[i].outstanding);
}
