// SPDX-License-Identifier: GPL-2.0
/*
 * callout_misuse.c - misuses the API in one way, for the kernel to report
 *
 * The parameter what= selects the misuse. Its effects are undone, so that the
 * next misuse can be tried. For the job misuse, on a kernel with debugobjects
 * and lockdep.
 */
#include <linux/atomic.h>
#include <linux/callout.h>
#include <linux/callout_work.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/callout_timer.h>

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "Misuse: free, init, zeroed, garbage, function, preempt, preempt_locked, preempt_timer, atomic_barrier, atomic_work, lock, slow, null, nmi, unlocked, drain, drain_own, timer_free, timer_init, timer_zeroed, timer_irq or timer_drain");

#define FAR		(3600L * HZ)

/* More than the burst of a rate-limited message. */
#define NR_SLOW		30

static DEFINE_SPINLOCK(lock);
static atomic_t runs;

static void count_run(void *unused)
{
	atomic_inc(&runs);
}

/* Wait until @n handlers have run. Return false if they do not. */
static bool wait_for_runs(int n)
{
	unsigned int i;

	for (i = 0; i < 1000 && atomic_read(&runs) < n; i++)
		usleep_range(10000, 11000);
	return atomic_read(&runs) == n;
}

static int free_pending(struct callout *c)
{
	struct callout *victim = kzalloc(sizeof(*victim), GFP_KERNEL);

	if (!victim)
		return -ENOMEM;
	/* The callout's lock, which this thread does not hold, must not be reported too. */
	callout_init_mtx(victim, &lock, 0);
	spin_lock_bh(&lock);
	callout_reset(victim, FAR, count_run, NULL);
	spin_unlock_bh(&lock);
	kfree(victim);
	return 0;
}

static int init_pending(struct callout *c)
{
	callout_reset(c, FAR, count_run, NULL);
	callout_init_mtx(c, &lock, 0);
	/* callout_init_mtx() has fixed the callout up, and shutting it down needs no lock. */
	if (callout_shutdown(c) != -1)
		return -EIO;
	return callout_reset(c, 1, count_run, NULL) == 0 &&
	       callout_stop(c) == -1 ? 0 : -EIO;
}

static int never_prepared(int byte)
{
	struct callout *c = kmalloc(sizeof(*c), GFP_KERNEL);
	bool ran;

	if (!c)
		return -ENOMEM;
	memset(c, byte, sizeof(*c));
	callout_reset(c, 1, count_run, NULL);
	ran = wait_for_runs(1);
	callout_drain(c);
	kfree(c);
	return ran ? 0 : -EIO;
}

static int use_zeroed(struct callout *c)
{
	return never_prepared(0);
}

static int use_garbage(struct callout *c)
{
	return never_prepared(0x5a);
}

/* No call sets a callout without a function, which would call NULL. */
static int set_without_function(struct callout *c)
{
	sbintime_t second = callout_sbinuptime() + SBT_1S;
	struct callout_work *p = kmalloc(sizeof(*p), GFP_KERNEL);
	bool set;

	if (!p)
		return -ENOMEM;
	callout_work_init(p);
	set = callout_schedule(c, 1) || callout_pending(c) ||
	      callout_reset(c, 1, NULL, NULL) || callout_pending(c) ||
	      callout_schedule_on(c, 1, 1) || callout_pending(c) ||
	      callout_reset_on(c, 1, NULL, NULL, 1) || callout_pending(c) ||
	      callout_schedule_sbt(c, SBT_1S, 0, 0) || callout_pending(c) ||
	      callout_schedule_sbt(c, second, 0, C_ABSOLUTE) ||
	      callout_pending(c) || callout_active(c) ||
	      callout_work_reset(p, 1, NULL, NULL) > 0 ||
	      callout_work_pending(p) ||
	      setcallout(NULL, NULL, 1) || callout_timeout(NULL, NULL, 1);
	msleep(100);
	callout_work_drain(p);
	kfree(p);
	return set ? -EIO : 0;
}

static void disable_preemption(void *unused)
{
	preempt_disable();
	atomic_inc(&runs);
}

static int change_preempt_count(struct callout *c)
{
	callout_reset(c, 1, disable_preemption, NULL);
	return wait_for_runs(1) ? 0 : -EIO;
}

static int change_preempt_count_under_lock(struct callout *c)
{
	callout_init_mtx(c, &lock, 0);
	spin_lock_bh(&lock);
	callout_reset(c, 1, disable_preemption, NULL);
	spin_unlock_bh(&lock);
	return wait_for_runs(1) ? 0 : -EIO;
}

static void disable_preemption_in_timer(struct timer_list *unused)
{
	disable_preemption(NULL);
}

static int change_preempt_count_in_timer(struct callout *unused)
{
	static struct timer_list t;

	timer_setup(&t, disable_preemption_in_timer, 0);
	mod_timer(&t, jiffies + 1);
	return wait_for_runs(1) && !timer_delete_sync(&t) ? 0 : -EIO;
}

/* Nothing runs for which they would have to wait. */
static int barrier_in_atomic_context(struct callout *unused)
{
	preempt_disable();
	callout_barrier();
	preempt_enable();
	return 0;
}

static int work_drain_in_atomic_context(struct callout *unused)
{
	struct callout_work *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	callout_work_init(p);
	preempt_disable();
	callout_work_drain(p);
	preempt_enable();
	kfree(p);
	return 0;
}

/* A lock that exists for lockdep only. */
static struct lock_class_key leaked_key;
static struct lockdep_map leaked = STATIC_LOCKDEP_MAP_INIT("leaked",
							   &leaked_key);

static void leak_lock(void *task)
{
	if (current == task) {
		lock_acquire(&leaked, 0, 0, 0, 0, NULL, _THIS_IP_);
		atomic_inc(&runs);
	}
}

/*
 * The lock is held by the thread that the softirq runs in. This thread enables
 * softirqs when the callout is due, so it is the holder and can release the
 * lock, unless ksoftirqd runs already.
 */
static int return_with_lock(struct callout *c)
{
	unsigned long end;
	unsigned int i;

	for (i = 0; i < 100 && !atomic_read(&runs); i++) {
		local_bh_disable();
		callout_reset_curcpu(c, 1, leak_lock, current);
		end = jiffies + 3;
		while (time_before(jiffies, end))
			cpu_relax();
		local_bh_enable();
		callout_stop(c);
	}
	if (!atomic_read(&runs))
		return -EIO;
	lock_release(&leaked, _THIS_IP_);
	return 0;
}

/*
 * Longer than 2 ms by two ticks, as jiffies count: they show that the handler is slow.
 * They lag where the host stops the virtual CPU that counts them.
 */
static void be_slow(void *unused)
{
	unsigned long end = jiffies + 2 + DIV_ROUND_UP(2 * HZ, 1000);

	while (time_before(jiffies, end))
		cpu_relax();
	atomic_inc(&runs);
}

static int slow_handlers(struct callout *c)
{
	unsigned long end;
	unsigned int i;

	for (i = 1; i <= NR_SLOW; i++) {
		callout_reset(c, 1, be_slow, NULL);
		/* With all CPUs idle jiffies would stand still. */
		end = jiffies + 10 * HZ;
		while (atomic_read(&runs) < i && time_before(jiffies, end))
			cpu_relax();
		if (atomic_read(&runs) != i)
			return -EIO;
	}
	return 0;
}

static void use_lock(void *unused)
{
	spin_lock(&lock);
	atomic_inc(&runs);
	spin_unlock(&lock);
}

/* No call does anything with a NULL callout. Only the first call is reported. */
static int use_null(struct callout *c)
{
	bool wrong;

	callout_init((struct callout *)NULL, CALLOUT_MPSAFE);
	wrong = callout_reset(NULL, 1, count_run, NULL) ||
		callout_reset_on(NULL, 1, count_run, NULL, 0) ||
		callout_schedule(NULL, 1) || callout_schedule_on(NULL, 1, 0) ||
		callout_reset_sbt(NULL, 1, 0, count_run, NULL, 0) ||
		callout_stop(NULL) != -1 || callout_drain(NULL) != -1 ||
		callout_shutdown(NULL) != -1 ||
		callout_async_drain(NULL, count_run) != -1 ||
		callout_expires(NULL) || callout_expires_sbt(NULL) ||
		callout_running(NULL) || callout_cpu(NULL) != -1 ||
		callout_work_reset(NULL, 1, count_run, NULL) != -1 ||
		callout_work_reset_on(NULL, 1, count_run, NULL, 0) != -1 ||
		callout_work_reset_sbt_on(NULL, 1, 0, count_run, NULL, 0,
					  0) != -1 ||
		callout_work_stop(NULL) != -1 ||
		callout_work_drain(NULL) != -1 ||
		callout_work_async_drain(NULL, count_run) != -1;
	callout_work_barrier(NULL);
	return wrong ? -EIO : 0;
}

/* Calls that do nothing in an NMI. The kernel takes this context for an NMI. */
static bool calls_in_nmi(struct callout *c, callout_handle_t handle,
			 struct callout_work *w)
{
	unsigned long flags;
	bool wrong;

	local_irq_save(flags);
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	wrong = callout_reset(c, 1, count_run, NULL) || callout_stop(c) != -1 ||
		callout_async_drain(c, count_run) != -1 ||
		setcallout(count_run, NULL, 1) ||
		setcallout_on(count_run, NULL, 1, 0) ||
		resetcallout(handle, 1) != -1 || unsetcallout(handle) != -1 ||
		callout_timeout(count_run, NULL, 1) ||
		callout_untimeout(count_run, NULL) != -1 ||
		callout_work_reset(w, 1, count_run, NULL) != -1 ||
		callout_work_stop(w) != -1 ||
		callout_work_async_drain(w, count_run) != -1;
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	local_irq_restore(flags);
	return wrong;
}

static int use_in_nmi(struct callout *c)
{
	callout_handle_t handle = setcallout(count_run, NULL, FAR);
	static struct callout_work w;
	bool wrong;

	callout_work_init(&w);
	callout_work_reset(&w, FAR, count_run, NULL);
	callout_reset(c, FAR, count_run, NULL);
	wrong = calls_in_nmi(c, handle, &w);
	wrong |= callout_stop(c) != 1 || unsetcallout(handle) != 1 ||
		 callout_work_drain(&w) != 1;
	return wrong || atomic_read(&runs) ? -EIO : 0;
}

/* Each of these calls needs the lock. Only the first call is reported. */
static int set_without_lock(struct callout *c)
{
	callout_init_mtx(c, &lock, 0);
	callout_reset(c, FAR, count_run, NULL);
	callout_schedule_on(c, FAR, 0);
	return callout_stop(c) == 1 ? 0 : -EIO;
}

/* Drain when no handler runs, so that there is no deadlock. */
static int run_and_drain(struct callout *c, callout_func_t *func)
{
	spin_lock_bh(&lock);
	callout_reset(c, 1, func, NULL);
	spin_unlock_bh(&lock);
	if (!wait_for_runs(1))
		return -EIO;
	callout_drain(c);
	spin_lock_bh(&lock);
	callout_drain(c);
	spin_unlock_bh(&lock);
	return 0;
}

static int drain_under_lock(struct callout *c)
{
	return run_and_drain(c, use_lock);
}

/* The core takes this lock around the handler. */
static int drain_under_own_lock(struct callout *c)
{
	callout_init_mtx(c, &lock, 0);
	return run_and_drain(c, count_run);
}

/* The next misuses are of Linux's timers, which are callouts here. */
static void count_timer(struct timer_list *unused)
{
	atomic_inc(&runs);
}

static int free_pending_timer(struct callout *unused)
{
	struct timer_list *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	timer_setup(t, count_timer, 0);
	mod_timer(t, jiffies + FAR);
	kfree(t);
	return 0;
}

static int init_pending_timer(struct callout *unused)
{
	static struct timer_list t;

	timer_setup(&t, count_timer, 0);
	mod_timer(&t, jiffies + FAR);
	timer_setup(&t, count_timer, 0);
	return !timer_delete(&t) && !mod_timer(&t, jiffies + FAR) &&
	       timer_delete(&t) ? 0 : -EIO;
}

/* A zeroed timer gets a function that warns. */
static int use_zeroed_timer(struct callout *unused)
{
	struct timer_list *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned int i;
	bool stays;

	if (!t)
		return -ENOMEM;
	mod_timer(t, jiffies + 1);
	for (i = 0; i < 1000 && timer_pending(t); i++)
		usleep_range(10000, 11000);
	stays = timer_delete_sync(t);
	kfree(t);
	return stays ? -EIO : 0;
}

/**
 * struct timers_in_irq - timers that a hard interrupt deletes and waits for
 * @work: the interrupt
 * @plain: a timer that the interrupt may have interrupted
 * @irqsafe: a timer that it cannot have interrupted
 * @deleted: how many timers were pending
 */
struct timers_in_irq {
	struct irq_work work;
	struct timer_list plain;
	struct timer_list irqsafe;
	int deleted;
};

static void delete_in_irq(struct irq_work *work)
{
	struct timers_in_irq *t = container_of(work, struct timers_in_irq, work);

	t->deleted = timer_delete_sync(&t->plain);
	t->deleted += timer_delete_sync(&t->irqsafe);
}

/* Only the first of the two calls is reported. Neither timer has run. */
static int delete_timers_in_irq(struct callout *unused)
{
	static struct timers_in_irq t;

	t.work = IRQ_WORK_INIT_HARD(delete_in_irq);
	timer_setup(&t.plain, count_timer, 0);
	timer_setup(&t.irqsafe, count_timer, TIMER_IRQSAFE);
	mod_timer(&t.plain, jiffies + FAR);
	mod_timer(&t.irqsafe, jiffies + FAR);
	irq_work_queue(&t.work);
	irq_work_sync(&t.work);
	return t.deleted == 2 ? 0 : -EIO;
}

static void use_lock_in_timer(struct timer_list *unused)
{
	use_lock(NULL);
}

/* Wait when no function runs, so that there is no deadlock. */
static int delete_timer_under_lock(struct callout *unused)
{
	static struct timer_list t;

	timer_setup(&t, use_lock_in_timer, 0);
	mod_timer(&t, jiffies + 1);
	if (!wait_for_runs(1))
		return -EIO;
	timer_delete_sync(&t);
	spin_lock_bh(&lock);
	timer_delete_sync(&t);
	spin_unlock_bh(&lock);
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(struct callout *c);
} misuses[] = {
	{ "free", free_pending },
	{ "init", init_pending },
	{ "zeroed", use_zeroed },
	{ "garbage", use_garbage },
	{ "function", set_without_function },
	{ "preempt", change_preempt_count },
	{ "preempt_locked", change_preempt_count_under_lock },
	{ "preempt_timer", change_preempt_count_in_timer },
	{ "atomic_barrier", barrier_in_atomic_context },
	{ "atomic_work", work_drain_in_atomic_context },
	{ "lock", return_with_lock },
	{ "slow", slow_handlers },
	{ "null", use_null },
	{ "nmi", use_in_nmi },
	{ "unlocked", set_without_lock },
	{ "drain", drain_under_lock },
	{ "drain_own", drain_under_own_lock },
	{ "timer_free", free_pending_timer },
	{ "timer_init", init_pending_timer },
	{ "timer_zeroed", use_zeroed_timer },
	{ "timer_irq", delete_timers_in_irq },
	{ "timer_drain", delete_timer_under_lock },
};

static int __init misuse_init(void)
{
	static struct callout c;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(misuses); i++) {
		if (strcmp(what, misuses[i].name))
			continue;
		callout_init(&c, CALLOUT_MPSAFE);
		ret = misuses[i].fn(&c);
		callout_drain(&c);
		return ret;
	}
	pr_err("callout_misuse: what=%s?\n", what);
	return -EINVAL;
}

static void __exit misuse_exit(void)
{
}

module_init(misuse_init);
module_exit(misuse_exit);

MODULE_DESCRIPTION("Misuses of the callout facility");
MODULE_LICENSE("GPL");
