// SPDX-License-Identifier: GPL-2.0
/*
 * hash_model.c - a hash and a model of it: an array, searched from end to end
 */
#include <linux/irqflags.h>
#include "common.h"
#include "hash_model.h"

static struct callout_buckets *hash_table(struct callout_test_hash *m)
{
	return rcu_dereference_protected(m->hash.table, true);
}

unsigned int callout_test_hash_bits(struct callout_test_hash *m)
{
	return 64 - hash_table(m)->shift;
}

static void hash_destroy(void *data)
{
	co_hash_destroy(data);
}

struct callout_test_hash *callout_test_hash_create(struct kunit *test,
						   unsigned int bits)
{
	struct callout_test_hash *m;
	unsigned int i;

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	m->test = test;
	m->slots = CALLOUT_TEST_HASH_SLOTS;
	m->next_seq = 1;
	KUNIT_ASSERT_EQ(test, 0, co_hash_init(&m->hash, bits, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, hash_destroy,
							   &m->hash));
	for (i = 0; i < CALLOUT_TEST_HASH_SLOTS; i++) {
		m->slot[i].handle = i + 1;
		m->slot[i].node.state = CALLOUT_S_PENDING;
	}
	return m;
}

/* Replace the hash by an empty one. */
void callout_test_hash_restart(struct callout_test_hash *m, unsigned int bits)
{
	co_hash_destroy(&m->hash);
	memset(&m->hash, 0, sizeof(m->hash));
	memset(m->seq, 0, sizeof(m->seq));
	KUNIT_ASSERT_EQ(m->test, 0, co_hash_init(&m->hash, bits, GFP_KERNEL));
}

/* A key: functions and arguments that differ in a bit or two. */
void callout_test_hash_key(unsigned int key, u64 *func, u64 *arg)
{
	*func = 0xffffffff81000000UL + 16 * (key % 5);
	*arg = 0xffff888000000000UL + 64 * (key / 5);
}

/* Insert a slot. A slot that has fired stays fired. Return true if the hash should grow. */
bool callout_test_hash_insert(struct callout_test_hash *m, unsigned int i,
			      unsigned int key, u64 expires)
{
	struct callout_slot *slot = &m->slot[i];
	u64 func;
	bool grow;

	callout_test_hash_key(key, &func, &slot->arg);
	co_slot_set_own(slot, func);
	slot->node.expires = expires;
	local_irq_disable();
	grow = co_hash_insert(&m->hash, slot);
	local_irq_enable();
	m->seq[i] = m->next_seq++;
	return grow;
}

/* Insert a slot unless another slot has the key: then return false. */
bool callout_test_hash_insert_only(struct callout_test_hash *m, unsigned int i,
				   unsigned int key, u64 expires)
{
	struct callout_slot *slot = &m->slot[i];
	bool inserted;
	u64 func;

	callout_test_hash_key(key, &func, &slot->arg);
	co_slot_set_own(slot, func);
	slot->node.expires = expires;
	local_irq_disable();
	inserted = co_hash_insert_only(&m->hash, slot);
	local_irq_enable();
	if (inserted)
		m->seq[i] = m->next_seq++;
	return inserted;
}

void callout_test_hash_remove(struct callout_test_hash *m, unsigned int i)
{
	local_irq_disable();
	if (m->slot[i].node.place == CALLOUT_HASH_IN)
		co_hash_remove(&m->hash, &m->slot[i]);
	local_irq_enable();
	m->seq[i] = 0;
}

/* Change a slot's expiry. */
void callout_test_hash_move(struct callout_test_hash *m, unsigned int i,
			    u64 expires)
{
	struct callout_slot *slot = &m->slot[i];
	struct callout_bucket_hold hold;
	bool in = slot->node.place == CALLOUT_HASH_IN;

	local_irq_disable();
	if (in)
		co_hash_move_begin(&m->hash, slot, &hold);
	slot->node.state = CALLOUT_S_PENDING;
	slot->node.expires = expires;
	if (in)
		co_hash_move_end(&m->hash, slot, &hold);
	local_irq_enable();
}

/* Is @a before @b? Slots that have fired are first, by time, the others follow by tick. */
static bool model_before(const struct callout_slot *a, const struct callout_slot *b)
{
	bool fired = a->node.expires >= CALLOUT_SLOT_FIRED;
	bool other = b->node.expires >= CALLOUT_SLOT_FIRED;

	if (fired != other)
		return fired;
	return fired ? co_slot_fired(a) < co_slot_fired(b) :
		       a->node.expires < b->node.expires;
}

/* The first slot of @key, or NULL. With @pending, the first that has not fired. */
static struct callout_slot *model_first(struct callout_test_hash *m,
					unsigned int key, bool pending)
{
	struct callout_slot *slot, *found = NULL;
	u64 func, arg, seq = 0;
	unsigned int i;

	callout_test_hash_key(key, &func, &arg);
	for (i = 0; i < m->slots; i++) {
		slot = &m->slot[i];
		if (!m->seq[i] || co_slot_func(slot) != func ||
		    slot->arg != arg ||
		    (pending && !(slot->node.state & CALLOUT_S_PENDING)))
			continue;
		if (!found || model_before(slot, found) ||
		    (!model_before(found, slot) && m->seq[i] < seq)) {
			found = slot;
			seq = m->seq[i];
		}
	}
	return found;
}

/* Fire the callout of @key that is pending and due first, if there is one. */
void callout_test_hash_fire(struct callout_test_hash *m, unsigned int key,
			    u64 now)
{
	struct callout_slot *slot = model_first(m, key, true);

	if (!slot)
		return;
	slot->node.state = 0;
	co_slot_set_fired(slot, now);
}

/* The handle that a search for @key must find, or 0. */
u64 callout_test_hash_expect(struct callout_test_hash *m, unsigned int key)
{
	struct callout_slot *slot = model_first(m, key, false);

	return slot ? slot->handle : 0;
}

u64 callout_test_hash_take(struct callout_test_hash *m, unsigned int key)
{
	struct callout_slot *slot;
	u64 func, arg, handle = 0;

	callout_test_hash_key(key, &func, &arg);
	local_irq_disable();
	slot = co_hash_find(&m->hash, func, arg, &handle);
	if (slot && co_hash_take(&m->hash, co_hash_bucket(&m->hash, func, arg), slot, func,
				 arg) == slot)
		m->seq[handle - 1] = 0;
	else
		handle = 0;
	local_irq_enable();
	return handle;
}

u64 callout_test_hash_look(struct callout_test_hash *m, unsigned int key)
{
	u64 func, arg, handle = 0;

	callout_test_hash_key(key, &func, &arg);
	local_irq_disable();
	co_hash_find(&m->hash, func, arg, &handle);
	local_irq_enable();
	return handle;
}

bool callout_test_hash_growing(struct callout_test_hash *m)
{
	return hash_table(m)->next;
}

/* Do a step of growth. The first step begins growth, and the step after the last ends it. */
void callout_test_hash_grow_a_step(struct callout_test_hash *m)
{
	unsigned int bits = callout_test_hash_bits(m) + 2;

	if (!callout_test_hash_growing(m))
		KUNIT_ASSERT_TRUE(m->test,
				  co_hash_grow_begin(&m->hash, bits,
						     GFP_KERNEL));
	else if (!co_hash_grow_some(&m->hash, 1))
		co_hash_grow_end(&m->hash);
}
