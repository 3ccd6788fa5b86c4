// SPDX-License-Identifier: GPL-2.0
/*
 * top.c - who sets callouts: counts by handler and by program
 *
 * As the kernel's timer_stats did. Counting is on while anybody has asked for it,
 * and is done by probes of the module's own tracepoints: where it is off a
 * setting, a cancel and an expiry execute the same instructions as without it.
 *
 * A probe runs with the base of its callout locked, possibly in hard interrupt
 * context. It allocates nothing: the owners have room from the beginning, and one
 * that finds no more is counted with the others. No owner leaves the table before
 * it is freed, so a walk over the owners of a bucket needs no lock.
 *
 * How many callouts of an owner are pending is known if all were set since
 * counting began. Of one that was set earlier only the end is seen. The count is
 * never less than 0 for that, so it is never more than there are, and right from
 * when the owner has none pending.
 *
 * For that each end must be counted whose setting was: callout_start is the last
 * event to get its probe.
 *
 *	CPU0: callout_top_begin()		CPU1
 *	expire and cancel have probes
 *						callout_reset(c): not counted
 *	start has one
 *						callout_reset(d): pending 1
 *						callout_stop(c): pending 0, of
 *						two
 *						callout_stop(d): stays 0
 *
 * With start first, c could be counted when it is set and not when it is stopped:
 * one too many, from then on.
 */
#include <linux/atomic.h>
#include <linux/jhash.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <trace/events/callout.h>
#include "base/base.h"
#include "device/file.h"
#include "device/user.h"
#include "kcompat.h"
#include "handles/slot.h"
#include "top.h"

#define TOP_BUCKETS	256U

/* Programs cannot use up the room of handlers. */
enum top_kind {
	TOP_HANDLER,
	TOP_PROGRAM,
	TOP_KINDS,
};

/**
 * struct top_owner - whose callouts are counted together: a key, without padding
 * @func: the handler; NULL for callouts of files
 * @pid: the process that opened the file
 * @uid: its real user
 * @comm: its name then
 */
struct top_owner {
	callout_func_t *func;
	pid_t pid;
	uid_t uid;
	char comm[TASK_COMM_LEN];
};

static_assert(sizeof(struct top_owner) ==
	      sizeof(void *) + 2 * sizeof(u32) + TASK_COMM_LEN);

/* What is counted: see debugfs-callout in Documentation/ABI. */
struct top_counts {
	u64 armed;
	u64 cancelled;
	u64 expired;
	u64 pending;
	u64 late_ns;
	u64 max_late_ns;
};

/**
 * struct top_entry - the counts of one owner
 * @next: in the same bucket; does not change
 * @owner: whose; does not change
 * @counts: protected by the bucket's lock
 */
struct top_entry {
	struct top_entry *next;
	struct top_owner owner;
	struct top_counts counts;
};

/**
 * struct top_bucket - owners with the same hash
 * @lock: protects the counts, and insertions; nests inside a base's lock
 * @first: the entry that was added last
 */
struct top_bucket {
	raw_spinlock_t lock;
	struct top_entry *first;
};

/**
 * struct callout_top - the counts
 * @seed: of the hash: a program chooses its name
 * @used: entries in use of each kind, or taken in vain
 * @entry: the owners
 * @other: all that found no entry
 * @bucket: the owners by hash, and a bucket of each kind for @other
 */
struct callout_top {
	u32 seed;
	atomic_t used[TOP_KINDS];
	struct top_entry entry[TOP_KINDS][CALLOUT_TOP_OWNERS];
	struct top_entry other[TOP_KINDS];
	struct top_bucket bucket[TOP_BUCKETS + TOP_KINDS];
};

enum top_event {
	TOP_ARMED,
	TOP_MOVED,
	TOP_CANCELLED,
	TOP_EXPIRED,
};

static DEFINE_MUTEX(top_lock);	/* protects top and top_users */
static struct callout_top *top;	/* while there are users */
static unsigned int top_users;

static enum top_kind owner_kind(const struct top_owner *owner)
{
	return owner->func ? TOP_HANDLER : TOP_PROGRAM;
}

static void find_owner(const struct callout_node *n, struct top_owner *owner)
{
	struct callout_file *file;

	memset(owner, 0, sizeof(*owner));
	if (n->kind != CALLOUT_KIND_EVENT && n->kind != CALLOUT_KIND_COMMAND) {
		owner->func = callout_node_func(n);
		return;
	}
	file = callout_slot_file(callout_to_slot(n));
	owner->pid = file->pid;
	owner->uid = callout_file_uid(file);
	strscpy(owner->comm, file->comm, sizeof(owner->comm));
}

static void count(struct top_counts *c, enum top_event event, u64 late_ns)
{
	switch (event) {
	case TOP_ARMED:
		c->pending++;
		c->armed++;
		return;
	case TOP_MOVED:
		c->armed++;
		return;
	case TOP_CANCELLED:
		c->cancelled++;
		break;
	case TOP_EXPIRED:
		c->expired++;
		c->late_ns += late_ns;
		c->max_late_ns = max(c->max_late_ns, late_ns);
		break;
	}
	if (c->pending)
		c->pending--;
}

/* The entry of @owner, or a new one; NULL if there is no room. */
static struct top_entry *find_entry(struct callout_top *t,
				    struct top_bucket *bucket,
				    const struct top_owner *owner)
	__must_hold(&bucket->lock)
{
	enum top_kind kind = owner_kind(owner);
	struct top_entry *entry;
	unsigned int n;

	for (entry = bucket->first; entry; entry = entry->next)
		if (!memcmp(&entry->owner, owner, sizeof(*owner)))
			return entry;
	/* Not counted further than that, or it would overflow some day. */
	if (atomic_read(&t->used[kind]) >= CALLOUT_TOP_OWNERS)
		return NULL;
	n = atomic_fetch_inc(&t->used[kind]);
	if (n >= CALLOUT_TOP_OWNERS)
		return NULL;
	entry = &t->entry[kind][n];
	entry->owner = *owner;
	entry->next = bucket->first;
	/* Pairs with callout_top_show(). */
	smp_store_release(&bucket->first, entry);
	return entry;
}

/* An event of @n, whose base is locked. */
static void count_node(struct callout_top *t, const struct callout_node *n,
		       enum top_event event, u64 late_ns)
{
	struct top_bucket *bucket;
	struct top_entry *entry;
	struct top_owner owner;

	lockdep_assert_irqs_disabled();
	find_owner(n, &owner);
	bucket = &t->bucket[jhash2((u32 *)&owner, sizeof(owner) / sizeof(u32),
				   t->seed) % TOP_BUCKETS];
	raw_spin_lock(&bucket->lock);
	entry = find_entry(t, bucket, &owner);
	if (entry)
		count(&entry->counts, event, late_ns);
	raw_spin_unlock(&bucket->lock);
	if (entry)
		return;
	bucket = &t->bucket[TOP_BUCKETS + owner_kind(&owner)];
	raw_spin_lock(&bucket->lock);
	count(&bucket->first->counts, event, late_ns);
	raw_spin_unlock(&bucket->lock);
}

static void count_start(void *data, const struct callout_node *n, u64 now,
			bool moved)
{
	count_node(data, n, moved ? TOP_MOVED : TOP_ARMED, 0);
}

static void count_cancel(void *data, const void *callout)
{
	count_node(data, callout, TOP_CANCELLED, 0);
}

static void count_expiry(void *data, const struct callout_node *n, u64 now)
{
	count_node(data, n, TOP_EXPIRED,
		   (now - n->expires) * callout_base(n->cpu)->tick_ns);
}

static struct callout_top *top_create(void)
{
	struct callout_top *t = vzalloc(sizeof(*t));
	unsigned int i;

	if (!t)
		return NULL;
	t->seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(t->bucket); i++)
		raw_spin_lock_init(&t->bucket[i].lock);
	for (i = 0; i < TOP_KINDS; i++)
		t->bucket[TOP_BUCKETS + i].first = &t->other[i];
	return t;
}

static int top_register(struct callout_top *t)
{
	int ret;

	ret = register_trace_callout_expire_entry(count_expiry, t);
	if (ret)
		return ret;
	ret = register_trace_callout_cancel(count_cancel, t);
	if (ret)
		goto err_expire;
	ret = register_trace_callout_start(count_start, t);
	if (ret)
		goto err_cancel;
	return 0;

err_cancel:
	unregister_trace_callout_cancel(count_cancel, t);
err_expire:
	unregister_trace_callout_expire_entry(count_expiry, t);
	/* A probe may be at work. */
	tracepoint_synchronize_unregister();
	return ret;
}

static void top_unregister(struct callout_top *t)
{
	unregister_trace_callout_start(count_start, t);
	unregister_trace_callout_cancel(count_cancel, t);
	unregister_trace_callout_expire_entry(count_expiry, t);
	tracepoint_synchronize_unregister();
}

/*
 * Begins to count, from 0, unless that is under way already: callout_top_end() has
 * to follow. May sleep. Returns 0, -ENOMEM, or -ENOSYS in a kernel without
 * tracepoints.
 */
int callout_top_begin(void)
{
	int ret = 0;

	mutex_lock(&top_lock);
	if (!top_users) {
		top = top_create();
		ret = top ? top_register(top) : -ENOMEM;
	}
	if (!ret) {
		top_users++;
	} else {
		vfree(top);
		top = NULL;
	}
	mutex_unlock(&top_lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(callout_top_begin);

/* Ends what callout_top_begin() has begun, with the last user. May sleep. */
void callout_top_end(void)
{
	mutex_lock(&top_lock);
	if (!--top_users) {
		top_unregister(top);
		vfree(top);
		top = NULL;
	}
	mutex_unlock(&top_lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_top_end);

static void show_entry(struct seq_file *m, struct top_bucket *bucket,
		       struct top_entry *entry, bool other)
{
	const struct top_owner *owner = &entry->owner;
	struct top_counts c;

	raw_spin_lock_irq(&bucket->lock);
	c = entry->counts;
	raw_spin_unlock_irq(&bucket->lock);
	/* Others that there are none of; a new owner whose turn has not come. */
	if (!c.armed && !c.cancelled && !c.expired)
		return;
	seq_printf(m, "%llu %llu %llu %llu %llu %llu ", c.armed, c.cancelled,
		   c.expired, c.pending, c.late_ns, c.max_late_ns);
	if (other) {
		seq_printf(m, "- - %s\n", bucket == &top->bucket[TOP_BUCKETS] ?
						 "(handlers)" : "(programs)");
	} else if (owner->func) {
		seq_printf(m, "- - %ps\n", owner->func);
	} else {
		seq_printf(m, "%d %u ", owner->pid, owner->uid);
		seq_escape(m, owner->comm, " \t\n\\");
		seq_putc(m, '\n');
	}
}

/* For debugfs: one line per owner. May sleep. */
void callout_top_show(struct seq_file *m)
{
	struct top_bucket *bucket;
	struct top_entry *entry;
	unsigned int i;

	seq_puts(m, "armed cancelled expired pending late_ns max_late_ns pid uid name\n");
	mutex_lock(&top_lock);
	for (i = 0; top && i < ARRAY_SIZE(top->bucket); i++) {
		bucket = &top->bucket[i];
		/* Pairs with find_entry(). */
		for (entry = smp_load_acquire(&bucket->first); entry;
		     entry = entry->next)
			show_entry(m, bucket, entry, i >= TOP_BUCKETS);
	}
	mutex_unlock(&top_lock);
}
EXPORT_SYMBOL_IF_KUNIT(callout_top_show);
