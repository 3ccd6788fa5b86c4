// SPDX-License-Identifier: GPL-2.0
/*
 * callout_client.c - a module that uses the facility, built outside its tree
 *
 * Sets callouts by each interface, waits until they have run, and unloads as a
 * client must: it cancels all callouts, then calls callout_barrier(). With
 * leave=1 it does not cancel, and callout.ko must report this when it is
 * unloaded itself.
 */
#include <linux/completion.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <linux/callout_bsd.h>

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "Leave a callout pending when unloaded (default N)");

static uint tick_ns;
module_param(tick_ns, uint, 0444);
MODULE_PARM_DESC(tick_ns, "Length of callout.ko's tick in ns; 0: a jiffy (default 0)");

struct step {
	struct completion ran;
	u64 expected;
	bool early;
};

static struct step steps[4];

static struct callout by_init;
static DEFINE_CALLOUT(by_definition);
static callout_handle_t far_away;

static u64 now(void)
{
	return tick_ns ? div_u64(ktime_get_ns(), tick_ns) : get_jiffies_64();
}

static void ran(void *arg)
{
	struct step *step = arg;

	step->early = now() < step->expected;
	complete(&step->ran);
}

/* Whether callouts that are due in an hour can be cancelled, once. */
static int cancelled_before_time(void)
{
	struct callout_handle h = timeout(ran, &steps[0], 3600 * hz);

	untimeout(ran, &steps[0], h);
	timeout(ran, &steps[0], 3600 * hz);
	untimeout(ran, &steps[0]);
	return unsetcallout(h.handle) == -1 &&
	       callout_untimeout(ran, &steps[0]) == -1;
}

static int wait_for_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!wait_for_completion_timeout(&steps[i].ran, 10 * HZ) ||
		    steps[i].early) {
			pr_err("callout %u did not run, or early\n", i);
			return -EIO;
		}
	}
	return 0;
}

static void cancel_all(void)
{
	callout_drain(&by_init);
	callout_drain(&by_definition);
	unsetcallout_sync(far_away);
	callout_barrier();
}

static int __init client_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		init_completion(&steps[i].ran);
		steps[i].expected = now() + 1 + i;
	}
	if (!cancelled_before_time())
		return -EIO;
	callout_init(&by_init, CALLOUT_MPSAFE);
	callout_reset(&by_init, 3600 * hz, ran, &steps[0]);
	callout_reset(&by_init, 1, ran, &steps[0]);
	callout_reset(&by_definition, 2, ran, &steps[1]);
	setcallout(ran, &steps[2], 3);
	timeout(ran, &steps[3], 4);
	ret = wait_for_all();
	far_away = setcallout(ran, &steps[0], 3600 * hz);
	if (!ret && !far_away)
		ret = -ENOSPC;
	if (ret) {
		cancel_all();
		while (callout_untimeout(ran, &steps[3]) == 1)
			;
	}
	return ret;
}

static void __exit client_exit(void)
{
	if (!leave)
		cancel_all();
}

module_init(client_init);
module_exit(client_exit);

MODULE_DESCRIPTION("Client of the callout facility");
MODULE_LICENSE("GPL");
