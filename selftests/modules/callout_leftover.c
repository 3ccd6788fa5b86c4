// SPDX-License-Identifier: GPL-2.0
/*
 * callout_leftover.c - callouts that run, and arm others, as callout.ko unloads
 *
 * A write to the parameter "arm" makes a thread arm callouts on all CPUs. Their
 * handlers arm each other, for soon and on other CPUs, until callout.ko is gone.
 * callout.ko can be unloaded, since the thread holds its symbols only while it
 * arms. So at any time some callouts are due, some run, and kicks between CPUs are
 * pending. One CPU at a time has interrupts or softirqs off for a while. The
 * handlers also arm more and more callouts for later, for which the wheels grow,
 * and set some by handle, for which a worker adds slots. Other handlers do so in
 * threads, where they sleep first. One of these at a time has a mutex, and the
 * others are set again at each tick.
 *
 * The callouts are on the thread's stack, or are copies of such callouts.
 * debugobjects does not track them: it would take them for pending when the
 * memory is reused.
 */
#include <linux/callout.h>
#include <linux/callout_work.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>

#define NR	16U

/* The distance of callouts that are left pending, and not due. */
#define FAR	1000000L

/* How many other callouts a handler arms, and how many there are. */
#define SOME	16U
#define CROWD	8192U

/* How many callouts a handler sets by handle. In a round they use up a CPU's stock. */
#define HANDLES	8U

/* Callouts whose handlers run in threads. */
#define SLEEPERS	4U

/* The maximum sleep. Most sleeps are longer than the bases take to die. */
#define SLEEP_MS	100U

/* With typeof() sparse does not take these for functions. */
static void (*init_class)(struct callout *c, void *lock, u8 lock_flags,
			  struct callout_class *class);
static int (*reset_on)(struct callout *c, long ticks, callout_func_t *func,
		       void *arg, int cpu);
static callout_handle_t (*set)(callout_func_t *func, void *arg, long ticks);
static void (*work_run)(struct work_struct *work);
static int (*work_reset_on)(struct callout_work *w, long distance,
			    callout_func_t *func, void *arg, int cpu);
static struct callout *all;
static struct callout crowd[CROWD];
static struct callout_work sleepers[SLEEPERS];
static DEFINE_MUTEX(sleep_lock);
static atomic_t runs;
static atomic_t crowded;
static struct completion wanted = COMPLETION_INITIALIZER(wanted);
static struct completion armed = COMPLETION_INITIALIZER(armed);
static struct task_struct *armer;
static struct task_struct *deafener;

static unsigned int any_cpu(void)
{
	return get_random_u32_below(num_online_cpus());
}

static void never(void *arg)
{
}

static void arm_some_for_later(void)
{
	struct callout *c;
	unsigned int i;

	for (i = 0; i < SOME; i++) {
		c = &crowd[(u32)atomic_inc_return(&crowded) % CROWD];
		reset_on(c, FAR + i, never, c, any_cpu());
	}
	for (i = 0; i < HANDLES; i++)
		set(never, NULL, FAR + i);
}

/* Arm another callout for another CPU, and often this callout itself. */
static void leftover(void *arg)
{
	struct callout *c = arg, *other = &all[get_random_u32_below(NR)];

	atomic_inc(&runs);
	arm_some_for_later();
	reset_on(other, 1 + get_random_u32_below(3), leftover, other,
		 any_cpu());
	reset_on(c, get_random_u32_below(8) ? 1 : FAR, leftover, c, any_cpu());
}

/* Runs in a thread, with the mutex. The facility may be unloaded while this sleeps. */
static void sleeper(void *arg)
{
	struct callout_work *w = arg;

	atomic_inc(&runs);
	msleep(get_random_u32_below(SLEEP_MS));
	arm_some_for_later();
	work_reset_on(w, 1, sleeper, w, any_cpu());
}

static bool borrow(void)
{
	init_class = symbol_get(callout_init_class);
	reset_on = symbol_get(callout_reset_on);
	set = symbol_get(setcallout);
	work_run = symbol_get(callout_work_run);
	work_reset_on = symbol_get(callout_work_reset_on);
	return init_class && reset_on && set && work_run && work_reset_on;
}

static void give_back(void)
{
	if (work_reset_on)
		symbol_put(callout_work_reset_on);
	if (work_run)
		symbol_put(callout_work_run);
	if (set)
		symbol_put(setcallout);
	if (reset_on)
		symbol_put(callout_reset_on);
	if (init_class)
		symbol_put(callout_init_class);
}

/* As callout_work_init_mutex(), with the borrowed symbols. */
static void init_sleeper(struct callout_work *w, const struct callout *c)
{
	w->c = *c;
	INIT_WORK(&w->work, work_run);
	raw_spin_lock_init(&w->lock);
	callout_work_setup(w, 0);
	w->mutex = &sleep_lock;
}

static int leftover_arm(void *unused)
{
	static struct callout_class class = {
#ifdef CONFIG_LOCKDEP
		.name = "leftover",
#endif
	};
	struct callout c[NR];
	unsigned int i;

	all = c;
	while (!kthread_should_stop()) {
		/* kthread_stop() wakes it up, but does not end a wait. */
		if (!wait_for_completion_timeout(&wanted, HZ / 10))
			continue;
		if (borrow()) {
			for (i = 0; i < NR; i++)
				init_class(&c[i], NULL, 0, &class);
			for (i = 0; i < CROWD; i++)
				crowd[i] = c[0];
			for (i = 0; i < SLEEPERS; i++)
				init_sleeper(&sleepers[i], &c[0]);
			for (i = 0; i < NR; i++)
				reset_on(&c[i], 1 + i % 5, leftover, &c[i],
					 i % num_online_cpus());
			for (i = 0; i < SLEEPERS; i++)
				work_reset_on(&sleepers[i], 1, sleeper,
					      &sleepers[i],
					      i % num_online_cpus());
		}
		give_back();
		complete(&armed);
	}
	return 0;
}

/* Keep a random CPU from taking interrupts, or softirqs, while its base dies. */
static int leftover_deafen(void *unused)
{
	while (!kthread_should_stop()) {
		set_cpus_allowed_ptr(current, cpumask_of(any_cpu()));
		local_bh_disable();
		mdelay(3);
		local_irq_disable();
		mdelay(3);
		local_irq_enable();
		local_bh_enable();
		msleep(20);
	}
	return 0;
}

static int set_arm(const char *val, const struct kernel_param *kp)
{
	complete(&wanted);
	wait_for_completion(&armed);
	return 0;
}

static int get_runs(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&runs));
}

static const struct kernel_param_ops arm_ops = {
	.set = set_arm,
	.get = get_runs,
};

module_param_cb(arm, &arm_ops, NULL, 0600);
MODULE_PARM_DESC(arm, "Write: arm all callouts; read: number of handlers run so far");

static int __init leftover_init(void)
{
	armer = kthread_run(leftover_arm, NULL, "callout_leftover");
	if (IS_ERR(armer))
		return PTR_ERR(armer);
	deafener = kthread_run(leftover_deafen, NULL, "callout_deafen");
	if (IS_ERR(deafener)) {
		kthread_stop(armer);
		return PTR_ERR(deafener);
	}
	return 0;
}

/* callout.ko was unloaded before: its handlers are code of this module. */
static void __exit leftover_exit(void)
{
	kthread_stop(deafener);
	kthread_stop(armer);
}

module_init(leftover_init);
module_exit(leftover_exit);

MODULE_DESCRIPTION("Callouts that are armed while their facility goes");
MODULE_LICENSE("GPL");
