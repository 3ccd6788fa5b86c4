// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - a program outside of this tree, built only with what pkg-config prints
 *
 * It arms two timers of libcallout, disarms one, and waits for the other.
 */
#include <err.h>
#include <libcallout.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct callout_timer timer = { 0 }, other = { 0 };
	struct callout_ctx *ctx;
	int ret;

	ret = callout_ctx_create(&ctx, 1);
	if (ret)
		errx(EXIT_FAILURE, "no context: %s", strerror(-ret));
	if (callout_arm(ctx, &timer, 20000000) ||
	    callout_arm(ctx, &other, 10000000) || !callout_disarm(ctx, &other))
		errx(EXIT_FAILURE, "a timer cannot be armed or disarmed");
	ret = callout_ctx_turn(ctx, 10000000000);
	if (ret != 1 || callout_ctx_next(ctx, NULL) != &timer)
		errx(EXIT_FAILURE, "the timer does not fire: %d", ret);
	ret = callout_ctx_on_timerfd(ctx);
	callout_ctx_destroy(ctx);
	if (ret)
		puts(callout_open_strerror(ret));
	puts("fired");
	return EXIT_SUCCESS;
}
