// SPDX-License-Identifier: GPL-2.0
/*
 * base.c - bases: creating, freeing and locking them, programming their tick
 *
 * A node's cpu member says which base the node belongs to, and that base's lock
 * protects the node. Locking a node's base is therefore a loop, as in the kernel's
 * own lock_timer_base(): read the cpu, lock that base, check that the node still
 * belongs there.
 *
 * A node that is neither queued nor running can migrate. Migration takes two steps,
 * since no order exists between the locks of two bases:
 *
 *	CPU0: moves n from base 0 to base 2	CPU1: locks n's base
 *	lock(base 0), n.cpu == 0
 *	n.cpu = MOVING				reads n.cpu: MOVING, spins
 *	unlock(base 0)
 *	lock(base 2)
 *	n.cpu = 2				reads n.cpu: 2
 *	files n in base 2			waits for base 2
 *	unlock(base 2)				locks base 2
 *
 * CPU0 has interrupts off throughout, so CPU1 spins for a bounded time.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include "base.h"
#include "wheel/hashed_wheel.h"
#include "kcompat.h"
#include <trace/events/callout.h>

/* Room that a scheme reserves for callouts that belong to no table. */
#define EMBEDDED_CALLOUTS	1024U

struct callout_base **callout_bases;
EXPORT_SYMBOL_IF_KUNIT(callout_bases);

/* The base that co_lock() finds for a node that is migrating. No node belongs to it. */
struct callout_base callout_nowhere = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(callout_nowhere.lock),
	.index = U16_MAX,
};

/* co_lock() of a node that is migrating, or has just migrated. */
struct callout_base *co_lock_slow(struct callout_node *n)
	__acquires(&base->lock)
{
	struct callout_base *base;
	u32 cpu;

	for (;;) {
		cpu_relax();
		/* Pairs with the writes of n->cpu under the lock taken below. */
		cpu = READ_ONCE(n->cpu);
		if (cpu == CALLOUT_CPU_MOVING)
			continue;
		base = co_base(cpu);
		co_base_lock(base);
		/* Another CPU, holding another base's lock, may change n->cpu. */
		if (READ_ONCE(n->cpu) == cpu)
			return base;
		co_base_unlock(base);
	}
}
EXPORT_SYMBOL_IF_KUNIT(co_lock_slow);

/*
 * co_lock_home() when that base's CPU is not online: lock this CPU's base, which a CPU can
 * still use when it is coming up or going down.
 */
struct callout_base *co_lock_home_slow(struct callout_base *base)
	__acquires(&base->lock)
{
	base = co_base_sibling(base, smp_processor_id());
	co_base_lock(base);
	return base;
}

/*
 * Move @n, which is neither queued nor running, to @target, or to this CPU's base
 * if @target is offline. Unlock @base, and return the other base locked.
 */
struct callout_base *co_move_locked(struct callout_base *base,
				    struct callout_node *n,
				    struct callout_base *target)
	__must_hold(&base->lock)
{
	callout_change_state(n, CALLOUT_S_STARTED_HERE | CALLOUT_S_AWAY, 0);
	WRITE_ONCE(n->cpu, CALLOUT_CPU_MOVING);
	co_base_unlock(base);
	co_base_lock(target);
	if (unlikely(!target->online)) {
		co_base_unlock(target);
		target = co_base_sibling(target, smp_processor_id());
		co_base_lock(target);
	}
	WRITE_ONCE(n->cpu, target->index);
	if (target->index != n->home)
		callout_change_state(n, 0, CALLOUT_S_AWAY);
	return target;
}

/* co_rehome() when the base's CPU is offline. */
struct callout_base *co_rehome_slow(struct callout_base *base,
				    struct callout_node *n)
	__must_hold(&base->lock)
{
	return co_move_locked(base, n, co_base_sibling(base, co_home_cpu()));
}

/*
 * Program the tick source to wake the base at @tick, or at base->floor if that is later.
 * The caller holds the base's lock.
 */
void co_program(struct callout_base *base, u64 tick)
{
	if (tick < base->floor) {
		tick = base->floor;
		/* The floor has not changed since the source was programmed. */
		if (tick == base->armed)
			return;
	}
	/* A tick source may read base->armed without the lock. */
	WRITE_ONCE(base->armed, tick);
	base->tick->program(base, tick);
	trace_callout_tick_start(base->index, tick);
}

/*
 * Initialise an idle node of base @cpu. The node of a timer may be running, in its
 * present base. It must then go straight to its new base: in any base in between it
 * would seem not to run.
 *
 *	CPU3: the function of t, base 3		CPU1: shutdown_sync(t)
 *	timer_setup(t): t.cpu = 0
 *						lock(base 0), t.cpu == 0: t does
 *						not run: function = NULL
 *						unlock(base 0), frees t
 *	t.cpu = 3
 */
void co_setup(struct callout_node *n, enum callout_kind kind, u32 cpu)
{
	memset(n, 0, offsetof(struct callout_node, cpu));
	/* One store: co_lock() may read it concurrently. */
	WRITE_ONCE(n->cpu, cpu);
	n->home = cpu;
	n->bytes = 0;
	n->kind = kind;
}
EXPORT_SYMBOL_IF_KUNIT(co_setup);

/*
 * Make an empty base. @index is its place in callout_bases[]. Return an ERR_PTR
 * on failure. May sleep.
 */
struct callout_base *
co_base_create(unsigned int index, const struct callout_tick_source *tick,
	       u64 tick_ns, const struct callout_scheme_ops *ops,
	       const struct callout_scheme_params *params)
{
	struct callout_scheme_params p = *params;
	struct callout_base *base;
	int ret;

	base = kzalloc_node(sizeof(*base), GFP_KERNEL, p.node);
	if (!base)
		return ERR_PTR(-ENOMEM);
	base->tick = tick;
	base->tick_ns = tick_ns;
	p.now = co_now(base);
	base->scheme = ops->create(&p);
	if (IS_ERR(base->scheme)) {
		ret = PTR_ERR(base->scheme);
		goto err_base;
	}
	raw_spin_lock_init(&base->lock);
	ret = co_base_reserve(base, EMBEDDED_CALLOUTS);
	/* This may replace the operations of base->scheme. */
	if (!ret && tick->create)
		ret = tick->create(base, &p);
	if (ret)
		goto err_scheme;
	base->index = index;
	base->cpu = index % nr_cpu_ids;
	base->first = index - base->cpu;
	base->online = index == CALLOUT_INDEX_TEST;
	base->wheel = base->scheme->ops == &callout_hashed_wheel;
	INIT_LIST_HEAD(&base->due);
	INIT_LIST_HEAD(&base->put_off);
	base->armed = U64_MAX;
	base->resize_at = INT_MAX;
	base->until_resize = INT_MAX;
#ifdef CONFIG_PREEMPT_RT
	spin_lock_init(&base->expiry_lock);
#else
	init_waitqueue_head(&base->wait);
#endif
	base->jiffies = &jiffies_64;
	tasklet_setup(&base->again, co_again);
	tick->init(base);
	/* Pairs with each READ_ONCE() of callout_bases[]. */
	smp_store_release(&callout_bases[index], base);
	return base;

err_scheme:
	base->scheme->ops->destroy(base->scheme);
err_base:
	kfree(base);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(co_base_create);

/*
 * End expiry on a base permanently. Pending callouts stay pending and do not run. A
 * running handler returns first. A callout that it arms, here or on another base
 * that is not freed yet, is queued and does not run. Nothing programs the tick
 * source again: armed is 0, lower than any expiry, and expiry leaves it 0. May
 * sleep.
 *
 *	CPU0: unload				CPU1
 *						expiry yields: the tasklet is
 *						scheduled
 *	lock(base): dead, armed = 0
 *	unlock(base)
 *	shuts the tick source down
 *	tasklet_kill() waits for the tasklet
 *						expiry: lock(base): dead: runs
 *						and programs nothing
 *	frees the base
 */
void co_base_kill(struct callout_base *base)
{
	co_base_lock_irq(base);
	base->dead = true;
	base->attention = true;
	WRITE_ONCE(base->armed, 0);
	co_base_unlock_irq(base);
	base->tick->shutdown(base);
	tasklet_kill(&base->again);
}
EXPORT_SYMBOL_IF_KUNIT(co_base_kill);

/*
 * Free a dead base that has no user left, and return how many callouts were still
 * pending. The callouts' memory is not touched: it may be gone with the module that
 * set them. May sleep.
 */
u64 co_base_destroy(struct callout_base *base)
{
	u64 left = co_base_pending(base);

	callout_bases[base->index] = NULL;
	base->scheme->ops->destroy(base->scheme);
	kfree(base);
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(co_base_destroy);

/*
 * Reserve room in the base's scheme for @n more callouts of a table or, if @n is
 * negative, give room back. A callout that migrates to another base has no room there
 * and is queued all the same. Return 0, or -ENOMEM with nothing changed. May sleep.
 */
int co_base_reserve(struct callout_base *base, int n)
{
	struct callout_scheme *s = base->scheme;

	return s->ops->reserve ? s->ops->reserve(s, n) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(co_base_reserve);

#ifdef CONFIG_CALLOUT_LAB
/*
 * Find, among the pending nodes that @match accepts, the first to expire, or NULL.
 * This is the search before Costello's hash: it takes as long as the scheme's find
 * does, with the base locked and interrupts off throughout.
 */
struct callout_node *co_find_locked(struct callout_base *base,
				    callout_match_fn match, const void *data)
{
	struct callout_node *n;

	lockdep_assert_held(&base->lock);
	list_for_each_entry(n, &base->due, entry)
		if (match(n, data))
			return n;
	list_for_each_entry(n, &base->put_off, entry)
		if (match(n, data))
			return n;
	return base->scheme->ops->find(base->scheme, match, data);
}
EXPORT_SYMBOL_IF_KUNIT(co_find_locked);
#endif

/* Copy the base's counters and sizes. */
void co_base_stats(struct callout_base *base, struct callout_stats *stats)
{
	struct callout_wheel *w = to_wheel(base->scheme);

	co_base_lock_irq(base);
	/*
	 * Expiry counts wake-ups and slow handlers without the lock. A sum may miss
	 * the last of them.
	 */
	*stats = data_race(base->stats);
	stats->handlers = co_handlers(base);
	/* The wheel counts as visits only the entries that were not due. */
	stats->visits = base->scheme->visits +
			(base->wheel ? stats->handlers : 0);
	stats->requeues = base->scheme->requeues;
	stats->pending = co_base_pending(base);
	if (co_is_wheel(base)) {
		stats->buckets = w->ring.mask + 1;
		stats->old_buckets = w->old.bucket ? w->old.mask + 1 : 0;
	}
	co_base_unlock_irq(base);
}
EXPORT_SYMBOL_IF_KUNIT(co_base_stats);
