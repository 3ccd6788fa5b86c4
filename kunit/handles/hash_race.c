// SPDX-License-Identifier: GPL-2.0
/*
 * hash_race.c - suite callout_hash_race: untimeout() and a concurrent call
 *
 * untimeout() finds a callout in the hash, and then locks its base to cancel it. Here
 * the other call comes in between, also with other callouts of the same function and
 * argument. The case holds the lock for which untimeout() waits, and makes the other
 * call itself. So the order of the two calls does not depend on time.
 */
#include <linux/smp.h>
#include "lib/kernel_table.h"
#include "core/queue.h"
#include "handles/hash.h"
#include "handles/bucket.h"

#define MOST	9U

/* The call that comes in between. */
enum race_op {
	UNSET,
	UNSET_AND_SET,	/* the slot is reused for another callout of the key */
	UNSET_AND_REUSE, /* the slot is reused for another key, at the same tick */
	UNSET_AND_HANDLE, /* the slot is reused by setcallout(), so it is not in the hash */
	EXPIRE,		/* the handler is running */
	RESET,
	SET,
	SET_EARLIER,	/* on the other CPU */
};

static const char * const op_names[] = {
	[UNSET]		= "unset",
	[UNSET_AND_SET]	= "unset and set",
	[UNSET_AND_REUSE] = "unset and reuse",
	[UNSET_AND_HANDLE] = "unset and setcallout",
	[EXPIRE]	= "expire",
	[RESET]		= "reset",
	[SET]		= "set",
	[SET_EARLIER]	= "set earlier",
};

/**
 * struct race_row - a bucket, and a call
 * @n: the number of callouts of the key
 * @op: the call
 */
struct race_row {
	unsigned int n;
	enum race_op op;
};

static const struct race_row rows[] = {
	{ 1, UNSET }, { 2, UNSET }, { 3, UNSET }, { MOST, UNSET },
	{ 1, UNSET_AND_SET }, { 2, UNSET_AND_SET }, { 3, UNSET_AND_SET },
	{ MOST, UNSET_AND_SET },
	{ 1, UNSET_AND_REUSE }, { 2, UNSET_AND_REUSE }, { 3, UNSET_AND_REUSE },
	{ MOST, UNSET_AND_REUSE },
	{ 1, UNSET_AND_HANDLE }, { 2, UNSET_AND_HANDLE }, { 3, UNSET_AND_HANDLE },
	{ MOST, UNSET_AND_HANDLE },
	{ 1, EXPIRE }, { 2, EXPIRE }, { 3, EXPIRE }, { MOST, EXPIRE },
	{ 1, RESET }, { 2, RESET }, { 3, RESET }, { MOST, RESET },
	{ 1, SET }, { 2, SET }, { 3, SET }, { MOST, SET },
	{ 1, SET_EARLIER }, { 2, SET_EARLIER }, { MOST, SET_EARLIER },
};

static void row_desc(const struct race_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %u of the key",
		 op_names[row->op], row->n);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

/**
 * struct hash_race - callouts of one key; a thread on another CPU calls untimeout()
 * @runs: the argument of all callouts
 * @n: number of callouts
 * @handle: the callouts' handles, in order of expiry
 * @other: the handle of a callout that the hash does not find by this key, if there is one
 * @cpu: the thread's CPU
 * @begin: the thread may begin
 * @ret: the return value of its call
 */
struct hash_race {
	atomic_t runs;
	unsigned int n;
	u64 handle[MOST + 1];
	u64 other;
	unsigned int cpu;
	bool begin;
	int ret;
};

static void race_handler(void *arg)
{
	struct hash_race *r = arg;

	atomic_inc(&r->runs);
}

static void race_call(void *arg)
{
	struct hash_race *r = arg;

	callout_test_spin_until(callout_test_told(&r->begin));
	r->ret = callout_untimeout(race_handler, r);
}

static struct hash_race *race_create(struct kunit *test, unsigned int n)
{
	struct hash_race *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_EQ(test, 0, callout_reserve(n + 1));
	r->n = n;
	for (i = 0; i < n; i++)
		r->handle[i] = callout_timeout(race_handler, r,
					       CALLOUT_TEST_FAR + 100 * i);
	return r;
}

/* Cancel all callouts by their key: there are @n, in the order of @handle. */
static void race_end(struct kunit *test, struct hash_race *r,
		     const u64 *handle, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_NE(test, callout_test_expires(handle[i]), 0);
		KUNIT_EXPECT_EQ(test, callout_untimeout(race_handler, r), 1);
		KUNIT_EXPECT_EQ(test, callout_test_expires(handle[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, callout_untimeout(race_handler, r), -1);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->runs), 0);
}

/* Replaces co_dequeue_locked(), which calls functions that the module does not export. */
static void stop_locked(struct callout_base *base, struct callout_slot *slot)
	__must_hold(&base->lock)
{
	base->scheme->ops->stop(base->scheme, &slot->node);
	base->until_resize++;
	callout_change_state(&slot->node, CALLOUT_S_PENDING, 0);
}

/* Cancel a callout whose base is locked, as unsetcallout() does. */
static void unset_locked(struct callout_base *base, struct callout_slot *slot)
	__must_hold(&base->lock)
{
	stop_locked(base, slot);
	co_slot_release(co_kernel_table(), base, slot);
}

/* Set a callout in the slot that was freed last, as timeout() does. */
static u64 set_locked(struct callout_base *base, void *arg, u64 tick)
	__must_hold(&base->lock)
{
	struct callout_table *table = co_kernel_table();
	struct callout_slot *slot = co_slot_get(co_pool(table, base));

	/* As handle_set(): untimeout() may be reading them. */
	WRITE_ONCE(slot->func, race_handler);
	WRITE_ONCE(slot->arg, (unsigned long)arg);
	callout_change_state(&slot->node, 0, CALLOUT_S_PENDING);
	base->until_resize--;
	base->scheme->ops->start(base->scheme, &slot->node, co_now(base), tick);
	co_slot_set_own(slot, (unsigned long)race_handler);
	co_hash_insert(&table->hash, slot);
	return slot->handle;
}

/* Set a callout in another base, which is not locked. */
static u64 set_on(struct callout_base *base, void *arg, u64 tick)
{
	u64 handle;

	co_base_lock_nested(base);
	handle = set_locked(base, arg, tick);
	co_base_unlock(base);
	return handle;
}

/* Move a callout whose base is locked behind the others of its key, as resetcallout() does. */
static void reset_locked(struct callout_base *base, struct callout_slot *slot)
	__must_hold(&base->lock)
{
	struct callout_hash *hash = &co_kernel_table()->hash;
	struct callout_bucket_hold hold;

	co_hash_move_begin(hash, slot, &hold);
	co_scheme_move(base->scheme, &slot->node, co_now(base),
		       co_now(base) + 2 * CALLOUT_TEST_FAR);
	co_hash_move_end(hash, slot, &hold);
}

/*
 * The other CPU has found the first callout, and waits for the callout's base, which
 * is locked. Do @op to the callout. On return the other CPU may still cancel the
 * @r->n callouts of @r->handle.
 */
static void race_between(struct hash_race *r, struct callout_base *base,
			 struct callout_slot *slot, enum race_op op)
	__must_hold(&base->lock)
{
	u64 tick = slot->node.expires, later = co_now(base) + 3 * CALLOUT_TEST_FAR;
	struct callout_base *elsewhere;
	unsigned int i;

	switch (op) {
	case UNSET:
		unset_locked(base, slot);
		break;
	case UNSET_AND_SET:
		unset_locked(base, slot);
		r->handle[r->n++] = set_locked(base, r, later);
		break;
	case UNSET_AND_REUSE:
		unset_locked(base, slot);
		r->other = set_locked(base, &r->other, tick);
		break;
	case UNSET_AND_HANDLE:
		unset_locked(base, slot);
		r->other = set_locked(base, r, tick);
		co_slot_unhash(co_kernel_table(), slot);
		break;
	case EXPIRE:
		/* As at the start of the handler, until race_end_handler(). */
		stop_locked(base, slot);
		co_slot_unhash(co_kernel_table(), slot);
		callout_change_state(&slot->node, 0, CALLOUT_S_STARTED_HERE);
		base->running = &slot->node;
		break;
	case RESET:
		reset_locked(base, slot);
		for (i = 1; i < r->n; i++)
			swap(r->handle[i - 1], r->handle[i]);
		break;
	case SET_EARLIER:
		elsewhere = co_base_sibling(base, r->cpu);
		for (i = r->n++; i; i--)
			r->handle[i] = r->handle[i - 1];
		r->handle[0] = elsewhere == base ? set_locked(base, r, tick - 1) :
						   set_on(elsewhere, r, tick - 1);
		break;
	default:
		r->handle[r->n++] = set_locked(base, r, later);
	}
}

/* The end of the handler that EXPIRE has begun. */
static void race_end_handler(struct callout_base *base, struct callout_slot *slot)
{
	co_base_lock_irq(base);
	base->running = NULL;
	co_slot_put(co_kernel_table(), base, slot);
	co_base_unlock_irq(base);
}

/*
 * A callout that untimeout() has found is cancelled, expires, is moved or is reused
 * before untimeout() has locked its base. untimeout() cancels the callout that is then
 * the first of the key, and no other. While it waits the callout is in the hash, so
 * that another untimeout() does not return -1 although the callout will fire:
 *
 *	CPU0: untimeout(f, a)	CPU1: untimeout(f, a)	CPU2
 *	finds the callout
 *				finds it, waits too
 *							its handler starts
 *	it is not pending:	it is not pending:
 *	-1			-1
 */
static void race_in_untimeout(struct kunit *test)
{
	const struct race_row *row = test->param_value;
	unsigned int other = callout_test_pin_one(test);
	struct hash_race *r = race_create(test, row->n);
	struct callout_slot *slot = callout_test_slot(r->handle[0]);
	struct callout_base *base = co_base(slot->node.cpu);
	struct callout_test_thread *t;
	struct callout_slot *found;
	unsigned int gone, ended;
	bool waits;
	u64 handle;

	r->cpu = other;
	t = callout_test_thread(test, other, race_call, r);
	co_base_lock_irq(base);
	callout_test_tell(&r->begin);
	waits = callout_test_contended(base);
	found = co_hash_find(&co_kernel_table()->hash, (unsigned long)race_handler,
			     (unsigned long)r, &handle);
	if (waits)
		race_between(r, base, slot, row->op);
	co_base_unlock_irq(base);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_ASSERT_TRUE(test, waits);
	KUNIT_EXPECT_PTR_EQ(test, found, slot);
	gone = row->op < RESET;
	/* The next callout was cancelled, if there was one. */
	KUNIT_EXPECT_EQ(test, r->ret, gone && r->n == 1 ? -1 : 1);
	if (row->op == EXPIRE)
		race_end_handler(base, slot);
	if (row->op == UNSET_AND_SET)
		KUNIT_EXPECT_PTR_EQ(test, slot,
				    callout_test_slot(r->handle[row->n]));
	if (r->other)
		KUNIT_EXPECT_EQ(test, unsetcallout(r->other), 1);
	if (gone)
		KUNIT_EXPECT_EQ(test, callout_test_expires(r->handle[0]), 0);
	ended = min(r->n, gone + (r->ret == 1));
	race_end(test, r, r->handle + ended, r->n - ended);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE_PARAM(race_in_untimeout, row_gen_params),
	{}
};

static struct kunit_suite race_suite = {
	.name = "callout_hash_race",
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
