// SPDX-License-Identifier: GPL-2.0
/*
 * fig9.c - the load of figure 9: set and cancel one callout among n others
 *
 * Varghese and Lauck, section VII.A: a process has n callouts set for random
 * times far in the future, and then sets and cancels one more again and again,
 * each time for a random time farther than all others. In their figure the time
 * for this pair grew with n in the old BSD facility and not in the new
 * facility, whether the callout was found by its handle or by (func, arg).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "calloutctl.h"

#define POINTS		11	/* n = 0, 100, ... 1000 */
#define STEP		100
/*
 * Each round measures a block of iterations at every point: a machine that
 * changes its speed during the run does so for all points, and the median of a
 * point's blocks ignores interruptions.
 */
#define ROUNDS		20
#define BLOCK_SIZE	500

#define HOUR		(3600 * CALLOUT_NSEC_PER_SEC)
/* Times of the n other callouts, and of the measured callout. */
#define NEAR_MIN	(1 * HOUR)
#define NEAR_MAX	(2 * HOUR)
#define FAR_MIN		(3 * HOUR)
#define FAR_MAX		(4 * HOUR)

#define FUNC		0xf9U
#define ARG_FAR		0xffffffffU

/* A ratio above this means that the curve is not flat. */
#define FLAT		1.5

/* The curves that a run measures come first. */
enum { HANDLE, HASH, MEASURED, EARLIER = MEASURED, CURVES };

#define CHART_ROWS	16
#define CHART_STEP	6	/* columns from one point to the next */
#define CHART_COLUMNS	((POINTS - 1) * CHART_STEP + 1)

struct curve {
	const char *name;
	const char *calls;
	char mark;
	bool hashed;
	double block[POINTS][ROUNDS];
	double ns[POINTS];
};

static __u64 random_between(__u64 *rng, __u64 min, __u64 max)
{
	return min + callout_random(rng) % (max - min);
}

static struct callout_op set_op(const struct curve *c, __u64 arg, __u64 time)
{
	return c->hashed ? callout_op_timeout(FUNC, arg, time) :
			   callout_op_set(time, arg);
}

static int set_others(const struct curve *c, int fd, unsigned int n, __u64 *rng)
{
	struct callout_op op;
	unsigned int i;
	__u64 time;
	int ret;

	for (i = 0; i < n; i++) {
		time = random_between(rng, NEAR_MIN, NEAR_MAX);
		op = set_op(c, i, time);
		ret = callout_dev_do(fd, &op);
		if (ret)
			return callout_failed(ret, "fig9: set");
	}
	return 0;
}

/* Return 0, or the result of the operation that failed. */
static int one_pair(const struct curve *c, int fd, __u64 time)
{
	struct callout_op op = set_op(c, ARG_FAR, time);
	int ret = callout_dev_do(fd, &op);

	if (ret)
		return ret;
	op = c->hashed ? callout_op_untimeout(FUNC, ARG_FAR, 0) :
			 callout_op_cancel(op.handle);
	ret = callout_dev_do(fd, &op);
	return ret == CALLOUT_STATE_PENDING ? 0 : ret ?: -EIO;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int measure(const struct curve *c, int fd, __u64 *rng, double *ns)
{
	__u64 begin = callout_ns();
	unsigned int i;
	int ret;

	for (i = 0; i < BLOCK_SIZE; i++) {
		ret = one_pair(c, fd, random_between(rng, FAR_MIN, FAR_MAX));
		if (ret)
			return callout_failed(ret, c->calls);
	}
	*ns = (double)(callout_ns() - begin) / BLOCK_SIZE;
	return 0;
}

/* A separate file, so that no other point's callouts are outstanding. */
static int measure_point(const struct curve *c, unsigned int point, __u64 *rng,
			 double *ns)
{
	int fd, ret;

	fd = callout_open_or_complain(0);
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = set_others(c, fd, point * STEP, rng);
	if (!ret)
		ret = measure(c, fd, rng, ns);
	close(fd);
	return ret;
}

static int measure_round(struct curve *curves, unsigned int n,
			 unsigned int round, __u64 *rng)
{
	unsigned int i, j;
	int ret;

	for (j = 0; j < POINTS; j++) {
		for (i = 0; i < n; i++) {
			ret = measure_point(&curves[i], j, rng,
					    &curves[i].block[j][round]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static double median(double *ns)
{
	qsort(ns, ROUNDS, sizeof(ns[0]), by_value);
	return (ns[(ROUNDS - 1) / 2] + ns[ROUNDS / 2]) / 2;
}

/* Return 1, 2 or 5 times a power of ten; at most ten steps reach @max. */
static double nice_step(double max)
{
	static const double steps[] = { 2, 2.5, 2 };
	double step = 1;
	unsigned int i;

	for (i = 0; step * 10 < max; i++)
		step *= steps[i % 3];
	return step;
}

static void plot(char chart[CHART_ROWS + 1][CHART_COLUMNS + 1],
		 const struct curve *c, double top)
{
	unsigned int i, row;
	char *cell;

	for (i = 0; i < POINTS; i++) {
		row = c->ns[i] / top * CHART_ROWS + 0.5;
		cell = &chart[row][i * CHART_STEP];
		*cell = *cell == ' ' ? c->mark : '&';
	}
}

static void draw(const struct curve *curves, unsigned int n)
{
	char chart[CHART_ROWS + 1][CHART_COLUMNS + 1];
	double top = 0;
	unsigned int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < POINTS; j++)
			if (curves[i].ns[j] > top)
				top = curves[i].ns[j];
	top = nice_step(top) * 10;
	for (i = 0; i <= CHART_ROWS; i++)
		snprintf(chart[i], sizeof(chart[i]), "%*s", CHART_COLUMNS, "");
	for (i = 0; i < n; i++)
		plot(chart, &curves[i], top);

	printf("\nns for one set and one cancel\n");
	for (i = CHART_ROWS + 1; i-- > 0; ) {
		if (i % 4)
			printf("%9s |", "");
		else
			printf("%9.0f +", top * i / CHART_ROWS);
		printf("%s\n", chart[i]);
	}
	printf("%10s", "");
	for (i = 0; i < POINTS; i++)
		printf("+%.*s", i + 1 < POINTS ? CHART_STEP - 1 : 0, "---------");
	printf("\n%6s", "");
	for (i = 0; i < POINTS; i++)
		printf("%*d", CHART_STEP, i * STEP);
	printf("\n%10s other callouts outstanding (n)\n", "");
	for (i = 0; i < n; i++)
		printf("%10s %c %s\n", "", curves[i].mark, curves[i].calls);
	printf("%10s & several\n\n", "");
}

/* Fit a line by least squares. Return its values at both ends. */
static void fit(const struct curve *c, double *first, double *last)
{
	double mean = 0, slope = 0, squares = 0, x;
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		mean += c->ns[i] / POINTS;
	for (i = 0; i < POINTS; i++) {
		x = i - (POINTS - 1) / 2.0;
		slope += x * (c->ns[i] - mean);
		squares += x * x;
	}
	slope /= squares;
	*first = mean - slope * (POINTS - 1) / 2.0;
	*last = mean + slope * (POINTS - 1) / 2.0;
}

static double mean_of(const struct curve *c)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		sum += c->ns[i];
	return sum / POINTS;
}

static void judge(const struct curve *c)
{
	double first, last, ratio, min = c->ns[0], max = c->ns[0];
	unsigned int i;

	for (i = 1; i < POINTS; i++) {
		if (c->ns[i] < min)
			min = c->ns[i];
		if (c->ns[i] > max)
			max = c->ns[i];
	}
	fit(c, &first, &last);
	ratio = first > 0 && last > 0 ?
		(last > first ? last / first : first / last) : FLAT + 1;
	printf("%-8s line fitted: %.0f ns at n = 0, %.0f ns at n = %d\n",
	       c->name, first, last, (POINTS - 1) * STEP);
	printf("%-8s ratio %.2f; largest/smallest measured %.2f: %s\n", "",
	       ratio, max / min, ratio > FLAT ? "NOT FLAT" :
	       max / min > FLAT ? "flat, but noisy" : "flat");
}

/* Write a curve to a file, or read one from it: a line "N NS" for each point. */

static void write_curve(const struct curve *c, FILE *file)
{
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		fprintf(file, "%u %.0f\n", i * STEP, c->ns[i]);
}

static int read_curve(struct curve *c, const char *name)
{
	FILE *file = fopen(name, "r");
	unsigned int i, n = 0;

	if (!file)
		return callout_failed(-errno, name);
	for (i = 0; i < POINTS; i++)
		if (fscanf(file, "%u %lf", &n, &c->ns[i]) != 2 || n != i * STEP ||
		    !(c->ns[i] > 0 && c->ns[i] < 1e12))
			break;
	fclose(file);
	if (i == POINTS)
		return 0;
	fprintf(stderr, "calloutctl: fig9: %s: no time for n = %u: is it of fig9 --write?\n",
		name, i * STEP);
	return CALLOUT_EXIT_FAILED;
}

/* Measure, and print all @n curves. */
static int run(struct curve *curves, unsigned int n)
{
	__u64 rng = callout_ns();
	unsigned int i, j;
	int ret;

	printf("fig9: %d times set and cancel, median of %d blocks, seed %llu\n",
	       ROUNDS * BLOCK_SIZE, ROUNDS, rng);
	ret = callout_write_lines();
	if (ret)
		return ret;
	for (i = 0; i < ROUNDS; i++) {
		ret = measure_round(curves, MEASURED, i, &rng);
		if (ret)
			return ret;
	}

	printf("%6s", "n");
	for (i = 0; i < n; i++)
		printf("  %8s", curves[i].name);
	puts("  ns for a pair");
	for (j = 0; j < POINTS; j++) {
		printf("%6d", j * STEP);
		for (i = 0; i < n; i++) {
			if (i < MEASURED)
				curves[i].ns[j] = median(curves[i].block[j]);
			printf("  %8.0f", curves[i].ns[j]);
		}
		putchar('\n');
	}
	return 0;
}

int callout_cmd_fig9(int argc, char **argv)
{
	static const struct option options[] = {
		{ "compare", required_argument, NULL, 'c' },
		{ "write", required_argument, NULL, 'w' },
		{ }
	};
	struct curve curves[CURVES] = {
		{ .name = "handle", .calls = "SET and CANCEL by handle",
		  .mark = 'o', .hashed = false },
		{ .name = "hash", .calls = "TIMEOUT and UNTIMEOUT by func, arg",
		  .mark = 'x', .hashed = true },
		{ .name = "earlier", .mark = '#' },
	};
	const char *compare = NULL, *write = NULL;
	unsigned int i, n = MEASURED;
	FILE *out = NULL;
	int opt, ret;

	while ((opt = callout_getopt(argc, argv, options)) != -1) {
		if (opt == 'c')
			compare = optarg;
		else if (opt == 'w')
			write = optarg;
		else
			return callout_bad_option(argv, opt);
	}
	if (optind != argc)
		return callout_usage("fig9: no argument \"%s\"", argv[optind]);
	if (compare) {
		curves[EARLIER].calls = compare;
		ret = read_curve(&curves[EARLIER], compare);
		if (ret)
			return ret;
		n = CURVES;
	}
	if (write) {
		out = fopen(write, "w");
		if (!out)
			return callout_failed(-errno, write);
	}
	ret = run(curves, n);
	if (out) {
		if (!ret)
			write_curve(&curves[HANDLE], out);
		if (fclose(out) && !ret)
			ret = callout_failed(-errno, write);
	}
	if (ret)
		return ret;
	draw(curves, n);
	for (i = 0; i < n; i++)
		judge(&curves[i]);
	printf("hash / handle: %.2f\n",
	       mean_of(&curves[HASH]) / mean_of(&curves[HANDLE]));
	return 0;
}
