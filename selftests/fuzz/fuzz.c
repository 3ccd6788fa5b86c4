// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz.c - a fuzzer of /dev/callout
 *
 *	fuzz [-s SEED] [-t SECONDS] [-p PROCESSES] [-c CORPUS] [-d] [-o]
 *	fuzz -r FILE [-n TIMES] [-t SECONDS] [-d]
 *	fuzz -m FILE [-n TIMES]
 *	fuzz -g NUMBER [-s SEED]
 *
 * Processes, some of them unprivileged, run programs. A program that reaches new
 * code of the module joins the corpus, and is changed and mixed with other
 * programs. -d disturbs: threads of a higher priority take the CPUs away,
 * processes are killed, and CPUs go offline. -r runs the programs of a file again
 * and again; -m tries to leave calls out of it, and ends with the calls that
 * are still needed. -o prints the corpus at the end. -g prints the program that
 * a seed generates, and runs nothing.
 *
 * Program n of process p follows from the seed, p, n and the corpus. Before a
 * program runs it is written, as text, to a page of memory that begins with the
 * text of magic(). The text survives in the machine's memory when the kernel
 * panics.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

#define PROCESSES_MAX	8
#define CORPUS_MAX	2048
#define DISTURBERS	2	/* CPUs that a thread takes away at times */

/* The last programs of each process. */
#define RECORDS		4
#define RECORD_HEAD	64

/* Repetitions of a program with threads. */
#define TIMES_MAX	6

enum { RAN, RUNS };

/* A separate page. */
struct record {
	char head[RECORD_HEAD];	/* magic, process, number, state, a line */
	char text[PAGE - RECORD_HEAD];
};

/* Shared by all processes. */
struct shared {
	struct record record[PROCESSES_MAX][RECORDS];
	struct limits limits;
	atomic_ullong number[PROCESSES_MAX];	/* of the next program */
	atomic_ullong programs;
	atomic_ullong runs;
	atomic_ullong calls;
	atomic_ullong judged;		/* runs that the model has judged */
	atomic_uint nr_corpus;
	atomic_bool ready[CORPUS_MAX];
	struct program corpus[CORPUS_MAX];
	atomic_bool reporting;
	atomic_uint reports;
};

static struct shared *shared;
static __u64 seed = 1;
static unsigned int seconds = 60, processes = 3, times = 1000;
static bool disturb, dump;
static pid_t pids[PROCESSES_MAX];
static unsigned int restarts[PROCESSES_MAX];
static pid_t disturbers[DISTURBERS];

/* Build the text at run time, so that it is nowhere else in memory, not even in this program. */
static void magic(char *text)
{
	static const unsigned char masked[] = {
		0x16, 0x14, 0x19, 0x19, 0x1a, 0x00, 0x01, 0x78,
		0x13, 0x00, 0x0f, 0x0f, 0x78, 0x07, 0x10, 0x16,
	};
	unsigned int i;

	for (i = 0; i < sizeof(masked); i++)
		text[i] = masked[i] ^ 0x55;
	text[i] = 0;
}

static void record_state(struct record *r, unsigned int process, __u64 number,
			 unsigned int state)
{
	char text[20];

	magic(text);
	snprintf(r->head, RECORD_HEAD, "%s process %u program %08llu %s\n", text,
		 process, number, state == RUNS ? "runs" : "ran");
}

static struct record *record_begin(unsigned int process, __u64 number,
				   const struct program *p)
{
	struct record *r = &shared->record[process][number % RECORDS];

	memset(r, 0, sizeof(*r));
	program_print(p, r->text, sizeof(r->text));
	record_state(r, process, number, RUNS);
	return r;
}

/* Report this program: its text, and what it has done. */
static void report(const char *why, const struct program *p)
{
	char text[PAGE];

	/* Only the first report counts. After it, all processes end. */
	if (atomic_exchange(&shared->reporting, true))
		return;
	check_report(why);
	program_print(p, text, sizeof(text));
	printf("fuzz: program:\n%sfuzz: end of program\n", text);
	fflush(stdout);
	shared->reports++;
}

/* Run a program once; false if something is wrong. */
static bool run_once(const struct program *p)
{
	unsigned int points;
	const char *why = run_program(p, &points);
	unsigned int i, n = shared->nr_corpus;

	shared->runs++;
	shared->calls += p->n;
	shared->judged += run.judged;
	if (why) {
		report(why, p);
		return false;
	}
	if (points && n < CORPUS_MAX) {
		i = atomic_fetch_add(&shared->nr_corpus, 1);
		if (i < CORPUS_MAX) {
			shared->corpus[i] = *p;
			shared->ready[i] = true;
		}
	}
	return true;
}

/* Each program has a separate seed. */
static __u64 mix(__u64 a, __u64 b, __u64 c)
{
	__u64 s = a * 0x9e3779b97f4a7c15ULL ^ (b + 1) * 0xbf58476d1ce4e5b9ULL ^
		  (c + 1) * 0x94d049bb133111ebULL;

	s |= 1;
	draw(&s);
	draw(&s);
	return s;
}

static const struct program *pick(__u64 *s)
{
	unsigned int n = shared->nr_corpus, i;

	if (n > CORPUS_MAX)
		n = CORPUS_MAX;
	if (!n)
		return NULL;
	i = below(s, n);
	return shared->ready[i] ? &shared->corpus[i] : NULL;
}

static void make_program(struct program *p, __u64 *s)
{
	const struct program *one = pick(s), *other = pick(s);

	if (!one || !other || chance(s, 2)) {
		program_random(p, s);
		return;
	}
	*p = *one;
	program_mutate(p, other, s);
}

/* The kind of this process. The kinds take turns. */
static void become(unsigned int process)
{
	unsigned int sort = (process + restarts[process]) % 4;

	cover_open(THREADS);
	if (sort == 1 || sort == 3)
		become_nobody(sort == 3);
	else if (sort == 2)
		become_other_time();
	run.limits = &shared->limits;
	run.process = process;
	if (!run_init()) {
		printf("fuzz: a process cannot be prepared: %s\n",
		       strerror(errno));
		exit(2);
	}
}

static void fuzz_process(unsigned int process)
{
	struct program p;
	struct record *r;
	unsigned int i, n;
	__u64 number, s;

	become(process);
	for (;;) {
		number = atomic_fetch_add(&shared->number[process], 1);
		s = mix(seed, process, number);
		make_program(&p, &s);
		n = program_is_concurrent(&p) ? 1 + below(&s, TIMES_MAX) : 1;
		r = record_begin(process, number, &p);
		for (i = 0; i < n; i++)
			if (!run_once(&p))
				exit(1);
		record_state(r, process, number, RAN);
		shared->programs++;
	}
}

/* lockdep turns itself off when it has reported. */
static bool lockdep_reported(void)
{
	FILE *f = fopen("/proc/lockdep_stats", "r");
	bool reported = false;
	char line[128];
	int on;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " debug_locks: %d", &on) == 1)
			reported = !on;
	if (f)
		fclose(f);
	return reported;
}

static void start_process(unsigned int process)
{
	pid_t parent = getpid();

	fflush(stdout);
	pids[process] = fork();
	if (pids[process])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(0);
	fuzz_process(process);
}

static void start_disturbers(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < DISTURBERS; cpu++) {
		disturbers[cpu] = fork();
		if (!disturbers[cpu])
			take_cpu(cpu);
	}
}

/* Once a second, kill a process, or take a CPU offline. */
static void disturb_once(unsigned int second, __u64 *s)
{
	static const char cpu3[] = "/sys/devices/system/cpu/cpu3/online";

	if (second % 10 == 7)
		kill(pids[below(s, processes)], SIGKILL);
	if (second % 20 == 14)
		write_file(cpu3, "0");
	else if (second % 20 == 16)
		write_file(cpu3, "1");
}

/* Wait until a report that has begun is complete. */
static bool wait_report(void)
{
	unsigned int i;

	for (i = 0; i < 30 && !shared->reports; i++)
		sleep(1);
	return false;
}

/*
 * Restart processes that were killed. Return false if a process has reported,
 * or ended by a signal that nobody has sent.
 */
static bool watch_processes(void)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < processes && pids[i] != pid; i++)
			;
		if (i == processes)
			continue;
		/* Another process may be about to report. */
		if (WIFEXITED(status))
			return wait_report();
		if (WTERMSIG(status) != SIGKILL) {
			printf("fuzz: REPORT: process %u ended with signal %d\n",
			       i, WTERMSIG(status));
			return false;
		}
		limits_restore(&shared->limits, i);
		restarts[i]++;
		start_process(i);
	}
	return !shared->reports;
}

static void print_line(unsigned int second)
{
	printf("# %u s: %llu programs, %llu runs, %llu calls, %u points, corpus %u\n",
	       second, shared->programs, shared->runs, shared->calls,
	       cover_points(), shared->nr_corpus);
	fflush(stdout);
}

static void print_corpus(void)
{
	unsigned int i;
	char text[PAGE];

	printf("fuzz: corpus:\n");
	for (i = 0; i < shared->nr_corpus && i < CORPUS_MAX; i++) {
		if (!shared->ready[i])
			continue;
		program_print(&shared->corpus[i], text, sizeof(text));
		fputs(text, stdout);
	}
	printf("fuzz: end of corpus\n");
}

static void read_corpus(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		return;
	while (shared->nr_corpus < CORPUS_MAX &&
	       program_parse(&shared->corpus[shared->nr_corpus], f)) {
		shared->ready[shared->nr_corpus] = true;
		shared->nr_corpus++;
	}
	fclose(f);
}

static int fuzz_all(void)
{
	__u64 s = mix(seed, 200, 0);
	unsigned int i, second;
	bool ok = true;

	printf("fuzz: seed %llu, %u seconds, %u processes, corpus %u\n", seed,
	       seconds, processes, shared->nr_corpus);
	if (disturb)
		start_disturbers();
	for (i = 0; i < processes; i++)
		start_process(i);
	for (second = 1; second <= seconds && ok; second++) {
		sleep(1);
		ok = watch_processes();
		if (lockdep_reported()) {
			printf("fuzz: REPORT: lockdep\n");
			ok = false;
		}
		if (disturb)
			disturb_once(second, &s);
		if (second % 10 == 0)
			print_line(second);
	}
	for (i = 0; i < processes; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; disturb && i < DISTURBERS; i++)
		kill(disturbers[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	for (i = 0; i < processes; i++)
		limits_restore(&shared->limits, i);
	print_line(second - 1);
	printf("fuzz: seed %llu: %llu programs, %llu runs, %llu judged, %llu calls, %u points\n",
	       seed, shared->programs, shared->runs, shared->judged,
	       shared->calls, cover_points());
	if (dump)
		print_corpus();
	if (ok && !shared->judged) {
		printf("fuzz: REPORT: no run was judged\n");
		ok = false;
	}
	return !ok;
}

/* Run the programs of a file again and again. */
static int replay(const char *path)
{
	struct program *p = calloc(64, sizeof(*p));
	FILE *f = fopen(path, "r");
	unsigned int n = 0, i, round;
	struct record *r;
	__u64 end;

	if (!f) {
		perror(path);
		return 2;
	}
	while (n < 64 && program_parse(&p[n], f))
		n++;
	fclose(f);
	if (disturb)
		start_disturbers();
	become(0);
	end = now() + seconds * NSEC;
	for (round = 0; round < times && now() < end; round++) {
		for (i = 0; i < n; i++) {
			r = record_begin(0, i, &p[i]);
			if (!run_once(&p[i]))
				return 1;
			record_state(r, 0, i, RAN);
		}
		if (lockdep_reported())
			return 1;
	}
	printf("fuzz: %u programs, %u rounds, no report\n", n, round);
	return 0;
}

/* Does a program that lacks calls still give a report? It may crash the machine. */
static bool still_reports(const struct program *p)
{
	struct record *r = record_begin(0, 0, p);
	bool reports = false;
	unsigned int i;
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		become(0);
		for (i = 0; i < times && !reports; i++)
			reports = !run_once(p);
		exit(reports);
	}
	waitpid(pid, &status, 0);
	record_state(r, 0, 0, RAN);
	shared->reporting = false;
	shared->reports = 0;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static void leave_out(struct program *p, unsigned int from, unsigned int n)
{
	unsigned int i;

	for (i = from; i + n < p->n; i++)
		p->call[i] = p->call[i + n];
	p->n -= n;
	for (i = 0; i < p->n; i++) {
		__u8 *target = &p->call[i].target;

		if (*target == NO_TARGET || *target < from)
			continue;
		*target = *target < from + n ? NO_TARGET : *target - n;
	}
}

/* Leave out halves, quarters, and so on down to single calls. */
static int minimise(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int from, n;
	struct program p, less;
	char text[PAGE];

	if (!f || !program_parse(&p, f)) {
		fprintf(stderr, "fuzz: no program in %s\n", path);
		return 2;
	}
	fclose(f);
	for (n = p.n / 2; n; n /= 2) {
		for (from = 0; from + n <= p.n && p.n > n;) {
			less = p;
			leave_out(&less, from, n);
			printf("# without %u calls from %u on\n", n, from);
			if (still_reports(&less))
				p = less;
			else
				from += n;
		}
	}
	program_print(&p, text, sizeof(text));
	printf("fuzz: smallest:\n%sfuzz: end of smallest\n", text);
	return 0;
}

static void show_usage(void)
{
	fprintf(stderr,
		"usage: fuzz [-s SEED] [-t SECONDS] [-p PROCESSES] [-c CORPUS]\n"
		"            [-d] [-o]\n"
		"       fuzz -r FILE [-n TIMES] [-t SECONDS] [-d]\n"
		"       fuzz -m FILE [-n TIMES]\n"
		"       fuzz -g NUMBER [-s SEED]\n");
	exit(2);
}

/* Print programs without running any. */
static int generate(unsigned int n)
{
	char text[PAGE];
	struct program p;
	unsigned int i;
	__u64 s;

	for (i = 0; i < n; i++) {
		s = mix(seed, 0, i);
		program_random(&p, &s);
		program_print(&p, text, sizeof(text));
		fputs(text, stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *again = NULL, *smaller = NULL;
	int option, made = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	cover_share();
	while ((option = getopt(argc, argv, "s:t:p:c:r:n:m:g:do")) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 't')
			seconds = atoi(optarg);
		else if (option == 'p')
			processes = atoi(optarg) % (PROCESSES_MAX + 1);
		else if (option == 'c')
			read_corpus(optarg);
		else if (option == 'r')
			again = optarg;
		else if (option == 'n')
			times = atoi(optarg);
		else if (option == 'm')
			smaller = optarg;
		else if (option == 'g')
			made = atoi(optarg);
		else if (option == 'd')
			disturb = true;
		else if (option == 'o')
			dump = true;
		else
			show_usage();
	}
	if (made)
		return generate(made);
	if (again)
		return replay(again);
	return smaller ? minimise(smaller) : fuzz_all();
}
