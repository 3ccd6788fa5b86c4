// SPDX-License-Identifier: GPL-2.0
/*
 * cpu.c - a base of each class for each CPU, as CPUs come and go
 *
 * A base is made when its CPU first comes up and stays until the module is unloaded.
 * While the CPU goes down, callouts are armed in its bases by code that runs on the
 * CPU, and by a caller that sets a callout whose handler runs there. A nohz_full CPU
 * that has chosen this CPU from cpu_online_mask also arms there: it has interrupts
 * off, so this CPU dies only after the arming, and the callout is not lost. Once the
 * CPU is dead, its pending callouts migrate to the base of the CPU that cleans up or,
 * if that is a nohz_full CPU, to a housekeeping CPU's base. Only here are two bases
 * locked at the same time: the dead base's lock inside the live base's lock.
 *
 * Callouts of CALLOUT_CLASS_GLOBAL may run on another CPU than their base's CPU.
 * After a CPU's death that continues until the CPU's base has been shut down.
 *
 * With bases=single (CONFIG_CALLOUT_LAB) all CPUs have the same base, to measure what
 * sharing costs: Appendix B of Varghese and Lauck's paper. CPU 0 drives the base's
 * tick, and cannot go offline.
 */
#include <linux/bottom_half.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "queue.h"
#include "cpu.h"
#include "resize.h"
#include "kcompat.h"

/* The parameters of bases, also of bases for later CPUs and classes. */
static struct callout_config the_config __ro_after_init;

unsigned int callout_nr_classes = 1;
EXPORT_SYMBOL_IF_KUNIT(callout_nr_classes);

static bool has_single_base(void)
{
	return IS_ENABLED(CONFIG_CALLOUT_LAB) && the_config.single;
}

static int prepare_state;
static int online_state;

atomic_t callout_moves = ATOMIC_INIT(0);
EXPORT_SYMBOL_IF_KUNIT(callout_moves);

/* The next class in use after @class, or CALLOUT_ALL_CLASSES. */
static unsigned int co_class_after(unsigned int class)
{
	return ++class == callout_nr_classes ? CALLOUT_CLASS_GLOBAL : class;
}

/* Is @class for callouts that leave CPUs asleep? */
static bool co_class_sleeps(unsigned int class)
{
	return class == CALLOUT_CLASS_GLOBAL ||
	       class == CALLOUT_CLASS_DEFERRABLE;
}

static int co_class_prepare(unsigned int class, unsigned int cpu)
{
	bool sleeps = co_class_sleeps(class);
	bool device = class != CALLOUT_CLASS_KERNEL && !sleeps;
	struct callout_scheme_params params = the_config.params;
	struct callout_base *base = co_base_of(class, cpu);

	if (base)
		return 0;
	if (sleeps && (the_config.tick != &callout_tick_jiffies ||
		       has_single_base())) {
		WRITE_ONCE(callout_bases[class * nr_cpu_ids + cpu],
			   co_base_of(CALLOUT_CLASS_KERNEL, cpu));
		return 0;
	}
	params.node = cpu_to_node(cpu);
	if (!params.buckets)
		params.buckets = sleeps ? CALLOUT_WHEEL_LEAST :
					  CALLOUT_WHEEL_FIRST;
	base = co_base_create(class * nr_cpu_ids +
			      (has_single_base() ? 0 : cpu),
			      device ? the_config.device_tick :
				       the_config.tick,
			      device ? the_config.device_tick_ns :
				       the_config.tick_ns,
			      the_config.scheme, &params);
	if (IS_ERR(base))
		return PTR_ERR(base);
	/* No callout of the base has been set yet. */
	base->wake_gap = device && co_is_wheel(base) ?
			 the_config.device_wake_gap : 0;
	if (!the_config.params.buckets)
		co_resize_begin(base);
	/* A single base belongs to CPU 0, and all CPUs have it from the start. */
	if (has_single_base())
		for_each_possible_cpu(cpu)
			callout_bases[base->index + cpu] = base;
	return 0;
}

/* If this fails, the bases already created stay, as they do after the CPU has been up. */
static int co_cpu_prepare(unsigned int cpu)
{
	unsigned int class;
	int ret = 0;

	for (class = 0; class < CALLOUT_ALL_CLASSES;
	     class = co_class_after(class))
		if (!ret)
			ret = co_class_prepare(class, cpu);
	return ret;
}

/*
 * Runs on the CPU: from here on other CPUs may arm callouts there, or no longer
 * may. A single base stays online. A kernel whose own timers are callouts creates
 * its first bases with interrupts off.
 */
static void co_base_set_online(struct callout_base *base, bool online)
{
	unsigned long flags;

	co_point();
	local_irq_save(flags);
	co_base_lock(base);
	/* co_arm_slow() reads it without the lock, then again with the lock held. */
	WRITE_ONCE(base->online, online || has_single_base());
	co_unlock(base, flags);
	co_point();
}

static int co_cpu_set_online(unsigned int cpu, bool online)
{
	struct callout_base *base;
	unsigned int class;

	for (class = 0; class < CALLOUT_ALL_CLASSES;
	     class = co_class_after(class)) {
		base = co_base_of(class, cpu);
		if (WARN_ON(!base))
			return -EINVAL;
		co_base_set_online(base, online);
	}
	return 0;
}

static int co_cpu_online(unsigned int cpu)
{
	return co_cpu_set_online(cpu, true);
}

/*
 * Runs on the CPU, before ksoftirqd is parked, which would leave softirqs pending.
 * Once the bases are not online, no tasklet is scheduled until the CPU is back: the
 * caller that tests co_goes_on_here() and then schedules the tasklet is not preempted
 * in between. A tasklet scheduled earlier is pending, and runs here. On PREEMPT_RT no
 * tasklet is ever scheduled.
 */
static int co_cpu_offline(unsigned int cpu)
{
	int ret;

	if (has_single_base() && !cpu)
		return -EBUSY;
	ret = co_cpu_set_online(cpu, false);
	local_bh_disable();
	local_bh_enable();
	return ret;
}

/* Migrate up to a budget of callouts from the dead base @from to @to. Both are locked. */
bool co_take_over(struct callout_base *from, struct callout_base *to)
	__must_hold(&from->lock) __must_hold(&to->lock)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout_node *n;
	LIST_HEAD(taken);
	bool more;

	/* Due callouts first, to keep the order as far as possible. */
	list_splice_init(&from->put_off, &from->due);
	while (budget && !list_empty(&from->due)) {
		budget--;
		list_move_tail(from->due.next, &taken);
	}
	more = !budget || from->scheme->ops->take(from->scheme, &budget,
						  &taken);
	while (!list_empty(&taken)) {
		n = list_first_entry(&taken, struct callout_node, entry);
		list_del(&n->entry);
		/* The callout goes home at its next arm, see co_arm_slow(). */
		callout_change_state(n, CALLOUT_S_DUE | CALLOUT_S_STARTED_HERE |
				     CALLOUT_S_AWAY, to->index == n->home ?
				     0 : CALLOUT_S_AWAY);
		from->until_resize++;
		/* Pairs with the READ_ONCE() in co_lock(). */
		WRITE_ONCE(n->cpu, to->index);
		co_start_locked(to, n, n->expires);
	}
	return more;
}
EXPORT_SYMBOL_IF_KUNIT(co_take_over);

/* The base that receives the callouts of the dead base @from. */
static struct callout_base *co_base_heir(struct callout_base *from)
{
	if (co_base_has_class(from, CALLOUT_CLASS_GLOBAL))
		return co_base_unpinned();
	return co_base_sibling(from, co_home_cpu());
}

/*
 * The CPU is dead. Callouts are armed in its base only by handlers that its
 * hrtimer, moved to a live CPU, still runs. A callout must not change its base
 * while its handler runs, so the tick source is shut down first, which waits for
 * the handler. The tasklet is not scheduled, see co_cpu_offline(), but disabled all
 * the same:
 *
 *	CPU0: expiry of base 1			CPU2: CPU1 is dead
 *	running = c, unlock(base 1)
 *	handler sets c again: it runs,
 *	so it stays in base 1
 *						moves c to base 2
 *						callout_drain(c): lock(base 2),
 *						which does not run c: returns
 *						frees c
 *	handler continues with c
 */
static void co_base_evacuate(struct callout_base *from)
{
	struct callout_base *to;
	bool more;

	/* See above. A tasklet that runs later finds nothing to do. */
	tasklet_disable(&from->again);
	/* Nothing is left that could program the tick source. */
	from->tick->shutdown(from);
	co_point();
	do {
		/*
		 * Overdue callouts run once softirqs are on, in the tasklet; on PREEMPT_RT
		 * at the next edge.
		 */
		local_bh_disable();
		local_irq_disable();
		/* A hotplug operation is under way: online CPUs stay online. */
		to = co_base_heir(from);
		co_base_lock(to);
		co_base_lock_nested(from);
		co_move_begin();
		more = co_take_over(from, to);
		co_move_end();
		if (!more)
			WRITE_ONCE(from->armed, U64_MAX);
		co_base_unlock(from);
		co_base_unlock(to);
		local_irq_enable();
		local_bh_enable();
		cond_resched();
	} while (more);
	tasklet_enable(&from->again);
	from->tick->init(from);
}

static int co_cpu_dead(unsigned int cpu)
{
	struct callout_base *base;
	unsigned int class;

	/* cpuhp_setup_state() has failed on another CPU and rolls this CPU back. */
	if (cpu_online(cpu) || has_single_base())
		return 0;
	for (class = 0; class < CALLOUT_ALL_CLASSES;
	     class = co_class_after(class)) {
		base = co_base_at(class * nr_cpu_ids + cpu);
		if (base)
			co_base_evacuate(base);
	}
	return 0;
}

/*
 * Create the bases of the CPUs that are up, and register for CPUs that come and go.
 *
 * Kernels before 6.10, 6.9.8, 6.6.37 and 6.1.97 do not call a startup of
 * CPUHP_BP_PREPARE_DYN for CPUs that are up, and report success.
 */
static int co_cpus_prepare(void)
{
	unsigned int cpu;
	int ret;

	ret = cpuhp_setup_state_cpuslocked(CPUHP_BP_PREPARE_DYN,
					   "callout:prepare", co_cpu_prepare,
					   co_cpu_dead);
	if (ret < 0)
		return ret;
	prepare_state = ret;
	for_each_online_cpu(cpu) {
		ret = co_cpu_prepare(cpu);
		if (ret)
			return ret;
	}
	/* DEFINE_CALLOUT() needs the base of CPU 0 even where CPU 0 can be absent. */
	return co_cpu_prepare(0);
}

/*
 * Create the bases at module load, before any other function of the core is called.
 * Return 0, -EINVAL if the scheme does not accept its parameters, or another error.
 */
int co_cpus_init(const struct callout_config *config)
{
	int ret;

	/* callout_node.cpu has 16 bits, and callout_nowhere has the highest index. */
	if (CALLOUT_CPU_MOVING >= U16_MAX) {
		pr_err("callout: %u possible CPUs: up to %u\n", nr_cpu_ids,
		       (U16_MAX - 2) / CALLOUT_ALL_CLASSES);
		return -ERANGE;
	}
	callout_bases = kcalloc(CALLOUT_CPU_MOVING + 1, sizeof(*callout_bases),
				GFP_KERNEL);
	if (!callout_bases)
		return -ENOMEM;
	callout_bases[CALLOUT_CPU_MOVING] = &callout_nowhere;
	the_config = *config;
	/* One hold: otherwise CPU 0, which drives a single base, could go offline unnoticed. */
	cpus_read_lock();
	ret = has_single_base() && !cpu_online(0) ? -EBUSY : co_cpus_prepare();
	if (!ret)
		ret = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN,
						   "callout:online",
						   co_cpu_online,
						   co_cpu_offline);
	cpus_read_unlock();
	if (ret < 0) {
		co_cpus_kill();
		co_cpus_exit();
		return ret;
	}
	online_state = ret;
	return 0;
}

/*
 * Add a class for callouts of programs. Each CPU with a base of kernel code gets a
 * base of the new class, online if the former is, whatever state of hotplug the CPU
 * is in. Return the class's number, -ENOSPC if there are CALLOUT_CLASSES already,
 * or -ENOMEM. May sleep; the caller serialises calls.
 */
int co_class_add(void)
{
	unsigned int class = callout_nr_classes, cpu;
	int ret = 0;

	if (class == CALLOUT_CLASSES)
		return -ENOSPC;
	cpus_read_lock();
	/* Bases left behind by a failure are used by the next call. */
	for_each_possible_cpu(cpu)
		if (!ret && co_base(cpu))
			ret = co_class_prepare(class, cpu);
	if (!ret) {
		for_each_possible_cpu(cpu)
			if (co_base(cpu) && co_base(cpu)->online)
				co_base_set_online(co_base_of(class, cpu), true);
		callout_nr_classes++;
	}
	cpus_read_unlock();
	return ret ? ret : class;
}

/*
 * End expiry on all bases, at module unload, when the device is gone. On return no
 * handler of a callout runs in softirq context, nor ever will. The bases stay for
 * threads: a callout that a thread sets is queued, and never due. May sleep.
 */
void co_cpus_kill(void)
{
	struct callout_base *base;
	unsigned int i;

	if (online_state)
		cpuhp_remove_state_nocalls(online_state);
	if (prepare_state)
		cpuhp_remove_state_nocalls(prepare_state);
	/* A handler that still runs on one base can arm callouts on any base. */
	for_each_base(base, i)
		co_base_kill(base);
}

/*
 * Free the bases, which are dead, when no other function of the core can be called
 * any more. Return the number of callouts that were still pending, which do not
 * run.
 */
u64 co_cpus_exit(void)
{
	struct callout_base *base;
	unsigned int i;
	u64 left = 0;

	co_resize_end();
	/* Go backwards: a single base is CPU 0's, and every CPU's entry refers to its index. */
	for (i = CALLOUT_INDEX_TEST; i--;) {
		base = co_base_at(i);
		if (base)
			left += co_base_destroy(base);
	}
	kfree(callout_bases);
	return left;
}
