// SPDX-License-Identifier: GPL-2.0
/*
 * base.c - the bases: one for each CPU, as CPUs come and go
 *
 * A base is made when its CPU first comes up and stays until the module goes.
 * While the CPU goes down, only code that runs on it still arms callouts there;
 * when it is dead, what was queued or due moves to the base of the CPU that
 * cleans up. That is the one place where two bases are locked at the
 * same time: the dead one's lock inside the live one's.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "core.h"
#include "kcompat.h"

struct callout_base **callout_bases;
EXPORT_SYMBOL_IF_KUNIT(callout_bases);

/* What bases are made with, also for CPUs that come later. */
static const struct callout_tick_source *the_tick;
static const struct callout_scheme_ops *the_scheme;
static unsigned int the_buckets;

static int prepare_state;
static int online_state;

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
	struct callout_base *base;

	base = kzalloc_node(sizeof(*base), GFP_KERNEL, params->node);
	if (!base)
		return ERR_PTR(-ENOMEM);
	base->scheme = ops->create(params);
	if (IS_ERR(base->scheme)) {
		void *err = ERR_CAST(base->scheme);

		kfree(base);
		return err;
	}
	raw_spin_lock_init(&base->lock);
	base->index = index;
	base->online = index == nr_cpu_ids;
	INIT_LIST_HEAD(&base->due);
	base->armed = U64_MAX;
	init_waitqueue_head(&base->wait);
	tasklet_setup(&base->again, callout_again);
	base->tick = tick;
	tick->init(base);
	/* Pairs with the READ_ONCE()s of callout_bases[]. */
	smp_store_release(&callout_bases[index], base);
	return base;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_create);

/**
 * callout_base_destroy - frees a base that nobody uses any more
 * @base: the base
 *
 * Context: Process context, may sleep.
 * Return: how many callouts were still pending. They are forgotten: their
 * handlers are not called, and their memory, which may be gone with the
 * module that set them, is not touched.
 */
u64 callout_base_destroy(struct callout_base *base)
{
	u64 left = base->pending;

	base->tick->shutdown(base);
	tasklet_kill(&base->again);
	callout_bases[base->index] = NULL;
	base->scheme->ops->destroy(base->scheme);
	kfree(base);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(callout_base_destroy);

static int callout_cpu_prepare(unsigned int cpu)
{
	struct callout_scheme_params params = {
		.buckets = the_buckets,
		.node = cpu_to_node(cpu),
	};
	struct callout_base *base = callout_bases[cpu];

	if (!base)
		base = callout_base_create(cpu, the_tick, the_scheme, &params);
	return PTR_ERR_OR_ZERO(base);
}

/* Runs on the CPU: from here on others may arm callouts there, or not. */
static int callout_cpu_set_online(unsigned int cpu, bool online)
{
	struct callout_base *base = callout_bases[cpu];

	raw_spin_lock_irq(&base->lock);
	base->online = online;
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
	struct callout *c;
	LIST_HEAD(taken);
	bool more;

	/* The due list first: as far as order can be kept, it is. */
	while (budget && !list_empty(&from->due)) {
		budget--;
		list_move_tail(from->due.next, &taken);
	}
	more = !budget || from->scheme->ops->take(from->scheme, &budget,
						  &taken);
	while (!list_empty(&taken)) {
		c = list_first_entry(&taken, struct callout, entry);
		list_del(&c->entry);
		c->state &= ~CALLOUT_S_DUE;
		from->pending--;
		/* Pairs with the READ_ONCE() in callout_lock(). */
		WRITE_ONCE(c->cpu, to->index);
		callout_start_locked(to, c, c->expires);
	}
	return more;
}

/* The CPU is dead: no handler runs on it, and nobody arms callouts there. */
static int callout_cpu_dead(unsigned int cpu)
{
	struct callout_base *from = callout_bases[cpu], *to;
	bool more;

	/* cpuhp_setup_state() has failed on another CPU and undoes this one. */
	if (cpu_online(cpu))
		return 0;

	/*
	 * A timer may have moved to a live CPU, and a handler may run there, also
	 * after this, from the tasklet. It is not pending, so it is not moved.
	 */
	from->tick->shutdown(from);
	do {
		local_irq_disable();
		to = callout_base(smp_processor_id());
		raw_spin_lock(&to->lock);
		raw_spin_lock_nested(&from->lock, SINGLE_DEPTH_NESTING);
		more = callout_take_over(from, to);
		if (!more)
			from->armed = U64_MAX;
		raw_spin_unlock(&from->lock);
		raw_spin_unlock(&to->lock);
		local_irq_enable();
	} while (more);
	from->tick->init(from);
	return 0;
}

/**
 * callout_core_init - makes the bases
 * @tick: the tick source for all of them
 * @ops: the scheme for all of them
 * @buckets: number of buckets of each
 *
 * Context: Module load, before any other function of this file.
 * Return: 0, -EINVAL if the scheme does not take @buckets, or another error.
 */
int callout_core_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      unsigned int buckets)
{
	int ret;

	callout_bases = kcalloc(nr_cpu_ids + 1, sizeof(*callout_bases),
				GFP_KERNEL);
	if (!callout_bases)
		return -ENOMEM;
	the_tick = tick;
	the_scheme = ops;
	the_buckets = buckets;
	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "callout:prepare",
				callout_cpu_prepare, callout_cpu_dead);
	if (ret < 0)
		goto err;
	prepare_state = ret;
	/* DEFINE_CALLOUT() needs it even where CPU 0 can be absent. */
	if (!callout_bases[0]) {
		ret = callout_cpu_prepare(0);
		if (ret)
			goto err;
	}
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "callout:online",
				callout_cpu_online, callout_cpu_offline);
	if (ret < 0)
		goto err;
	online_state = ret;
	return 0;

err:
	callout_core_exit();
	return ret;
}

/**
 * callout_core_exit - frees the bases
 *
 * Context: Module unload, when no one can call any other function.
 * Return: how many callouts were still pending. They do not run.
 */
u64 callout_core_exit(void)
{
	unsigned int cpu;
	u64 left = 0;

	if (online_state)
		cpuhp_remove_state_nocalls(online_state);
	if (prepare_state)
		cpuhp_remove_state_nocalls(prepare_state);
	for_each_possible_cpu(cpu)
		if (callout_bases[cpu])
			left += callout_base_destroy(callout_bases[cpu]);
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
	*stats = base->stats;
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
	struct callout_stats one;
	unsigned int cpu, pending, i;
	u64 max_units;

	/* All members are u64. */
	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		if (!callout_bases[cpu])
			continue;
		callout_base_stats(callout_bases[cpu], &one, &pending);
		max_units = max(sum->max_units, one.max_units);
		for (i = 0; i < sizeof(one) / sizeof(u64); i++)
			((u64 *)sum)[i] += ((u64 *)&one)[i];
		sum->max_units = max_units;
	}
}
