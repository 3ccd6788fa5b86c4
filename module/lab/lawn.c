// SPDX-License-Identifier: GPL-2.0
/*
 * lawn.c - Lawn: a queue for each interval
 *
 * Lev-Libfeld's observation: programs use few different intervals. Callouts of one
 * interval expire in the order in which they are started, so a queue for each
 * interval is always sorted, and has no range that could overflow. start finds the
 * queue and appends; stop unlinks; a tick looks at the heads. In the paper, which
 * finds the queue in a hash and goes through all heads at a tick with work to do,
 * start and stop are O(1) and the tick is O(t) for t different intervals; the paper
 * requires t to be much smaller than n, and admits that the tick is O(n) for n
 * different intervals.
 *
 * Here the queues are in two red-black trees, by interval and by the expiry of
 * their heads, so that no cost grows faster than log t: start is O(log t), stop
 * O(1), or O(log t) for the head of a queue, tick O(1) plus O(log t) for each
 * expiry. An empty queue is freed at once, as in the paper. It is the right
 * choice for very many callouts of a few fixed intervals.
 *
 * The memory for the queues comes from reserve: a queue for each callout, the worst
 * case. Callouts without a queue go to a red-black tree of callouts.
 *
 * Among equals the callout with the longer interval was started first. Callouts in
 * the tree come after callouts in the queues, so a callout with the expiry of a
 * callout in the tree goes to the tree too.
 */
#include <linux/slab.h>
#include "first.h"
#include "node_pool.h"
#include "wheel/scheme.h"
#include "tree.h"

/*
 * The callouts of one interval; never empty. word[2] of each callout is the address
 * of the callout's queue, with CALLOUT_NOT_IN_TREE set.
 */
struct lawn_queue {
	struct rb_node by_interval;
	struct rb_node by_head;
	u64 interval;		/* expiry - start; wraps for late callouts */
	u64 head;		/* expiry of the first callout */
	struct list_head list;
};

struct lawn {
	struct callout_blocks_scheme b;	/* of struct lawn_queue */
	struct rb_root by_interval;	/* all queues */
	struct rb_root_cached by_head;	/* all queues */
	struct rb_root_cached rest;	/* callouts without a queue */
	u64 now;			/* the latest time of a start */
	struct callout_node_pool pool;
};

static struct lawn *to_lawn(struct callout_scheme *s)
{
	return container_of(s, struct lawn, b.s);
}

static struct lawn_queue *lawn_by_interval(const struct rb_node *node)
{
	return rb_entry(node, struct lawn_queue, by_interval);
}

static struct lawn_queue *lawn_by_head(const struct rb_node *node)
{
	return rb_entry(node, struct lawn_queue, by_head);
}

static int lawn_cmp_interval(const void *interval, const struct rb_node *node)
{
	u64 a = *(const u64 *)interval, b = lawn_by_interval(node)->interval;

	return a < b ? -1 : a > b;
}

static bool lawn_less_interval(struct rb_node *a, const struct rb_node *b)
{
	return lawn_cmp_interval(&lawn_by_interval(a)->interval, b) < 0;
}

static bool lawn_less_head(struct rb_node *a, const struct rb_node *b)
{
	const struct lawn_queue *p = lawn_by_head(a), *q = lawn_by_head(b);

	if (p->head != q->head)
		return p->head < q->head;
	/* Compare the times of start; this works even if an interval wraps. */
	return p->head - p->interval < q->head - q->interval;
}

/* Make a queue whose first callout expires at @head. Return NULL if there is no memory. */
static struct lawn_queue *lawn_make(struct lawn *l, u64 interval, u64 head)
{
	struct lawn_queue *q = co_node_pool_get(&l->pool, &l->b.blocks);

	if (!q)
		return NULL;
	q->interval = interval;
	q->head = head;
	INIT_LIST_HEAD(&q->list);
	rb_add(&q->by_interval, &l->by_interval, lawn_less_interval);
	rb_add_cached(&q->by_head, &l->by_head, lawn_less_head);
	return q;
}

static void lawn_start(struct callout_scheme *s, struct callout_node *c, u64 now,
		       u64 expires)
{
	struct lawn *l = to_lawn(s);
	struct lawn_queue *q = NULL;
	struct rb_node *node;
	u64 interval;

	c->expires = expires;
	/* Time must not go back, to keep the queues in order. */
	l->now = max(l->now, now);
	interval = expires - l->now;
	if (!co_tree_has(&l->rest, expires)) {
		node = rb_find(&interval, &l->by_interval, lawn_cmp_interval);
		q = node ? lawn_by_interval(node) :
			   lawn_make(l, interval, expires);
	}
	if (!q) {
		co_tree_add(&l->rest, c);
		return;
	}
	list_add_tail(&c->entry, &q->list);
	c->word[2] = (unsigned long)q | CALLOUT_NOT_IN_TREE;
}

static void lawn_unqueue(struct lawn *l, struct callout_node *c)
{
	struct lawn_queue *q = (void *)(c->word[2] & ~CALLOUT_NOT_IN_TREE);
	u64 head;

	list_del(&c->entry);
	if (list_empty(&q->list)) {
		rb_erase(&q->by_interval, &l->by_interval);
		rb_erase_cached(&q->by_head, &l->by_head);
		co_node_pool_put(&l->pool, q);
		return;
	}
	head = list_first_entry(&q->list, struct callout_node, entry)->expires;
	if (head == q->head)
		return;
	rb_erase_cached(&q->by_head, &l->by_head);
	q->head = head;
	rb_add_cached(&q->by_head, &l->by_head, lawn_less_head);
}

static void lawn_stop(struct callout_scheme *s, struct callout_node *c)
{
	struct lawn *l = to_lawn(s);

	if (co_in_tree(c))
		co_tree_del(&l->rest, c);
	else
		lawn_unqueue(l, c);
}

/* The first callout to expire, or NULL. */
static struct callout_node *lawn_first(struct callout_scheme *s)
{
	struct lawn *l = to_lawn(s);
	struct rb_node *node = rb_first_cached(&l->by_head);
	struct callout_node *c = co_tree_first(&l->rest);
	struct lawn_queue *q;

	if (!node)
		return c;
	q = lawn_by_head(node);
	if (c && c->expires < q->head)
		return c;
	return list_first_entry(&q->list, struct callout_node, entry);
}

static int lawn_check_queue(struct lawn_queue *q)
{
	struct callout_node *c;

	if (list_empty(&q->list))
		return 10;
	if (list_first_entry(&q->list, struct callout_node, entry)->expires != q->head)
		return 11;
	if (!co_order_holds(&q->list))
		return 12;
	list_for_each_entry(c, &q->list, entry)
		if (c->word[2] != ((unsigned long)q | CALLOUT_NOT_IN_TREE))
			return 13;
	return 0;
}

static int lawn_check(struct callout_scheme *s)
{
	struct lawn *l = to_lawn(s);
	struct rb_node *node, *prev = NULL;
	unsigned long queues = 0;
	int ret;

	if (l->by_head.rb_leftmost != rb_first(&l->by_head.rb_root))
		return 14;
	for (node = rb_first(&l->by_head.rb_root); node; node = rb_next(node)) {
		if (prev && lawn_less_head(node, prev))
			return 15;
		prev = node;
		ret = lawn_check_queue(lawn_by_head(node));
		if (ret)
			return ret;
		queues++;
	}
	prev = NULL;
	for (node = rb_first(&l->by_interval); node; node = rb_next(node)) {
		if (prev && !lawn_less_interval(prev, node))
			return 16;
		prev = node;
		queues--;
	}
	return queues ? 17 : co_tree_check(&l->rest);
}

static struct callout_scheme *lawn_create(const struct callout_scheme_params *p)
{
	return co_blocks_create(&callout_lawn, sizeof(struct lawn),
				sizeof(struct lawn_queue), p);
}

const struct callout_scheme_ops callout_lawn = {
	.name		= "lawn",
	.create		= lawn_create,
	.destroy	= co_blocks_destroy,
	.reserve	= co_blocks_scheme_reserve,
	.start		= lawn_start,
	.stop		= lawn_stop,
	.advance	= co_first_advance,
	.next_due	= co_first_due,
	.take		= co_first_take,
	.first		= lawn_first,
	.check		= lawn_check,
};
