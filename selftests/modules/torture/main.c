// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - callout_torture.ko: stress the kernel API, and keep books of it
 *
 * In the manner of rcutorture: threads on every CPU, and handlers, make random
 * calls on shared callouts, while CPUs go offline and online and have
 * interrupts off for some ms. Every few seconds all of them pause, and pending
 * callouts must run without another call, so that a lost wake-up shows. The
 * heads of calls.c, handle.c and work.c explain the accounting, and how exact
 * it is.
 *
 * Runs for @seconds, or until it is unloaded, and then prints its counters and
 * "callout-torture: SUCCESS", or FAILURE and the reason.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include "torture.h"

#undef pr_fmt
#define pr_fmt(fmt) "callout-torture: " fmt

static unsigned int seconds;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "Duration of the test in seconds, longer if it has not met each race; 0: until it is unloaded (default 0)");

static unsigned int threads;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "Number of torture threads; 0: two for each CPU (default 0)");

static unsigned int callouts = 16;
module_param(callouts, uint, 0444);
MODULE_PARM_DESC(callouts, "Number of callouts that all threads share (default 16)");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Seed of the random choices; 0: a random seed (default 0)");

static bool hotplug = true;
module_param(hotplug, bool, 0444);
MODULE_PARM_DESC(hotplug, "Take CPUs offline and online (default Y)");

static bool irqs_off = true;
module_param(irqs_off, bool, 0444);
MODULE_PARM_DESC(irqs_off, "Disable interrupts of a CPU for some ms at a time (default Y)");

static unsigned int pause = 5;
module_param(pause, uint, 0444);
MODULE_PARM_DESC(pause, "Seconds between pauses, in which all that is pending must run (default 5)");

/* Seconds of a pause after which a pending callout is lost. */
#define MAX_WAIT	30

/* A run of at least as many seconds must have met each kind of race. */
#define MET_ALL		30

/* Until it has, it may take this many times as long. */
#define MORE		8

/* The maximum number of errors that are printed. */
#define MAX_TOLD	20

DEFINE_PER_CPU(struct torture_counts, torture_counts);

static DEFINE_PER_CPU(u32, rnd_number);

static const char *const names[] = {
	[T_OBJECTS]	= "objects",
	[T_SETS]	= "set",
	[T_REPLACED]	= "replaced",
	[T_UNSURE]	= "set-while-drained",
	[T_STOPPED]	= "stopped",
	[T_NOT_PENDING]	= "not-pending",
	[T_RUNS]	= "runs",
	[T_OWN_FREED]	= "freed-by-handler",
	[T_DRAINS]	= "drains",
	[T_ASYNC]	= "async-drains",
	[T_ASYNC_ZEROES] = "async-zeroes",
	[T_ASYNC_CALLS]	= "async-calls",
	[T_EXACT]	= "books-exact",
	[T_BOUNDED]	= "books-bounded",
	[T_GIANT]	= "books-giant",
	[T_LOCKED]	= "books-locked",
	[T_HANDLE_SETS]	= "handles-set",
	[T_HANDLE_RUNS]	= "handles-ran",
	[T_HANDLE_UNSET] = "handles-unset",
	[T_HANDLE_FULL]	= "handles-none-free",
	[T_TIMEOUTS]	= "timeouts-set",
	[T_TIMEOUT_RUNS] = "timeouts-ran",
	[T_UNTIMEOUTS]	= "untimeouts",
	[T_WORK_SETS]	= "works-set",
	[T_WORK_RUNS]	= "works-ran",
	[T_WORK_STOPPED] = "works-stopped",
	[T_WORK_EXACT]	= "works-exact",
	[T_PAUSES]	= "pauses",
	[T_HOTPLUGS]	= "hotplugs",
	[T_IRQS_OFF]	= "irqs-off",
	[T_OWN_CANCEL]	= "own-cancels",
	[T_RACED_STOP]	= "raced-stop",
	[T_RACED_LOCK]	= "raced-lock",
	[T_RACED_DRAIN]	= "raced-drain",
	[T_RACED_ASYNC]	= "raced-async",
	[T_RACED_UNSET]	= "raced-unset",
	[T_RACED_WORK]	= "raced-work",
};

static_assert(ARRAY_SIZE(names) == T_COUNTS);

static struct task_struct **workers;
static unsigned int nr_workers;
static struct task_struct *control;

/* A pause: threads sleep, and handlers set nothing. */
static bool quiet;
static atomic_t parked = ATOMIC_INIT(0);
static atomic_t errors = ATOMIC_INIT(0);

/* The sum of a counter over all CPUs. */
u64 torture_sum(enum torture_count what)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(torture_counts, cpu).n[what]);
	return sum;
}

/* Count and report a violated invariant. */
void torture_error(const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (atomic_inc_return(&errors) > MAX_TOLD)
		return;
	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	pr_err("error: %pV", &vaf);
	va_end(args);
}

/* A random number less than @bound. Any context. */
u32 torture_below(u32 bound)
{
	/* A few rounds of a multiplicative hash. Their quality does not matter. */
	u64 x = (u64)this_cpu_inc_return(rnd_number) << 32 | seed;

	x ^= raw_smp_processor_id();
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return (x >> 32) * bound >> 32;
}

/* The number of ticks for which to set a callout, mostly 0 to 2. */
long torture_distance(void)
{
	switch (torture_below(32)) {
	case 0:
		return torture_below(50);
	case 1:
		return -1;
	default:
		return torture_below(3);
	}
}

/* A random CPU, which may be offline. */
unsigned int torture_cpu(void)
{
	return torture_below(nr_cpu_ids);
}

/* Whether this is a pause, in which nothing may be set. */
bool torture_quiet(void)
{
	return READ_ONCE(quiet);
}

/* Delay for some time, to widen races. */
void torture_linger(void)
{
	if (torture_below(2))
		ndelay(torture_below(1000));
	else
		udelay(torture_below(60));
}

/* Spin until another CPU has made *@n nonzero, or for some ticks. */
void torture_wait_for(const atomic_t *n)
{
	u64 end = ktime_get_ns() + 2 * NSEC_PER_MSEC +
		  2 * NSEC_PER_SEC / callout_hz();

	while (!atomic_read(n) && ktime_get_ns() < end)
		cpu_relax();
}

/* Sleep during a pause. */
static void torture_park(void)
{
	if (!torture_quiet())
		return;
	atomic_inc(&parked);
	while (torture_quiet() && !kthread_should_stop())
		schedule_timeout_interruptible(1);
	atomic_dec(&parked);
}

/*
 * Move to some CPU without staying bound to it: on PREEMPT_RT the kernel can
 * warn if the CPU goes offline while its bound thread holds a lock.
 */
static void torture_wander(void)
{
	set_cpus_allowed_ptr(current, cpumask_of(torture_cpu()));
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static int torture_thread(void *arg)
{
	u32 n = 0;

	while (!kthread_should_stop()) {
		torture_park();
		if (n++ % 64 == 0)
			torture_wander();
		switch (torture_below(32)) {
		case 0:
		case 1:
			torture_handle_op(true, NULL);
			break;
		case 2:
			torture_timeout_op(NULL);
			break;
		case 3 ... 8:
			torture_work_op();
			break;
		default:
			torture_object_op();
		}
		/* Include idle CPUs, which must be woken for their callouts. */
		if (!torture_below(128))
			schedule_timeout_uninterruptible(1);
		cond_resched();
	}
	return 0;
}

static int torture_irqs_off_thread(void *arg)
{
	while (!kthread_should_stop()) {
		torture_park();
		torture_wander();
		local_irq_disable();
		mdelay(1 + torture_below(8));
		local_irq_enable();
		torture_count(T_IRQS_OFF);
		msleep_interruptible(100 + torture_below(400));
	}
	return 0;
}

/* Take random CPUs except the first offline and online, one at a time. */
static int torture_hotplug_thread(void *arg)
{
	unsigned int cpu;

	while (!kthread_should_stop()) {
		torture_park();
		msleep_interruptible(500 + torture_below(2000));
		cpu = torture_cpu();
		if (!cpu || !cpu_online(cpu) || remove_cpu(cpu))
			continue;
		msleep_interruptible(torture_below(100));
		if (add_cpu(cpu))
			torture_error("CPU %u does not come back\n", cpu);
		torture_count(T_HOTPLUGS);
	}
	return 0;
}

static bool torture_busy(void)
{
	return torture_objects_busy() || torture_handles_busy() ||
	       torture_works_busy();
}

/* Pause. All pending callouts run, or are reported as lost. */
static void torture_settle(void)
{
	unsigned long end;

	WRITE_ONCE(quiet, true);
	while (atomic_read(&parked) < nr_workers)
		schedule_timeout_uninterruptible(1);
	/* Wait for handlers that have not seen the pause. */
	callout_barrier();
	end = jiffies + MAX_WAIT * HZ;
	while (torture_busy()) {
		if (time_after(jiffies, end)) {
			torture_error("%u callouts have not run, and did not balance %d\n",
				      torture_objects_busy(),
				      torture_handles_busy());
			break;
		}
		schedule_timeout_uninterruptible(1);
	}
	callout_barrier();
	torture_objects_check();
	torture_handles_check();
	torture_count(T_PAUSES);
}

static u64 torture_raced(void)
{
	enum torture_count i;
	u64 sum = 0;

	for (i = T_RACED_STOP; i < T_COUNTS; i++)
		sum += torture_sum(i);
	return sum;
}

static void torture_print(void)
{
	enum torture_count i;

	for (i = 0; i < T_COUNTS; i++)
		pr_info("%-18s %12llu\n", names[i], torture_sum(i));
	pr_info("raced cancels      %12llu\n", torture_raced());
}

static void torture_print_parameters(const char *when)
{
	pr_info("%s: seconds=%u threads=%u callouts=%u seed=%u hotplug=%d irqs_off=%d pause=%u, %u CPUs, hz %u\n",
		when, seconds, threads, callouts, seed, hotplug, irqs_off, pause,
		num_online_cpus(), callout_hz());
}

/*
 * Return the first count that is 0 and should not be, or T_COUNTS. A race that
 * has not happened has not been tested.
 */
static enum torture_count torture_unmet(void)
{
	static const enum torture_count always[] = {
		T_WORK_RUNS, T_WORK_EXACT, T_HANDLE_RUNS, T_OWN_FREED, T_EXACT,
	};
	enum torture_count i;

	for (i = 0; i < ARRAY_SIZE(always); i++)
		if (!torture_sum(always[i]))
			return always[i];
	if (num_present_cpus() == 1)
		return T_COUNTS;
	if (hotplug && IS_ENABLED(CONFIG_HOTPLUG_CPU) && !torture_sum(T_HOTPLUGS))
		return T_HOTPLUGS;
	if (irqs_off && !torture_sum(T_IRQS_OFF))
		return T_IRQS_OFF;
	for (i = T_RACED_STOP; i < T_COUNTS; i++)
		if (!torture_sum(i))
			return i;
	return T_COUNTS;
}

/* On a slow machine meeting all races takes longer. */
static bool torture_is_over(unsigned long start)
{
	if (!seconds || time_before(jiffies, start + seconds * HZ))
		return false;
	return seconds < MET_ALL || torture_unmet() == T_COUNTS ||
		time_after(jiffies, start + MORE * seconds * HZ);
}

static void torture_end(void)
{
	enum torture_count unmet;
	unsigned int i;

	torture_settle();
	for (i = 0; i < nr_workers; i++)
		kthread_stop(workers[i]);
	torture_objects_exit();
	torture_works_exit();
	torture_handles_exit();
	callout_barrier();
	torture_handles_check();
	if (torture_sum(T_ASYNC_ZEROES) != torture_sum(T_ASYNC_CALLS))
		torture_error("async drains and their calls do not balance\n");
	unmet = torture_unmet();
	if (seconds >= MET_ALL && unmet != T_COUNTS)
		torture_error("%s is 0\n", names[unmet]);
	torture_print();
	torture_print_parameters("end");
	if (atomic_read(&errors))
		pr_err("FAILURE: %d errors\n", atomic_read(&errors));
	else if (!torture_raced())
		pr_err("FAILURE: no cancel has raced\n");
	else
		pr_info("SUCCESS\n");
}

/* Sleep for up to @n seconds. */
static void torture_sleep(unsigned int n)
{
	unsigned long end = jiffies + n * HZ;

	while (time_before(jiffies, end) && !kthread_should_stop())
		msleep_interruptible(50);
}

static int torture_control_thread(void *arg)
{
	unsigned long start = jiffies, told = jiffies;

	while (!kthread_should_stop() && !torture_is_over(start)) {
		torture_sleep(pause);
		torture_settle();
		WRITE_ONCE(quiet, false);
		while (atomic_read(&parked))
			schedule_timeout_uninterruptible(1);
		if (time_after(jiffies, told + 60 * HZ)) {
			told = jiffies;
			pr_info("%llu raced cancels, %llu runs, %d errors\n",
				torture_raced(), torture_sum(T_RUNS),
				atomic_read(&errors));
		}
	}
	torture_end();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static int torture_start(int (*fn)(void *arg), const char *name)
{
	struct task_struct *t = kthread_run(fn, NULL, "%s", name);

	if (IS_ERR(t))
		return PTR_ERR(t);
	workers[nr_workers++] = t;
	return 0;
}

static int torture_start_all(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < threads && !ret; i++)
		ret = torture_start(torture_thread, "callout_torture");
	if (hotplug && !ret)
		ret = torture_start(torture_hotplug_thread, "callout_hotplug");
	if (irqs_off && !ret)
		ret = torture_start(torture_irqs_off_thread, "callout_irqsoff");
	if (ret)
		return ret;
	control = kthread_run(torture_control_thread, NULL, "callout_control");
	return PTR_ERR_OR_ZERO(control);
}

static int __init torture_init(void)
{
	int ret;

	if (!callouts || !pause)
		return -EINVAL;
	if (!threads)
		threads = 2 * num_online_cpus();
	if (!seed)
		seed = get_random_u32();
	torture_print_parameters("start");
	workers = kcalloc(threads + 2, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	torture_works_init();
	ret = torture_handles_init() ?: torture_objects_init(callouts);
	if (!ret)
		ret = torture_start_all();
	if (ret) {
		torture_end();
		kfree(workers);
	}
	return ret;
}

static void __exit torture_exit(void)
{
	kthread_stop(control);
	callout_barrier();
	kfree(workers);
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture of the callout facility");
MODULE_LICENSE("GPL");
