// SPDX-License-Identifier: GPL-2.0
/*
 * scheme_harness.c - runs each scheme beside the reference model, in user space
 *
 * The files of module/schemes/ and the cases of kunit/conform.c are compiled
 * into this program as they are, under the address and undefined behaviour
 * sanitizers. Each case of each scheme and variant runs in a process of its
 * own, so one that crashes or never ends fails alone. The output is TAP.
 *
 * Compiled under the thread sanitizer instead, it is scheme_race: for the one
 * case in which several threads use a scheme, reserve_beside.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "conform.h"

/* Whichever case takes this many seconds never ends. */
#define PATIENCE	300U

static unsigned int allocations_left = UINT_MAX;

void *harness_alloc(size_t size, bool zero)
{
	if (!allocations_left)
		return NULL;
	if (allocations_left != UINT_MAX)
		allocations_left--;
	return zero ? calloc(1, size) : malloc(size);
}

void harness_free(const void *p)
{
	free((void *)p);
}

void callout_env_fail(void *env, const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

#define MAX_KEPT	1000U
static struct callout_model *kept[MAX_KEPT];
static unsigned int nr_kept;

void callout_env_keep(void *env, struct callout_model *m)
{
	callout_env_assert(env, nr_kept < MAX_KEPT, "too many models");
	kept[nr_kept++] = m;
}

static void free_kept(void)
{
	while (nr_kept)
		callout_model_free(kept[--nr_kept]);
}

/*
 * No memory, at each place where it is asked for: create gives it all back and
 * says -ENOMEM, and after a reserve that failed everything still works.
 */
static void no_memory(struct callout_conform *t)
{
	struct callout_scheme_params p = {
		.variant = t->variant,
		.buckets = 256,
		.node = NUMA_NO_NODE,
	};
	struct callout_scheme *s;
	struct callout_model *m;
	unsigned int n;
	int ret;

	for (n = 0; ; n++) {
		allocations_left = n;
		s = t->ops->create(&p);
		allocations_left = UINT_MAX;
		if (!IS_ERR(s))
			break;
		callout_env_assert(t->env, PTR_ERR(s) == -ENOMEM, "%ld",
				   PTR_ERR(s));
	}
	callout_env_assert(t->env, n, "create asks for no memory");
	t->ops->destroy(s);
	m = callout_model_new(t->env, t->ops, &p, 200);
	for (n = 0; t->ops->reserve; n++) {
		allocations_left = n;
		ret = t->ops->reserve(m->s, 1000);
		allocations_left = UINT_MAX;
		if (!ret)
			break;
		callout_env_assert(t->env, ret == -ENOMEM, "%d", ret);
		callout_conform_random_ops(m, &t->rng, 64, 1024, 2000);
	}
	/* Nothing but create and reserve may ask for any. */
	allocations_left = 0;
	callout_conform_random_ops(m, &t->rng, 64, 1024, 2000);
	allocations_left = UINT_MAX;
}

/* How often, and for how many, the other thread makes room. */
#define RACE_RESERVES	2000U
#define RACE_ROOM	50U

static void *reserve_again(void *arg)
{
	struct callout_model *m = arg;
	unsigned int i;

	for (i = 0; i < RACE_RESERVES; i++)
		callout_env_assert(m->env,
				   !m->s->ops->reserve(m->s, RACE_ROOM),
				   "no room for %u", RACE_ROOM);
	return NULL;
}

/* reserve takes no lock, and nobody waits for it. */
static void reserve_beside(struct callout_conform *t)
{
	struct callout_scheme_params p = {
		.variant = t->variant,
		.buckets = 256,
		.node = NUMA_NO_NODE,
	};
	struct callout_model *m;
	pthread_t thread[2];
	unsigned int i;

	m = callout_model_new(t->env, t->ops, &p, 2000);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		callout_env_assert(t->env,
				   !pthread_create(&thread[i], NULL,
						   reserve_again, m),
				   "no thread");
	callout_conform_random_ops(m, &t->rng, 64, 1024, 50000);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	callout_conform_random_ops(m, &t->rng, 64, 1024, 50000);
}

struct harness_case {
	const char *name;
	void (*run)(struct callout_conform *t);
};

static const struct harness_case cases[] = {
	{ "random", callout_conform_random },
	{ "gaps", callout_conform_gaps },
	{ "farthest", callout_conform_farthest },
	{ "many", callout_conform_many },
	{ "refuses", callout_conform_refuses },
	{ "no_memory", no_memory },
	{ "reserve_beside", reserve_beside },
};

#ifdef __SANITIZE_THREAD__
/* What READ_ONCE() and WRITE_ONCE() come to: no race, as in the kernel. */
#define VOLATILE_ACCESS(n)						\
void __tsan_volatile_read##n(void *p) { }				\
void __tsan_volatile_write##n(void *p) { }

VOLATILE_ACCESS(1)
VOLATILE_ACCESS(2)
VOLATILE_ACCESS(4)
VOLATILE_ACCESS(8)
#endif

static unsigned int tests, failures;

static void run_in_child(const struct harness_case *c,
			 struct callout_conform t, unsigned long long seed,
			 unsigned int seconds)
{
	time_t end = time(NULL) + seconds;

	alarm(seconds + PATIENCE);
	for (;;) {
		printf("# %s seed=%llu\n", c->name, seed);
		fflush(stdout);
		prandom_seed_state(&t.rng, seed++);
		c->run(&t);
		free_kept();
		if (t.reach)
			printf("# reaches 2^%u ticks in a jump\n",
			       ilog2(t.reach));
		if (time(NULL) >= end)
			break;
	}
	exit(0);
}

static void run_case(const struct harness_case *c,
		     const struct callout_conform *t, unsigned long long seed,
		     unsigned int seconds)
{
	const char *variant = callout_conform_variant(t->ops, t->variant);
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		run_in_child(c, *t, seed, seconds);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("scheme_harness");
		exit(1);
	}
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	failures += !!status;
	printf("%sok %u %s%s%s %s\n", status ? "not " : "", ++tests,
	       t->ops->name, *variant ? ":" : "", variant, c->name);
}

static bool wanted(const char *filter, const struct callout_scheme_ops *ops,
		   unsigned int variant)
{
	size_t n = strlen(ops->name);

	if (!filter)
		return true;
	if (strncmp(filter, ops->name, n))
		return false;
	return !filter[n] ||
	       (filter[n] == ':' &&
		!strcmp(filter + n + 1, callout_conform_variant(ops, variant)));
}

static void help_and_exit(void)
{
	fprintf(stderr,
		"usage: scheme_harness [-s SEED] [-n OPERATIONS] [-t SECONDS] [-S SCHEME[:VARIANT]] [-c CASE]\n"
		"  -s  where the random numbers begin; another one each time if not given\n"
		"  -n  random operations of a case, and a tenth of it callouts at once, of lists a hundredth (1000000)\n"
		"  -t  repeats each case with the next seed for so long\n"
		"  -S  this scheme only\n"
		"  -c  this case only\n");
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long long seed = (time(NULL) ^ getpid()) & 0xffffffff;
	const char *scheme = NULL, *name = NULL;
	struct callout_conform t = { .nr_ops = 1000000 };
	const struct callout_scheme_ops *const *ops;
	unsigned int seconds = 0, i;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:t:S:c:")) != -1) {
		switch (opt) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			t.nr_ops = strtoul(optarg, NULL, 0);
			break;
		case 't':
			seconds = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			scheme = optarg;
			break;
		case 'c':
			name = optarg;
			break;
		default:
			help_and_exit();
		}
	}
	if (optind < argc || t.nr_ops < 1000)
		help_and_exit();
	t.nr_many = t.nr_ops / 10;
	t.nr_many_lists = t.nr_ops / 100;
	printf("TAP version 13\n# seed=%llu\n", seed);
	for (ops = callout_schemes; *ops; ops++) {
		t.ops = *ops;
		for (t.variant = 0; t.variant < callout_conform_variants(*ops);
		     t.variant++) {
			if (!wanted(scheme, *ops, t.variant))
				continue;
			for (i = 0; i < ARRAY_SIZE(cases); i++) {
				if (name && strcmp(name, cases[i].name))
					continue;
				if (cases[i].run == reserve_beside &&
				    !(*ops)->reserve)
					continue;
				run_case(&cases[i], &t, seed, seconds);
			}
		}
	}
	printf("1..%u\n", tests);
	if (!tests)
		fprintf(stderr, "scheme_harness: no such scheme, variant or case\n");
	return failures || !tests;
}
