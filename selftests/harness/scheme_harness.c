// SPDX-License-Identifier: GPL-2.0
/*
 * scheme_harness.c - runs each scheme against the reference model
 *
 * This program contains the unmodified files of module/wheel/ and module/lab/, and the cases
 * of kunit/lib/conform.c, compiled with the address and undefined behaviour
 * sanitizers. Each case of each scheme and variant runs in its own process, so
 * a crash or a hang fails that case only. The output is TAP.
 *
 * Compiled with the thread sanitizer it is scheme_race, for reserve_beside, the
 * only case in which several threads use a scheme.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "lib/conform.h"
#include "lib/random_ops.h"
#include "wheel/hashed_wheel.h"

/* A case that takes this many seconds hangs. */
static unsigned int patience = 300;

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
 * create returns -ENOMEM and leaks no memory, whichever allocation fails. After
 * a reserve that failed the scheme still works. No other function allocates.
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
		harness_allocations_left = n;
		s = t->ops->create(&p);
		harness_allocations_left = UINT_MAX;
		if (!IS_ERR(s))
			break;
		callout_env_assert(t->env, PTR_ERR(s) == -ENOMEM, "%ld",
				   PTR_ERR(s));
	}
	callout_env_assert(t->env, n, "create asks for no memory");
	t->ops->destroy(s);
	m = callout_model_new(t->env, t->ops, &p, 200);
	for (n = 0; t->ops == &callout_hashed_wheel; n++) {
		struct callout_ring ring;

		harness_allocations_left = n;
		ret = co_ring_alloc(&ring, 256, NUMA_NO_NODE, GFP_KERNEL);
		harness_allocations_left = UINT_MAX;
		if (!ret) {
			co_ring_free(&ring);
			break;
		}
		callout_env_assert(t->env, ret == -ENOMEM, "%d", ret);
	}
	for (n = 0; t->ops->reserve; n++) {
		harness_allocations_left = n;
		ret = t->ops->reserve(m->s, 1000);
		harness_allocations_left = UINT_MAX;
		if (!ret)
			break;
		callout_env_assert(t->env, ret == -ENOMEM, "%d", ret);
		callout_model_random_ops(m, &t->rng, 64, 1024, 2000);
	}
	harness_allocations_left = 0;
	callout_model_random_ops(m, &t->rng, 64, 1024, 2000);
	harness_allocations_left = UINT_MAX;
}

/* Calls of reserve by each of the other threads, and callouts of each call. */
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

/* reserve needs no lock, and runs concurrently with all other functions. */
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
	callout_model_random_ops(m, &t->rng, 64, 1024, 50000);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	callout_model_random_ops(m, &t->rng, 64, 1024, 50000);
}

struct harness_case {
	const char *name;
	void (*run)(struct callout_conform *t);
};

static const struct harness_case cases[] = {
	{ "random", callout_conform_random },
	{ "gaps", callout_conform_gaps },
	{ "farthest", callout_conform_farthest },
	{ "earlier", callout_conform_earlier },
	{ "many", callout_conform_many },
	{ "refuses", callout_conform_refuses },
	{ "no_memory", no_memory },
	{ "reserve_beside", reserve_beside },
};

#ifdef __SANITIZE_THREAD__
/* READ_ONCE() and WRITE_ONCE() are no data race, as in the kernel. */
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

	alarm(seconds + patience);
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
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("# timed out after %u s\n", seconds + patience);
	else if (WIFSIGNALED(status))
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
		"usage: scheme_harness [-s SEED] [-n OPERATIONS] [-t SECONDS] [-p SECONDS] [-S SCHEME[:VARIANT]] [-c CASE] [-f]\n"
		"  -s  seed of the random numbers (default: a new one each time)\n"
		"  -n  random operations of a case (1000000); callouts at once: a tenth, or a hundredth if CALLOUT_LINEAR\n"
		"  -t  repeat each case with the next seed for this time\n"
		"  -p  end a case that takes longer than this (300) and the time of -t\n"
		"  -S  run this scheme only\n"
		"  -c  run this case only\n"
		"  -f  end at the first case that fails\n");
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long long seed = (time(NULL) ^ getpid()) & 0xffffffff;
	const char *scheme = NULL, *name = NULL;
	struct callout_conform t = { .nr_ops = 1000000 };
	const struct callout_scheme_ops *const *ops;
	unsigned int seconds = 0, i;
	bool first = false;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:t:p:S:c:f")) != -1) {
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
		case 'p':
			patience = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			scheme = optarg;
			break;
		case 'c':
			name = optarg;
			break;
		case 'f':
			first = true;
			break;
		default:
			help_and_exit();
		}
	}
	if (optind < argc || t.nr_ops < 1000)
		help_and_exit();
	t.nr_many = t.nr_ops / 10;
	t.nr_many_linear = t.nr_ops / 100;
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
				if (first && failures)
					return 1;
			}
		}
	}
	printf("1..%u\n", tests);
	if (!tests)
		fprintf(stderr, "scheme_harness: no such scheme, variant or case\n");
	return failures || !tests;
}
