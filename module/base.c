// SPDX-License-Identifier: GPL-2.0
/*
 * base.c - the bases: one for each CPU, as CPUs come and go
 *
 * A base is made when its CPU first comes up and stays until the module goes.
 * While the CPU goes down, only code that runs on it still arms callouts there;
 * when it is dead, what was queued or due moves to the base of the CPU that
 * cleans up, or if that is a nohz_full CPU, of a housekeeping CPU. That is the
 * one place where two bases are locked at the same time: the dead one's lock
 * inside the live one's.
 *
 * With bases=single all CPUs have the same base, to measure what sharing costs:
 * Appendix B of Varghese and Lauck's paper. One CPU drives its tick; on its way
 * down, while it still runs, it hands that over to another.
 */
#include <linux/bottom_half.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "chip.h"
#include "core.h"
#include "kcompat.h"

/* Callouts that are in no table, and for which a scheme is to have room too. */
#define EMBEDDED_ROOM	1024U

struct callout_base **callout_bases;
EXPORT_SYMBOL_IF_KUNIT(callout_bases);

/* What bases are made with, also for CPUs that come later. */
static const struct callout_tick_source *the_tick;
static const struct callout_scheme_ops *the_scheme;
static struct callout_scheme_params the_params;
static bool single_base;

static int prepare_state;
static int online_state;

/* Callouts of a dead CPU have moved: who looks base by base looks again. */
seqcount_t callout_moves = SEQCNT_ZERO(callout_moves);

/**
 * callout_base_create - makes an empty base
 * @index: its place in callout_bases[]: a CPU, or nr_cpu_ids for a test
 * @tick: what tells its time
 * @ops: the scheme
 * @params: for the scheme's create
 *
 * Context: Process context, may sleep.
 * Return: the base, or an ERR_PTR.
 */
struct callout_base *
callout_base_create(unsigned int index, const struct callout_tick_source *tick,
		    const struct callout_scheme_ops *ops,
		    const struct callout_scheme_params *params)
{
	struct callout_scheme_params p = *params;
	struct callout_base *base;
	int ret;

	base = kzalloc_node(sizeof(*base), GFP_KERNEL, p.node);
	if (!base)
		return ERR_PTR(-ENOMEM);
	base->tick = tick;
	p.now = callout_now(base);
	base->scheme = ops->create(&p);
	if (IS_ERR(base->scheme)) {
		ret = PTR_ERR(base->scheme);
		goto err_base;
	}
	raw_spin_lock_init(&base->lock);
	ret = callout_base_reserve(base, EMBEDDED_ROOM);
	if (!ret && tick->under)
		ret = callout_chip_create(base, &p);
	if (ret)
		goto err_scheme;
	base->index = index;
	base->cpu = index;
	base->online = index == nr_cpu_ids;
	base->direct = ops == &callout_hashed_wheel && !tick->filed;
	INIT_LIST_HEAD(&base->due);
	INIT_LIST_HEAD(&base->put_off);
	base->armed = U64_MAX;
#ifdef CONFIG_PREEMPT_RT
	spin_lock_init(&base->expiry_lock);
#else
	init_waitqueue_head(&base->wait);
#endif
	tasklet_setup(&base->again, callout_again);
	tick->init(base);
	/* Pairs with the READ_ONCE()s of callout_bases[]. */
	smp_store_release(&callout_bases[index], base);
	return base;

err_scheme:
	ops->destroy(base->scheme);
err_base:
	kfree(base);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_create);

/**
 * callout_base_kill - ends expiry on a base, for good
 * @base: the base
 *
 * What is pending stays pending and does not run. A handler that is running
 * returns first; what it arms, here or on another base that is not freed yet,
 * is filed and does not run. Nothing programs the tick source again: armed is
 * 0, lower than any expiry, and callout_program_next() leaves it so.
 *
 *	CPU0: unload				CPU1
 *						callout_expire() yields: the
 *						tasklet is scheduled
 *	lock(base): dead, armed = 0
 *	unlock(base)
 *	shuts the tick source down
 *	tasklet_kill() waits for the tasklet
 *						callout_expire(): lock(base):
 *						dead: runs and programs nothing
 *	frees the base
 *
 * Context: Process context, may sleep.
 */
void callout_base_kill(struct callout_base *base)
{
	raw_spin_lock_irq(&base->lock);
	base->dead = true;
	base->armed = 0;
	raw_spin_unlock_irq(&base->lock);
	base->tick->shutdown(base);
	tasklet_kill(&base->again);
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_kill);

/**
 * callout_base_destroy - frees a base that nobody uses any more
 * @base: the base, dead
 *
 * Context: Process context, may sleep.
 * Return: how many callouts were still pending. They are forgotten: their
 * memory, which may be gone with the module that set them, is not touched.
 */
u64 callout_base_destroy(struct callout_base *base)
{
	u64 left = base->pending;

	callout_bases[base->index] = NULL;
	callout_chip_destroy(base);
	base->scheme->ops->destroy(base->scheme);
	kfree(base);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_destroy);

/**
 * callout_base_reserve - has a base's scheme make room for a table's callouts
 * @base: the base
 * @n: how many more may be filed there
 *
 * The scheme is asked only for what is more than ever before, so that tables
 * that come and go do not add up. Callouts that hotplug or a steal of slots
 * moves to another base have no room there: they are filed all the same.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int callout_base_reserve(struct callout_base *base, unsigned int n)
{
	struct callout_scheme *s = base->scheme;
	unsigned int more;
	int ret;

	if (!s->ops->reserve)
		return 0;
	raw_spin_lock_irq(&base->lock);
	base->slots += n;
	more = base->slots > base->room ? base->slots - base->room : 0;
	base->room += more;
	raw_spin_unlock_irq(&base->lock);
	if (!more)
		return 0;
	ret = s->ops->reserve(s, more);
	if (ret) {
		raw_spin_lock_irq(&base->lock);
		base->slots -= n;
		base->room -= more;
		raw_spin_unlock_irq(&base->lock);
	}
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_reserve);

/**
 * callout_base_unreserve - a table that has reserved is gone
 * @base: the base
 * @n: how many it had reserved
 *
 * Context: Process context.
 */
void callout_base_unreserve(struct callout_base *base, unsigned int n)
{
	if (!base->scheme->ops->reserve)
		return;
	raw_spin_lock_irq(&base->lock);
	base->slots -= n;
	raw_spin_unlock_irq(&base->lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_unreserve);

/* A single base is number 0, which all CPUs have from the start. */
static void callout_single_prepare(struct callout_base *base)
{
	unsigned int cpu;

	base->cpu = callout_home_cpu();
	for_each_possible_cpu(cpu)
		callout_bases[cpu] = base;
}

static int callout_cpu_prepare(unsigned int cpu)
{
	struct callout_scheme_params params = the_params;
	struct callout_base *base = callout_bases[cpu];

	if (base)
		return 0;
	params.node = cpu_to_node(cpu);
	base = callout_base_create(single_base ? 0 : cpu, the_tick, the_scheme,
				   &params);
	if (IS_ERR(base))
		return PTR_ERR(base);
	if (single_base)
		callout_single_prepare(base);
	return 0;
}

/* The CPU that is to drive a single base when @cpu goes: the next one. */
static unsigned int callout_driver_after(unsigned int cpu)
{
	unsigned int other;

	for_each_cpu_wrap(other, cpu_online_mask, cpu)
		if (other != cpu && housekeeping_cpu(other, HK_TYPE_TIMER))
			return other;
	return cpumask_any_but(cpu_online_mask, cpu);
}

/*
 * Runs on the CPU: from here on others may arm callouts there, or not. A single
 * base stays online. If its timer is at work on this CPU just now, it may start
 * on the other one as well: callout_expire() lets one of them in.
 */
static int callout_cpu_set_online(unsigned int cpu, bool online)
{
	struct callout_base *base = callout_bases[cpu];

	if (WARN_ON(!base))
		return -EINVAL;
	raw_spin_lock_irq(&base->lock);
	/* callout_arm_slow() looks without the lock, then again with it. */
	WRITE_ONCE(base->online, online || single_base);
	if (!online && single_base && base->cpu == cpu) {
		base->cpu = callout_driver_after(cpu);
		if (base->armed && base->armed != U64_MAX)
			callout_program(base, base->armed);
	}
	raw_spin_unlock_irq(&base->lock);
	return 0;
}

static int callout_cpu_online(unsigned int cpu)
{
	return callout_cpu_set_online(cpu, true);
}

static int callout_cpu_offline(unsigned int cpu)
{
	return callout_cpu_set_online(cpu, false);
}

/* Moves up to a budget of what the dead @from has to @to, both locked. */
static bool callout_take_over(struct callout_base *from,
			      struct callout_base *to)
	__must_hold(&from->lock) __must_hold(&to->lock)
{
	unsigned int budget = CALLOUT_BUDGET;
	struct callout_node *n;
	LIST_HEAD(taken);
	bool more;

	/* The due list first: as far as order can be kept, it is. */
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
		if (from->tick->unfiled && !(n->state & CALLOUT_S_DUE))
			from->tick->unfiled(from, n->expires);
		/* It goes home at its next arm, see callout_arm_slow(). */
		callout_change_state(n, CALLOUT_S_DUE | CALLOUT_S_RAN |
				     CALLOUT_S_AWAY, to->index == n->home ?
				     0 : CALLOUT_S_AWAY);
		from->pending--;
		/* Pairs with the READ_ONCE() in callout_lock(). */
		WRITE_ONCE(n->cpu, to->index);
		callout_start_locked(to, n, n->expires);
	}
	return more;
}

/*
 * The CPU is dead, and nobody arms callouts there but handlers that run. Its
 * hrtimer has moved to a live CPU, and what that could not finish goes on in a
 * tasklet, there. So that no callout changes its base while its handler runs,
 * the tasklet stays out meanwhile:
 *
 *	CPU0: tasklet of base 1			CPU2: CPU1 is dead
 *	running = c, unlock(base 1)
 *	handler sets c again: it runs,
 *	so it stays in base 1
 *						moves c to base 2
 *						callout_drain(c): lock(base 2),
 *						which does not run c: returns
 *						frees c
 *	handler goes on with c
 */
static int callout_cpu_dead(unsigned int cpu)
{
	struct callout_base *from = callout_bases[cpu], *to;
	bool more;

	/* cpuhp_setup_state() has failed on another CPU and undoes this one. */
	if (cpu_online(cpu) || single_base || !from)
		return 0;

	/* See above; a tasklet that is to run finds nothing afterwards. */
	tasklet_disable(&from->again);
	/* Nobody is left who could program it. */
	from->tick->shutdown(from);
	do {
		/* What is overdue runs when softirqs are on: jiffies_program(). */
		local_bh_disable();
		local_irq_disable();
		/* Hotplug is under way: all that are online stay so. */
		to = callout_base(callout_home_cpu());
		raw_spin_lock(&to->lock);
		raw_spin_lock_nested(&from->lock, SINGLE_DEPTH_NESTING);
		write_seqcount_begin(&callout_moves);
		more = callout_take_over(from, to);
		write_seqcount_end(&callout_moves);
		if (!more)
			from->armed = U64_MAX;
		raw_spin_unlock(&from->lock);
		raw_spin_unlock(&to->lock);
		local_irq_enable();
		local_bh_enable();
		cond_resched();
	} while (more);
	tasklet_enable(&from->again);
	from->tick->init(from);
	return 0;
}

/*
 * Makes the bases of the CPUs that are up, and has those of others made, or
 * taken over, when they come or go.
 *
 * Kernels before 6.10, 6.9.8, 6.6.37 and 6.1.97 do not call a startup of
 * CPUHP_BP_PREPARE_DYN for CPUs that are up, and report success.
 */
static int callout_cpus_prepare(void)
{
	unsigned int cpu;
	int ret;

	ret = cpuhp_setup_state_cpuslocked(CPUHP_BP_PREPARE_DYN,
					   "callout:prepare",
					   callout_cpu_prepare,
					   callout_cpu_dead);
	if (ret < 0)
		return ret;
	prepare_state = ret;
	for_each_online_cpu(cpu) {
		ret = callout_cpu_prepare(cpu);
		if (ret)
			return ret;
	}
	/* DEFINE_CALLOUT() needs it even where CPU 0 can be absent. */
	return callout_cpu_prepare(0);
}

/**
 * callout_core_init - makes the bases
 * @tick: the tick source for all of them
 * @ops: the scheme for all of them
 * @params: for the scheme's create; the time and the node are filled in
 * @single: one base for all CPUs
 *
 * Context: Module load, before any other function of this file.
 * Return: 0, -EINVAL if the scheme does not take @params, or another error.
 */
int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      const struct callout_scheme_params *params, bool single)
{
	int ret;

	/* callout.cpu is up to that. */
	if (nr_cpu_ids >= CALLOUT_CPU_MOVING)
		return -ERANGE;
	callout_bases = kcalloc(nr_cpu_ids + 1, sizeof(*callout_bases),
				GFP_KERNEL);
	if (!callout_bases)
		return -ENOMEM;
	the_tick = tick;
	the_scheme = ops;
	the_params = *params;
	single_base = single;
	/* In one piece, or the CPU that drives a single base could go unseen. */
	cpus_read_lock();
	ret = callout_cpus_prepare();
	if (!ret)
		ret = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN,
						   "callout:online",
						   callout_cpu_online,
						   callout_cpu_offline);
	cpus_read_unlock();
	if (ret < 0) {
		callout_core_exit();
		return ret;
	}
	online_state = ret;
	return 0;
}

/**
 * callout_core_exit - frees the bases
 *
 * Context: Module unload, when no one can call any other function.
 * Return: how many callouts were still pending. They do not run.
 */
u64 callout_core_exit(void)
{
	struct callout_base *base;
	unsigned int cpu;
	u64 left = 0;

	if (online_state)
		cpuhp_remove_state_nocalls(online_state);
	if (prepare_state)
		cpuhp_remove_state_nocalls(prepare_state);
	/* A handler that still runs on one base can arm on any of them. */
	for_each_possible_cpu(cpu) {
		base = callout_base_of(cpu);
		if (base)
			callout_base_kill(base);
	}
	/* Backwards: that of a single base comes last, when all have looked. */
	for (cpu = nr_cpu_ids; cpu--;) {
		base = callout_base_of(cpu);
		if (base)
			left += callout_base_destroy(base);
	}
	kfree(callout_bases);
	return left;
}

/**
 * callout_base_stats - what a base has done so far
 * @base: the base
 * @stats: its counters
 * @pending: how many callouts are pending
 */
void callout_base_stats(struct callout_base *base, struct callout_stats *stats,
			unsigned int *pending)
{
	raw_spin_lock_irq(&base->lock);
	/*
	 * Expiry counts wake-ups and slow handlers without the lock. A sum may
	 * miss the last one.
	 */
	*stats = data_race(base->stats);
	stats->visits = base->scheme->visits;
	stats->refiles = base->scheme->refiles;
	*pending = base->pending;
	raw_spin_unlock_irq(&base->lock);
}

/**
 * callout_all_stats - what all bases together have done so far
 * @sum: the counters
 */
void callout_all_stats(struct callout_stats *sum)
{
	struct callout_base *base;
	struct callout_stats one;
	unsigned int cpu, pending, i;
	u64 max_units;

	/* All members are u64. */
	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		base = callout_base_of(cpu);
		if (!base)
			continue;
		callout_base_stats(base, &one, &pending);
		max_units = max(sum->max_units, one.max_units);
		for (i = 0; i < sizeof(one) / sizeof(u64); i++)
			((u64 *)sum)[i] += ((u64 *)&one)[i];
		sum->max_units = max_units;
	}
}
