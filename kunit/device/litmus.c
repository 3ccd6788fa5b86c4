// SPDX-License-Identifier: GPL-2.0
/*
 * litmus.c - suite callout_litmus_file: barriers of an open file's table
 *
 * Each case is the litmus test of the same name in selftests/litmus/, with the
 * module's own functions on both sides.
 */
#include <linux/err.h>
#include "device/file.h"
#include "handles/hash.h"
#include "lib/file.h"
#include "lib/litmus.h"
#include "handles/table.h"

#define SPREAD		3000U

static u64 file_set(struct callout_file *file)
{
	struct callout_op op = {
		.op = CALLOUT_OP_SET,
		.clockid = CLOCK_MONOTONIC,
		.time = 3600 * NSEC_PER_SEC,
	};

	return callout_test_file_do(file, &op) ? 0 : op.handle;
}

/* Replace @file, which may be NULL, by a new file. Return NULL if that fails. */
static struct callout_file *file_renew(struct callout_file *file)
{
	if (file)
		co_file_destroy(file);
	file = co_file_create();
	return IS_ERR(file) ? NULL : file;
}

#define LITMUS_BITS	4
#define STALE		8U
#define STEALS		16U

/**
 * struct on_file - a test on a file of the device
 * @file: the file
 * @handle: handle of a slot that does not exist yet
 * @stale: handles that no longer name anything
 * @early: side 1 has begun before side 0 was done
 */
struct on_file {
	struct callout_file *file;
	u64 handle;
	u64 stale[STALE];
	bool early;
};

static bool file_early(struct litmus *l)
{
	struct on_file *f = l->data;

	return f->early;
}

static void on_file_run(struct kunit *test, const struct litmus_ops *ops)
{
	struct on_file f = {};

	callout_litmus_run(test, ops, &f);
	if (f.file)
		co_file_destroy(f.file);
}

/* Make sure that the file's table can take one more chunk. */
static bool chunk_prepare(struct litmus *l)
{
	struct on_file *f = l->data;

	if (!f->file || f->file->table.nr_chunks == 60)
		f->file = file_renew(f->file);
	if (!f->file)
		return false;
	f->handle = f->file->table.first << CALLOUT_SLOT_BITS |
		    f->file->table.nr_chunks << CALLOUT_PLACE_BITS |
		    callout_test_below(&l->rng[0], CALLOUT_CHUNK_SLOTS);
	return true;
}

/* Use up exactly the chunk that the first SET adds. */
static void chunk_add(struct litmus *l)
{
	struct on_file *f = l->data;
	unsigned int i;

	for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
		l->wrong[0] += !file_set(f->file);
}

static void chunk_look(struct litmus *l)
{
	struct on_file *f = l->data;
	struct callout_table *table = &f->file->table;
	struct callout_slot *slot;

	f->early = !co_table_lookup(table, f->handle);
	l->wrong[1] += !callout_litmus_wait_until(co_table_lookup(table, f->handle));
	slot = co_table_lookup(table, f->handle);
	if (!slot)
		return;
	l->wrong[1] += READ_ONCE(slot->handle) != f->handle ||
		       co_slot_table(slot) != table;
}

static const struct litmus_ops chunk_ops = {
	.spread = SPREAD,
	.prepare = chunk_prepare,
	.side0 = chunk_add,
	.side1 = chunk_look,
	.seen = file_early,
};

/* A handle finds a slot in a chunk that was just added, and it is the right slot. */
static void litmus_chunk(struct kunit *test)
{
	on_file_run(test, &chunk_ops);
}

/**
 * struct made - a hash that is created while another CPU looks
 * @hash: the hash
 * @early: side 1 has begun before the hash was created
 */
struct made {
	struct callout_hash hash;
	bool early;
};

static bool hash_prepare(struct litmus *l)
{
	struct made *m = l->data;

	co_hash_destroy(&m->hash);
	memset(m, 0, sizeof(*m));
	return true;
}

static void hash_make(struct litmus *l)
{
	struct made *m = l->data;

	l->wrong[0] += co_hash_init(&m->hash, LITMUS_BITS, GFP_KERNEL) != 0;
}

/* Look first at the member that co_hash_init() writes last. */
static void hash_look(struct litmus *l)
{
	struct made *m = l->data;
	struct callout_hash *hash = &m->hash;
	unsigned long flags;
	u64 handle;

	m->early = !co_hash_exists(hash);
	l->wrong[1] += !callout_litmus_wait_until(co_hash_exists(hash));
	l->wrong[1] += !READ_ONCE(hash->grow_at) ||
		       !(READ_ONCE(hash->mul[1]) & 1) ||
		       !(READ_ONCE(hash->mul[0]) & 1);
	if (l->wrong[1])
		return;
	local_irq_save(flags);
	l->wrong[1] += !!co_hash_find(hash, 1, 2, &handle);
	local_irq_restore(flags);
}

static bool hash_seen(struct litmus *l)
{
	struct made *m = l->data;

	return m->early;
}

static const struct litmus_ops hash_ops = {
	.spread = 300,
	.prepare = hash_prepare,
	.side0 = hash_make,
	.side1 = hash_look,
	.seen = hash_seen,
};

/* A hash that was just created is complete. */
static void litmus_hash(struct kunit *test)
{
	struct made *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	callout_litmus_run(test, &hash_ops, m);
	co_hash_destroy(&m->hash);
}

/* The file has a chunk of slots, of which some have had another handle. */
static bool steal_prepare(struct litmus *l)
{
	struct on_file *f = l->data;
	struct callout_op op = { .op = CALLOUT_OP_CANCEL };
	unsigned int i;

	f->early = false;
	if (f->file)
		return true;
	f->file = file_renew(NULL);
	for (i = 0; f->file && i < STALE; i++)
		f->stale[i] = file_set(f->file);
	for (i = 0; f->file && i < STALE; i++) {
		op.handle = f->stale[i];
		if (callout_test_file_do(f->file, &op) != CALLOUT_STATE_PENDING)
			return false;
	}
	return f->file;
}

/* Do a stale cancel, and look at what it looks at with the base locked. */
static void steal_look(struct litmus *l)
{
	struct on_file *f = l->data;
	struct callout_op op = { .op = CALLOUT_OP_CANCEL };
	unsigned int i, turns, round = READ_ONCE(l->go);
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;

	for (i = 0; i < STALE || callout_test_counted(&l->done) != round; i++) {
		op.handle = f->stale[i % STALE];
		slot = co_table_lookup(&f->file->table, op.handle);
		if (READ_ONCE(slot->node.cpu) == CALLOUT_CPU_MOVING)
			f->early = true;
		base = co_lock(&slot->node, &flags);
		/* The slot belongs to the base until the base is unlocked. */
		for (turns = i % 64; turns; turns--)
			barrier();
		l->wrong[0] += READ_ONCE(slot->node.cpu) != base->index;
		co_unlock(base, flags);
		l->wrong[0] += callout_test_file_do(f->file, &op) != -ENOENT;
	}
}

/* Move free slots to one CPU's pool and back. */
static void steal_steal(struct litmus *l)
{
	struct on_file *f = l->data;
	struct callout_table *table = &f->file->table;
	struct callout_base *base;
	struct callout_slot *slot;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < STEALS; i++) {
		base = co_base_of(table->class, l->cpu[i % 2]);
		local_irq_save(flags);
		co_base_lock(base);
		slot = co_slot_steal(table, base);
		if (slot) {
			base = co_base(slot->node.cpu);
			co_pool_add(co_pool(table, base), slot);
		}
		l->wrong[1] += !slot;
		co_unlock(base, flags);
	}
}

static const struct litmus_ops steal_ops = {
	.spread = SPREAD,
	.prepare = steal_prepare,
	.side0 = steal_look,
	.side1 = steal_steal,
	.seen = file_early,
};

/* A slot that is being stolen stays in the base whose lock a cancel has taken. */
static void litmus_steal(struct kunit *test)
{
	on_file_run(test, &steal_ops);
}

static struct kunit_case litmus_file_cases[] = {
	KUNIT_CASE(litmus_chunk),
	KUNIT_CASE(litmus_hash),
	KUNIT_CASE(litmus_steal),
	{}
};

static struct kunit_suite litmus_file_suite = {
	.name = "callout_litmus_file",
	.test_cases = litmus_file_cases,
};

kunit_test_suite(litmus_file_suite);
