// SPDX-License-Identifier: GPL-2.0
/*
 * search.c - find a table's callouts with the scheme's find
 *
 * The facility before Costello's hash: a linear search of all bases. Used with
 * schemes that have a find, to measure what the hash gains.
 */
#include <linux/module.h>
#include <linux/seqlock.h>
#include "core/cpu.h"
#include "table.h"
#include "search.h"

DEFINE_STATIC_KEY_FALSE(callout_searches_key);

/* The key that co_table_search() looks for. */
struct table_key {
	struct callout_table *table;
	u64 func;
	u64 arg;
};

static bool table_match(struct callout_node *n, const void *data)
{
	const struct table_key *key = data;

	/* Test the kind first: only a slot has a place in the hash. */
	return n->kind == key->table->kind &&
	       n->place == CALLOUT_HASH_SEARCHED &&
	       co_slot_own(co_to_slot(n)) == key->func &&
	       co_to_slot(n)->arg == key->arg &&
	       co_slot_table(co_to_slot(n)) == key->table;
}

/* A match in a base that has been unlocked since. slot is NULL if there is no match. */
struct table_found {
	struct callout_slot *slot;
	u64 handle;
	u64 expires;
};

/* Search all bases, @home first. */
static struct table_found search_bases(struct callout_base *home,
				       const struct table_key *key)
{
	struct table_found found = { .expires = U64_MAX };
	struct callout_base *base;
	struct callout_node *n;
	unsigned int cpu;

	for_each_cpu_wrap(cpu, cpu_possible_mask, home->cpu) {
		/* NULL if the CPU has not been up; with bases=single, CPU 0's base. */
		base = co_base_sibling(home, cpu);
		if (!base || base->cpu != cpu)
			continue;
		co_base_lock(base);
		n = co_find_locked(base, table_match, key);
		if (n && n->expires < found.expires) {
			found.expires = n->expires;
			found.slot = co_to_slot(n);
			found.handle = found.slot->handle;
		}
		co_base_unlock(base);
	}
	return found;
}

/*
 * Lock the base of @found. Return NULL if @found is no longer pending for that
 * time. Here and below, sparse cannot follow a lock that is held conditionally.
 */
static struct callout_base *lock_found(struct table_found found)
{
	struct callout_base *base = co_lock_irqs_off(&found.slot->node);

	if (found.slot->handle == found.handle &&
	    found.slot->node.expires == found.expires &&
	    found.slot->node.state & CALLOUT_S_PENDING) {
		__release(&base->lock);
		return base;
	}
	co_base_unlock(base);
	return NULL;
}

/*
 * Find a pending callout by its function and argument. All bases are searched, each
 * with its lock held during its search. Interrupts are off.
 *
 * Of the callouts that are pending throughout the call, the first to expire is
 * found. Of callouts that expire together, a callout of this CPU is found before a
 * callout of another CPU, and on one CPU the first that was set. A callout that is
 * set, is cancelled or becomes due concurrently may be found or not.
 *
 * Return the slot, pending, and in @locked its base, locked. Return NULL with
 * nothing locked if there is none.
 */
struct callout_slot *co_table_search(struct callout_table *table,
				     u64 func, u64 arg,
				     struct callout_base **locked)
{
	struct callout_base *home = co_base_of(table->class, smp_processor_id());
	const struct table_key key = { table, func, arg };
	struct table_found found;
	unsigned int moves;

	for (;;) {
		moves = co_moves_read();
		found = search_bases(home, &key);
		*locked = found.slot ? lock_found(found) : NULL;
		if (likely(!co_moves_since(moves) && (*locked || !found.slot)))
			return found.slot;
		if (*locked) {
			__acquire(&(*locked)->lock);
			co_base_unlock(*locked);
		}
	}
}

/* From here on callouts are searched, if the scheme has a find. Called at module load. */
void co_table_search_init(void)
{
	if (co_base(0)->scheme->ops->find)
		static_branch_enable(&callout_searches_key);
}
