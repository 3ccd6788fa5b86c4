// SPDX-License-Identifier: GPL-2.0
/*
 * threads.c - contexts of libcallout in several threads, for a tool that finds data races
 */
#include <pthread.h>

#include "lib/loop.h"

#define THREADS		4U
#define TIMERS		50U
#define ROUNDS		20U

struct worker {
	pthread_t thread;
	bool on_timerfd;
	unsigned int fired;
	int error;
};

/* Use a context from its creation to its end. */
static void *run(void *arg)
{
	struct callout_timer t[TIMERS] = { 0 };
	struct worker *w = arg;
	struct callout_ctx *ctx;
	unsigned int i, round;

	w->error = new_ctx(w->on_timerfd, &ctx, 16);
	for (round = 0; !w->error && round < ROUNDS; round++) {
		for (i = 0; i < TIMERS && !w->error; i++) {
			t[i].clockid = i % 2 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
			w->error = callout_arm(ctx, &t[i], i * MSEC / 50);
		}
		for (i = 0; i < TIMERS && !w->error; ) {
			if (callout_ctx_turn(ctx, WAIT_MS * MSEC) <= 0)
				w->error = -ETIME;
			while (callout_ctx_next(ctx, NULL)) {
				w->fired++;
				i++;
			}
		}
	}
	callout_ctx_destroy(ctx);
	return NULL;
}

/* Each thread has a context. */
TEST_F(loop, apart)
{
	struct worker w[THREADS] = { 0 };
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		w[i].on_timerfd = variant->on_timerfd;
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, run, &w[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		EXPECT_EQ(0, w[i].error);
		EXPECT_EQ(TIMERS * ROUNDS, w[i].fired);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct shared {
	struct callout_ctx *ctx[2];
	struct callout_timer t[TIMERS];
	unsigned int fired;
	int error;
};

/* With a lock, any thread may use a context, and move timers from one to another. */
static void *share(void *arg)
{
	struct shared *s = arg;
	unsigned int i, n = 0;

	while (n++ < 200) {
		pthread_mutex_lock(&lock);
		for (i = 0; i < TIMERS; i++)
			if (!callout_armed(&s->t[i]) || (i + n) % 7 == 0)
				s->error |= callout_arm(s->ctx[(i + n) % 2],
							&s->t[i], i * 1000);
		for (i = 0; i < 2; i++) {
			if (callout_ctx_turn(s->ctx[i], 0) < 0)
				s->error = -1;
			while (callout_ctx_next(s->ctx[i], NULL))
				s->fired++;
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

TEST_F(loop, shared)
{
	struct shared s = { .ctx[0] = self->ctx };
	pthread_t threads[THREADS];
	unsigned int i;

	ASSERT_EQ(0, new_ctx(variant->on_timerfd, &s.ctx[1], 16));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, share, &s));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, s.error);
	EXPECT_LT(0, s.fired);
	callout_ctx_destroy(s.ctx[1]);
}

TEST_HARNESS_MAIN
