// SPDX-License-Identifier: GPL-2.0
/*
 * table_fuzz.c - a fuzzer of module/handles/table.c and search.c
 *
 * Some CPUs take and free slots of a small table, whose callouts are in lists of
 * the scheme sorted_list, or found by the hash. The bases are mocks. A model
 * has the live handles. These properties hold:
 *
 *  - a handle names its callout until that is freed, and no callout after that;
 *  - a slot is taken if and only if a slot is free, and it is of the base that is locked;
 *  - a lookup by key finds the first callout to expire;
 *  - no slot is lost or in two pools; room that was reserved is there.
 *
 * Where a lock is taken another CPU may free slots, or move pending callouts.
 */
#include "wheel/scheme.h"
#include "core/cpu.h"
#include "mock_memory.h"
#include "handles/table.h"
#include "handles/search.h"

#define LIVE	160U
#define STALE	64U
#define KEYS	4U

static struct callout_base bases[MOCK_CPUS];
static struct callout_base *base_list[MOCK_CPUS];
struct callout_base **callout_bases = base_list;
atomic_t callout_moves;

static struct callout_table table;
static struct input *in;
static bool nested;
static unsigned int reserved[MOCK_CPUS], reserve_fails;

/* Callouts that are pending. */
static struct {
	struct callout_slot *slot;
	u64 handle;
	unsigned int key;
} live[LIVE];
static unsigned int nr_live;
static u64 stale[STALE];
static unsigned int nr_stale;
/* Slots freed during a search, which may miss them. */
static unsigned int freed;

int co_base_reserve(struct callout_base *base, int n)
{
	if (n > 0 && reserve_fails && !--reserve_fails)
		return -ENOMEM;
	fuzz_assert((int)reserved[base->index] >= -n, "not reserved");
	reserved[base->index] += n;
	return 0;
}

void co_setup(struct callout_node *n, enum callout_kind kind, u32 cpu)
{
	memset(n, 0, sizeof(*n));
	n->kind = kind;
	n->cpu = cpu;
}

/* The node's base changed before the lock was taken. */
struct callout_base *co_lock_slow(struct callout_node *n)
{
	struct callout_base *base;

	for (;;) {
		base = co_base(READ_ONCE(n->cpu));
		co_base_lock(base);
		if (n->cpu == base->index)
			return base;
		co_base_unlock(base);
	}
}

static void node_moves(struct callout_base *from, struct callout_node *n,
		       struct callout_base *to)
{
	co_move_begin();
	from->scheme->ops->stop(from->scheme, n);
	n->cpu = to->index;
	to->scheme->ops->start(to->scheme, n, 0, n->expires);
	co_move_end();
}

/* The CPU is offline, so take the next base. */
struct callout_base *co_rehome_slow(struct callout_base *base,
				    struct callout_node *n)
{
	struct callout_base *to = base;

	while (!to->online)
		to = &bases[(to->index + 1) % MOCK_CPUS];
	co_base_unlock(base);
	co_base_lock(to);
	n->cpu = to->index;
	return to;
}

struct callout_node *co_find_locked(struct callout_base *base,
				    callout_match_fn match,
				    const void *data)
{
	lockdep_assert_held(&base->lock);
	return base->scheme->ops->find(base->scheme, match, data);
}

static void key_of(unsigned int key, u64 *func, u64 *arg)
{
	*func = 0xffffffff81000000ULL + 16 * (key & 1);
	*arg = key / 2;
}

/*
 * Take a slot for a callout of this CPU's base, as callout_set() does. For some keys,
 * take it as in a handler of that base, which may have the spare slot.
 */
static void take(unsigned int expires)
{
	struct callout_base *base = &bases[mock_cpu], *home = base;
	unsigned int key = input_below(in, KEYS), i;
	struct callout_pool *pool = co_pool(&table, base);
	struct callout_slot *slot;
	u64 func;

	if (nr_live == LIVE)
		return;
	local_irq_disable();
	co_base_lock(base);
	pool->runner = base->online && key & 1 ? current : NULL;
	slot = co_slot_get(co_pool(&table, base));
	if (slot) {
		base = co_rehome(base, &slot->node);
	} else {
		freed = 0;
		slot = co_slot_steal(&table, base);
		if (slot)
			base = co_base(slot->node.cpu);
	}
	pool->runner = NULL;
	lockdep_assert_held(&base->lock);
	if (!slot) {
		for (i = 0; i < MOCK_CPUS && !freed; i++)
			fuzz_assert(!per_cpu_ptr(table.pools, i)->count,
				    "not found, but CPU %u has some", i);
		co_base_unlock(home);
		local_irq_enable();
		return;
	}
	fuzz_assert(slot->node.cpu == base->index && base->online, "CPU %u",
		    slot->node.cpu);
	for (i = 0; i < nr_stale; i++)
		fuzz_assert(slot->handle != stale[i], "a handle is reused");
	key_of(key, &func, &slot->arg);
	co_slot_set_own(slot, func);
	slot->node.state = CALLOUT_S_PENDING;
	base->scheme->ops->start(base->scheme, &slot->node, 0, expires);
	co_table_put(&table, slot);
	live[nr_live].slot = slot;
	live[nr_live].key = key;
	live[nr_live++].handle = slot->handle;
	co_base_unlock(base);
	local_irq_enable();
}

static void dead(u64 handle)
{
	unsigned int i;

	for (i = 0; live[i].handle != handle; i++)
		fuzz_assert(i < nr_live, "%llx is not live", handle);
	if (nr_stale < STALE)
		stale[nr_stale++] = live[i].handle;
	else
		stale[live[i].handle % STALE] = live[i].handle;
	live[i] = live[--nr_live];
	freed++;
}

/* Cancel live[@i], with its base locked. */
static void release(struct callout_base *base, unsigned int i)
{
	struct callout_slot *slot = live[i].slot;
	u64 handle = live[i].handle;

	fuzz_assert(co_slot_table(slot) == &table, "another table");
	base->scheme->ops->stop(base->scheme, &slot->node);
	slot->node.state = 0;
	co_slot_release(&table, base, slot);
	fuzz_assert(slot->handle != handle, "the handle is valid");
	dead(handle);
}

static void cancel(unsigned int i)
{
	struct callout_slot *slot = co_table_lookup(&table, live[i].handle);
	unsigned int cpu = mock_cpu, left = nr_live;
	struct callout_base *base;
	u64 handle = live[i].handle;

	fuzz_assert(slot == live[i].slot, "another slot");
	local_irq_disable();
	base = co_lock_irqs_off(&slot->node);
	/* Another CPU may have been faster. */
	for (i = 0; i < nr_live && live[i].handle != handle; i++)
		;
	if (i < nr_live) {
		fuzz_assert(slot->handle == handle, "%llx, not %llx",
			    slot->handle, handle);
		release(base, i);
	} else {
		fuzz_assert(left > nr_live || slot->handle != handle,
			    "a handle is reused");
	}
	co_base_unlock(base);
	local_irq_enable();
	mock_cpu = cpu;
}

/* Give the slot its last generation: it is used once more, and then never again. */
static void age(unsigned int i)
{
	struct callout_slot *slot = live[i].slot;

	slot->handle |= CALLOUT_GEN_MAX << CALLOUT_SLOT_BITS;
	live[i].handle = slot->handle;
}

static void cancel_by_key(void)
{
	unsigned int key = input_below(in, KEYS), i;
	u64 func, arg, handle = 0, first = U64_MAX;
	struct callout_base *base = NULL;
	struct callout_slot *slot;
	bool found = false;

	key_of(key, &func, &arg);
	local_irq_disable();
	if (!co_searches()) {
		slot = co_hash_find(&table.hash, func, arg, &handle);
		if (slot)
			base = co_lock_irqs_off(&slot->node);
	} else {
		slot = co_table_search(&table, func, arg, &base);
	}
	for (i = 0; i < nr_live; i++)
		if (live[i].key == key)
			first = min(first, live[i].slot->node.expires);
	fuzz_assert(slot ? co_searches() ? slot->node.expires <= first :
		    true : first == U64_MAX || nr_live > LIVE, "not the first");
	for (i = 0; slot && i < nr_live; i++) {
		if (live[i].slot != slot || (handle && live[i].handle != handle))
			continue;
		fuzz_assert(live[i].key == key, "another key");
		release(base, i);
		found = true;
		break;
	}
	/* A callout that a search finds is pending, and its base is locked. */
	fuzz_assert(found || !slot || !co_searches(), "free: %llx",
		    slot->handle);
	if (base && (slot || !co_searches()))
		co_base_unlock(base);
	local_irq_enable();
}

/* A number that is no handle, or a stale one, names nothing. */
static void look_up(void)
{
	u64 handle = nr_stale ? stale[input_below(in, nr_stale)] : 0;
	struct callout_slot *slot;

	if (input_below(in, 2))
		handle ^= 1ULL << input_below(in, 64);
	if (co_table_slot_of(&table, handle, true, &slot) && slot->handle == handle) {
		unsigned int i;

		/* A made-up number may be the handle of a free slot. */
		for (i = 0; i < nr_stale; i++)
			fuzz_assert(stale[i] != handle, "a stale handle");
	}
}

static void grow(void)
{
	unsigned int chunks = input_below(in, 3), before = table.nr_chunks;
	int ret;

	reserve_fails = input_below(in, 4);
	mock_allocations = input_below(in, 4) ?: UINT_MAX;
	ret = co_table_grow(&table, mock_cpu, chunks, chunks == 1 ? before : UINT_MAX,
			    GFP_KERNEL);
	if (mock_allocations == UINT_MAX && !reserve_fails)
		fuzz_assert(!ret || table.nr_chunks == table.max_chunks ||
			    !table.reserve_optional, "%d", ret);
	fuzz_assert(ret || table.nr_chunks == before + chunks, "%u chunks",
		    table.nr_chunks);
	fuzz_assert(ret != -ENOSPC || table.nr_chunks == table.max_chunks,
		    "%d", ret);
	mock_allocations = UINT_MAX;
	reserve_fails = 0;
}

static void reserve(void)
{
	unsigned int n = input_below(in, 256), before, room, i;
	int ret;

	room = (table.max_chunks - table.nr_chunks) * CALLOUT_CHUNK_SLOTS;
	for (i = 0; i < MOCK_CPUS; i++)
		room += per_cpu_ptr(table.pools, i)->count;
	mock_allocations = input_below(in, 4) ?: UINT_MAX;
	before = nr_live;
	ret = co_table_reserve(&table, &bases[mock_cpu], n);
	if (!ret)
		fuzz_assert(co_pool(&table, &bases[mock_cpu])->count >= n ||
			    table.nr_chunks == table.max_chunks, "no room for %u", n);
	if (ret == -ENOSPC && nr_live == before)
		fuzz_assert(room < n + (table.keeps_spare ?
				table.max_chunks : 0), "%u, room for %u", n, room);
	mock_allocations = UINT_MAX;
}

/* Another CPU frees a slot, or a pending callout moves to another base. */
static void another_cpu(void)
{
	unsigned int v = input_byte(in), to = v / 8 % MOCK_CPUS, i;
	struct callout_base *base;

	if (!nr_live)
		return;
	i = v / 2 % nr_live;
	base = &bases[live[i].slot->node.cpu];
	if (base->lock.raw_lock.held)
		return;
	base->lock.raw_lock.held++;
	mock_locks++;
	if (v & 1)
		release(base, i);
	else if (to != base->index && !bases[to].lock.raw_lock.held)
		node_moves(base, &live[i].slot->node, &bases[to]);
	base->lock.raw_lock.held--;
	mock_locks--;
}

void mock_preempt(void)
{
	bool irqs_off = mock_irqs_off;

	if (nested || !in || !input_left(in) || table.hash.dep_map.depth ||
	    input_byte(in) < 192)
		return;
	nested = true;
	mock_irqs_off = true;
	another_cpu();
	mock_irqs_off = irqs_off;
	nested = false;
}

/* Each slot is in one place. */
static void check(void)
{
	unsigned int i, n, sum = nr_live + atomic_read(&table.retired);
	struct callout_pool *pool;
	struct callout_slot *slot;

	fuzz_assert(!mock_locks && !mock_irqs_off, "locks are held");
	for (i = 0; i < MOCK_CPUS; i++) {
		pool = per_cpu_ptr(table.pools, i);
		n = 0;
		for (slot = pool->free; slot; slot = (void *)slot->node.word[0]) {
			fuzz_assert(slot->node.cpu == i, "of CPU %u, not %u",
				    slot->node.cpu, i);
			n++;
		}
		fuzz_assert(n == pool->count, "%u, not %u", n, pool->count);
		sum += n + !!pool->spare;
		fuzz_assert(!bases[i].scheme->ops->check(bases[i].scheme),
			    "CPU %u", i);
	}
	fuzz_assert(sum == table.nr_chunks * CALLOUT_CHUNK_SLOTS,
		    "%u slots, not %zu", sum,
		    (size_t)table.nr_chunks * CALLOUT_CHUNK_SLOTS);
	for (i = 0; i < nr_live; i++)
		fuzz_assert(live[i].slot->handle == live[i].handle,
			    "the handle of live callout %u", i);
}

static void one_op(void)
{
	unsigned int v = input_byte(in), i, n;

	mock_cpu = input_below(in, MOCK_CPUS);
	freed = 0;
	switch (v % 16) {
	case 0 ... 3:
		/* Slots run out only if many are taken. */
		for (n = v / 16 * 4 + 1; n; n--)
			take(input_below(in, 16));
		break;
	case 4:
	case 5:
		for (n = v / 16 + 1; n && nr_live; n--)
			cancel(input_below(in, nr_live));
		break;
	case 6:
	case 7:
	case 8:
		cancel_by_key();
		break;
	case 9:
		grow();
		break;
	case 10:
		reserve();
		break;
	case 11:
		look_up();
		break;
	case 12:
		for (i = 0, n = 0; i < MOCK_CPUS; i++)
			n += bases[i].online;
		if (n > 1 || !bases[mock_cpu].online)
			bases[mock_cpu].online = !bases[mock_cpu].online;
		break;
	case 13:
		if (nr_live && !table.hash.table)
			age(input_below(in, nr_live));
		break;
	default:
		take(v / 16);
	}
	mock_free_now();
	check();
}

static void make_bases(void)
{
	struct callout_scheme_params p = { .node = NUMA_NO_NODE };
	unsigned int i;

	memset(bases, 0, sizeof(bases));
	memset(reserved, 0, sizeof(reserved));
	for (i = 0; i < MOCK_CPUS; i++) {
		bases[i].index = i;
		bases[i].cpu = i;
		bases[i].online = true;
		bases[i].scheme = callout_sorted_list.create(&p);
		base_list[i] = &bases[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	unsigned int v = input_byte(&input), i;
	bool searches = v & 1;

	in = NULL;
	nested = false;
	mock_irqs_off = false;
	mock_locks = 0;
	mock_cpu = 0;
	mock_random = v;
	nr_live = 0;
	nr_stale = 0;
	atomic_set(&callout_moves, 0);
	mock_allocations = UINT_MAX;
	reserve_fails = 0;
	make_bases();
	memset(&table, 0, sizeof(table));
	/* Use the settings of the kernel's table, or of the device's. */
	table.reserve_optional = v & 2;
	table.outlives_bases = v & 2;
	table.keeps_spare = v & 4;
	mock_allocations = 0;
	fuzz_assert(co_table_init(&table, CALLOUT_KIND_HANDLE, 1, GFP_KERNEL)
		    == -ENOMEM, "made");
	mock_allocations = UINT_MAX;
	fuzz_assert(!co_table_init(&table, CALLOUT_KIND_HANDLE,
				   1 + v * 4, GFP_KERNEL), "not made");
	callout_searches_key = false;
	if (searches)
		co_table_search_init();
	else
		fuzz_assert(!co_hash_init(&table.hash, 4, GFP_KERNEL),
			    "no hash");
	in = &input;
	check();
	while (input_left(in))
		one_op();
	in = NULL;
	while (nr_live)
		cancel(0);
	check();
	co_table_destroy(&table);
	for (i = 0; i < MOCK_CPUS; i++) {
		fuzz_assert(!reserved[i] || table.outlives_bases ||
			    table.reserve_optional, "room for %u is left", reserved[i]);
		callout_sorted_list.destroy(bases[i].scheme);
	}
	mock_free_now();
	return 0;
}
