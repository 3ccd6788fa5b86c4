// SPDX-License-Identifier: GPL-2.0
/*
 * hash_race.c - suite callout_hash_race: untimeout() and a concurrent call
 *
 * untimeout() takes a callout out of the hash, and then locks its base to cancel it.
 * Here the other call comes in between, also with other callouts of the same
 * function and argument. The case holds the lock for which one of the two calls
 * waits, and makes the other call itself. So the order of the two calls does not
 * depend on time.
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
	EXPIRE,		/* the handler is running */
	RESET,
	SET,
};

static const char * const op_names[] = {
	[UNSET]		= "unset",
	[UNSET_AND_SET]	= "unset and set",
	[EXPIRE]	= "expire",
	[RESET]		= "reset",
	[SET]		= "set",
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
	{ 1, EXPIRE }, { 2, EXPIRE }, { 3, EXPIRE }, { MOST, EXPIRE },
	{ 1, RESET }, { 2, RESET }, { 3, RESET }, { MOST, RESET },
	{ 1, SET }, { 2, SET }, { 3, SET }, { MOST, SET },
};

static void row_desc(const struct race_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %u of the key",
		 op_names[row->op], row->n);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

/**
 * struct hash_race - callouts of one key; a thread on another CPU makes a call
 * @runs: the argument of all callouts
 * @n: number of callouts
 * @handle: the callouts' handles, in order of expiry
 * @reset: the thread moves this callout; if 0 it calls untimeout()
 * @begin: the thread may begin
 * @ret: the return value of its call
 */
struct hash_race {
	atomic_t runs;
	unsigned int n;
	u64 handle[MOST + 1];
	u64 reset;
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
	r->ret = r->reset ? resetcallout(r->reset, 2 * CALLOUT_TEST_FAR) :
			    callout_untimeout(race_handler, r);
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

/* Set a callout of the key in the slot that was freed last, as timeout() does. */
static u64 set_locked(struct hash_race *r, struct callout_base *base)
	__must_hold(&base->lock)
{
	struct callout_table *table = co_kernel_table();
	struct callout_slot *slot = co_slot_get(co_pool(table, base));

	slot->func = race_handler;
	slot->arg = (unsigned long)r;
	callout_change_state(&slot->node, 0, CALLOUT_S_PENDING);
	base->until_resize--;
	base->scheme->ops->start(base->scheme, &slot->node, co_now(base),
				 co_now(base) + 3 * CALLOUT_TEST_FAR);
	co_slot_set_own(slot, (unsigned long)race_handler);
	co_hash_insert(&table->hash, slot);
	return slot->handle;
}

/*
 * The other CPU has taken the first callout out of the hash, and waits for the
 * callout's base, which is locked. Do @op to the callout. On return the other CPU
 * may still cancel the @r->n callouts of @r->handle.
 */
static void race_between(struct hash_race *r, struct callout_base *base,
			 struct callout_slot *slot, enum race_op op)
	__must_hold(&base->lock)
{
	switch (op) {
	case UNSET:
		unset_locked(base, slot);
		break;
	case UNSET_AND_SET:
		unset_locked(base, slot);
		r->handle[r->n++] = set_locked(r, base);
		break;
	case EXPIRE:
		/* As at the start of the handler, until race_end_handler(). */
		stop_locked(base, slot);
		co_slot_unhash(co_kernel_table(), slot);
		callout_change_state(&slot->node, 0, CALLOUT_S_STARTED_HERE);
		base->running = &slot->node;
		break;
	case RESET:
		/* The slot is not in the hash: it moves in its base only. */
		co_scheme_move(base->scheme, &slot->node, co_now(base),
			       co_now(base) + 2 * CALLOUT_TEST_FAR);
		break;
	default:
		r->handle[r->n++] = set_locked(r, base);
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
 * A callout that untimeout() has taken out of the hash is cancelled, expires, is moved
 * or is reused before untimeout() has locked its base. untimeout() cancels that
 * callout or, if it is no longer pending, the next callout of the key, and no other.
 */
static void race_in_untimeout(struct kunit *test)
{
	const struct race_row *row = test->param_value;
	unsigned int other = callout_test_pin_one(test), gone = 1;
	struct hash_race *r = race_create(test, row->n);
	struct callout_slot *slot = callout_test_slot(r->handle[0]);
	struct callout_base *base = co_base(slot->node.cpu);
	struct callout_test_thread *t;
	bool taken;

	t = callout_test_thread(test, other, race_call, r);
	co_base_lock_irq(base);
	callout_test_tell(&r->begin);
	taken = callout_test_clock_until(READ_ONCE(slot->node.place) ==
					 CALLOUT_HASH_OUT);
	if (taken)
		race_between(r, base, slot, row->op);
	co_base_unlock_irq(base);
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_ASSERT_TRUE(test, taken);
	KUNIT_EXPECT_EQ(test, callout_test_expires(r->handle[0]), 0);
	if (row->op == RESET || row->op == SET) {
		KUNIT_EXPECT_EQ(test, r->ret, 1);
	} else {
		/* The next callout was cancelled, if there was one. */
		KUNIT_EXPECT_EQ(test, r->ret, r->n > 1 ? 1 : -1);
		gone = min(2U, r->n);
	}
	if (row->op == EXPIRE)
		race_end_handler(base, slot);
	if (row->op == UNSET_AND_SET)
		KUNIT_EXPECT_PTR_EQ(test, slot,
				    callout_test_slot(r->handle[row->n]));
	race_end(test, r, r->handle + gone, r->n - gone);
}

/* The bucket of the key in the kernel's table, while the table's hash does not grow. */
static unsigned long *race_bucket(struct hash_race *r)
{
	return co_hash_bucket(&co_kernel_table()->hash,
			      (unsigned long)race_handler,
			      (unsigned long)r);
}

/* Does another CPU wait for a locked bucket? */
static bool race_waits(void)
{
	return raw_spin_is_locked(&co_kernel_table()->hash.wait);
}

/*
 * The bucket is locked with @word in it, and the other CPU waits for it. Take the
 * first callout of the key out, as untimeout() does, and return its @handle.
 */
static void race_take(struct hash_race *r, unsigned long *bucket,
		      unsigned long word, u64 *handle)
{
	struct callout_slot *slot = callout_test_slot(r->handle[0]);

	if (word != (unsigned long)&slot->link) {
		/* Unlocks, as co_hash_take() does. */
		smp_store_release(bucket, word);
		co_hash_take(&co_kernel_table()->hash, (unsigned long)race_handler,
			     (unsigned long)r, handle);
		return;
	}
	/* The slot is alone in the bucket: do as co_hash_take() does. */
	*handle = slot->handle;
	/* Pairs with co_slot_unhash(). */
	smp_store_release(&slot->node.place, CALLOUT_HASH_OUT);
	/* Unlocks. Pairs with the exchange that locks. */
	smp_store_release(bucket, 0);
}

static const unsigned int numbers[] = { 1, 2, 3, MOST };

static void number_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u of the key", *n);
}

KUNIT_ARRAY_PARAM(number, numbers, number_desc);

/*
 * A callout that is being moved has left the hash when its bucket is locked for the
 * move, because untimeout() was faster. It moves in its base only, so that
 * untimeout() cancels it, and the other callouts of the key stay.
 */
static void race_in_reset(struct kunit *test)
{
	unsigned int n = *(const unsigned int *)test->param_value;
	unsigned int other = callout_test_pin_one(test);
	struct hash_race *r = race_create(test, n);
	unsigned long *bucket, word;
	struct callout_test_thread *t;
	u64 handle = 0;
	bool waits;

	r->reset = r->handle[0];
	t = callout_test_thread(test, other, race_call, r);
	local_irq_disable();
	bucket = race_bucket(r);
	word = xchg_acquire(bucket, CALLOUT_BUCKET_LOCKED);
	callout_test_tell(&r->begin);
	waits = callout_test_clock_until(race_waits());
	race_take(r, bucket, word, &handle);
	local_irq_enable();
	KUNIT_ASSERT_TRUE(test, callout_test_join(t));
	KUNIT_EXPECT_TRUE(test, waits);
	KUNIT_EXPECT_EQ(test, r->ret, 1);
	if (handle != r->handle[0]) {
		/*
		 * With two or more callouts the lock is dropped first, and the move may
		 * be faster.
		 */
		KUNIT_EXPECT_EQ(test, handle, r->handle[1]);
		KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
		r->handle[n] = r->handle[0];
		race_end(test, r, r->handle + 2, n - 1);
		return;
	}
	KUNIT_EXPECT_EQ(test, unsetcallout(handle), 1);
	race_end(test, r, r->handle + 1, n - 1);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE_PARAM(race_in_untimeout, row_gen_params),
	KUNIT_CASE_PARAM(race_in_reset, number_gen_params),
	{}
};

static struct kunit_suite race_suite = {
	.name = "callout_hash_race",
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);
