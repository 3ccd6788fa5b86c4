// SPDX-License-Identifier: GPL-2.0
/*
 * hash_fuzz.c - a fuzzer of module/handles/hash.c against kunit/lib/hash_model.c
 *
 * Where an operation exchanges a bucket's word, another CPU may do an operation
 * first, with another key, which often shares the bucket. Growth proceeds a unit
 * at a time, or as in the kernel.
 */
#include "lib/hash_model.h"
#include "mock_memory.h"

#define SLOTS	48U
#define KEYS	12U
/* No key: every key may be used. */
#define ANY	KEYS

static struct callout_test_hash *m;
static struct input *in;
/* The key of each slot; the key and slot of the current operation. */
static unsigned int key_of[SLOTS], busy, busy_slot;
static bool nested, growing;

/* A bucket that another CPU has locked, until it was read several times. */
static struct {
	unsigned long *bucket;
	unsigned long word;
	unsigned int looks;
} locked;

static unsigned int other_key(void)
{
	unsigned int key = input_below(in, KEYS);

	return key == busy ? (key + 1) % KEYS : key;
}

static void check_take(unsigned int key, bool take)
{
	u64 want = callout_test_hash_expect(m, key), got;

	got = take ? callout_test_hash_take(m, key) :
		     callout_test_hash_look(m, key);
	fuzz_assert(got == want, "key %u: handle %llu, not %llu", key, got, want);
	fuzz_assert(!take || !got || m->slot[got - 1].node.place == CALLOUT_HASH_OUT,
		    "handle %llu is in the hash", got);
}

/* Whatever slot was found before. */
static void check_again(unsigned int key, unsigned int i)
{
	u64 want = callout_test_hash_expect(m, key), got, func, arg;
	struct callout_slot *slot;

	callout_test_hash_key(key, &func, &arg);
	local_irq_disable();
	slot = co_hash_find_again(&m->hash, &m->slot[i], func, arg);
	local_irq_enable();
	got = slot ? slot->handle : 0;
	fuzz_assert(got == want, "key %u, slot %u: handle %llu, not %llu", key, i, got, want);
}

/* The slot comes after slots with its key and its new expiry. */
static void move(unsigned int i, unsigned int expires)
{
	callout_test_hash_move(m, i, expires);
	m->seq[i] = m->next_seq++;
}

/* Insert a slot. Some slots are inserted only if no other has their key. */
static void insert(unsigned int i, unsigned int key, unsigned int expires)
{
	bool there = callout_test_hash_expect(m, key);

	if (expires & 1)
		callout_test_hash_insert(m, i, key, expires);
	else
		fuzz_assert(callout_test_hash_insert_only(m, i, key, expires) !=
			    there, "key %u: inserted if there is one", key);
}

static void change(unsigned int i)
{
	unsigned int key = other_key();

	if (i == busy_slot)
		return;
	if (!nested)
		busy_slot = i;
	if (!m->seq[i]) {
		key_of[i] = key;
		if (!nested)
			busy = key;
		insert(i, key, input_below(in, 8));
		return;
	}
	if (key_of[i] == busy)
		return;
	if (!nested)
		busy = key_of[i];
	if (input_below(in, 2))
		callout_test_hash_remove(m, i);
	else
		move(i, input_below(in, 8));
}

static void one_op(void)
{
	unsigned int i = input_below(in, SLOTS), key;

	switch (input_below(in, 6)) {
	case 0 ... 2:
		change(i);
		break;
	default:
		key = other_key();
		if (!nested)
			busy = key;
		check_again(key, i);
		check_take(key, i & 3);
	}
}

static void grow_a_step(void)
{
	growing = true;
	if (callout_test_hash_bits(m) < 6)
		callout_test_hash_grow_a_step(m);
	growing = false;
}

/* Lock the key's bucket as another CPU. If the bucket has moved, lock the next table's bucket. */
static void lock(unsigned int key)
{
	struct callout_buckets *table = m->hash.table;
	u64 func, arg, value;

	callout_test_hash_key(key, &func, &arg);
	value = co_hash_value(&m->hash, func, arg);
	while (table->bucket[value >> table->shift] == CALLOUT_BUCKET_MOVING)
		table = table->next;
	locked.bucket = &table->bucket[value >> table->shift];
	locked.word = *locked.bucket;
	locked.looks = 1 + input_below(in, 4);
	*locked.bucket = CALLOUT_BUCKET_LOCKED;
}

static void unlock(void)
{
	if (locked.bucket)
		*locked.bucket = locked.word;
	locked.bucket = NULL;
}

/* Another CPU does something, with another key, whose lock is free. */
void mock_preempt(void)
{
	bool irqs_off = mock_irqs_off;

	if (locked.bucket) {
		if (!locked.looks--)
			unlock();
		return;
	}
	if (nested || !in || !input_left(in) || m->hash.dep_map.depth > 1)
		return;
	if (input_byte(in) < 192)
		return;
	/* If a bucket is locked, that CPU would wait. */
	if (m->hash.wait.raw_lock.held)
		return;
	nested = true;
	if (!growing && input_below(in, 8) == 0)
		grow_a_step();
	else
		one_op();
	nested = false;
	mock_irqs_off = irqs_off;
}

static unsigned int inserted(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < SLOTS; i++) {
		fuzz_assert(!m->seq[i] == (m->slot[i].node.place == CALLOUT_HASH_OUT),
			    "slot %u: %u", i, m->slot[i].node.place);
		n += !!m->seq[i];
	}
	return n;
}

static void top_op(void)
{
	unsigned int v = input_byte(in);

	busy = ANY;
	busy_slot = SLOTS;
	switch (v % 8) {
	case 0:
		grow_a_step();
		break;
	case 1:
		if (callout_test_hash_growing(m))
			break;
		growing = true;
		mock_allocations = v & 64 ? 0 : UINT_MAX;
		/* In a test, too few slots require growth. */
		if (v & 128)
			m->hash.grow_at = 0;
		co_hash_grow(&m->hash, GFP_KERNEL);
		mock_allocations = UINT_MAX;
		growing = false;
		break;
	case 2:
		if (callout_test_hash_growing(m))
			break;
		/* Compare only when alone: the count includes concurrent insertions. */
		nested = true;
		fuzz_assert(co_hash_count(&m->hash) == inserted(),
			    "count %u", co_hash_count(&m->hash));
		nested = false;
		break;
	case 3:
		lock(input_below(in, KEYS));
		one_op();
		unlock();
		break;
	default:
		one_op();
	}
	fuzz_assert(!m->hash.dep_map.depth, "a bucket is locked");
	fuzz_assert(atomic_read(&m->hash.crowded) >= 0, "crowded");
	mock_free_now();
	inserted();
}

static void fuzz_no_memory(unsigned int bits)
{
	struct callout_hash none;

	mock_allocations = 0;
	fuzz_assert(co_hash_init(&none, bits, GFP_KERNEL) == -ENOMEM, "made");
	mock_allocations = UINT_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	unsigned int key, bits;

	in = NULL;
	nested = false;
	growing = false;
	mock_irqs_off = false;
	mock_random = input_byte(&input);
	bits = 1 + input_below(&input, 3);
	fuzz_no_memory(bits);
	m = callout_test_hash_create(NULL, bits);
	fuzz_assert(co_hash_exists(&m->hash), "not made");
	in = &input;
	while (input_left(in))
		top_op();
	in = NULL;
	for (key = 0; key < KEYS; key++)
		while (callout_test_hash_expect(m, key))
			check_take(key, true);
	fuzz_assert(!inserted() && !atomic_read(&m->hash.crowded), "%d are left",
		    atomic_read(&m->hash.crowded));
	co_hash_destroy(&m->hash);
	mock_free_now();
	harness_free(m);
	return 0;
}
