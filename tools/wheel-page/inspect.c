// SPDX-License-Identifier: GPL-2.0
/*
 * inspect.c - where each scheme has its timers
 *
 * The structures of the laboratory's schemes are private to their files. So this file includes
 * these files, unchanged, and they are not compiled otherwise. Names that two files share are
 * renamed.
 */
#define to_list to_unsorted_list
#include "lab/unsorted_list.c"
#undef to_list
#define to_list to_sorted_list
#include "lab/sorted_list.c"
#undef to_list
#include "lab/timing_wheel.c"
#include "lab/logic_wheel.c"
#include "lab/hierarchical_wheel.c"
#include "lab/tree.c"
#define to_heap to_pairing_heap
#include "lab/pairing_heap.c"
#undef to_heap
#include "lab/dary_heap.c"
#include "lab/skip_list.c"
#include "lab/lawn.c"
#include "lab/calendar_queue.c"
#include "wheel/hashed_wheel.h"
#include "wheel.h"

/* The places of the timers of one model. */
struct places {
	struct callout_model *m;
	struct wheel_place *place;
};

static int timer_of(const struct places *p, struct callout_node *c)
{
	return container_of(c, struct callout_model_entry, c) - p->m->entry;
}

static void put(const struct places *p, struct callout_node *c, int group, int order)
{
	p->place[timer_of(p, c)] = (struct wheel_place){ group, order };
}

static void put_list(const struct places *p, struct list_head *list, int group)
{
	struct callout_node *c;
	int order = 0;

	list_for_each_entry(c, list, entry)
		put(p, c, group, order++);
}

static void put_wheel(const struct places *p, struct callout_wheel *w)
{
	unsigned int i;

	for (i = 0; i <= w->ring.mask; i++)
		put_list(p, &w->ring.bucket[i].head, i);
}

static void put_ring(const struct places *p, struct callout_slots *r)
{
	unsigned int i;

	for (i = 0; i <= r->mask; i++)
		put_list(p, &r->slot[i], i);
}

static void put_hier(const struct places *p, struct hier_wheel *w)
{
	unsigned int i;

	for (i = 0; i < w->slots; i++)
		put_list(p, &w->slot[i], i);
}

static void put_tree(const struct places *p, struct rb_root_cached *tree)
{
	struct rb_node *node, *parent;
	int order = 0;

	for (node = rb_first_cached(tree); node; node = rb_next(node)) {
		parent = rb_parent(node);
		put(p, co_of_node(node), parent ? timer_of(p, co_of_node(parent)) : WHEEL_APART,
		    order++);
	}
}

static void put_pairing(const struct places *p, struct pairing_node *parent, int group)
{
	struct pairing_node *node = parent->child;
	int order = 0;

	for (; node; node = pairing_is_last(node) ? NULL : node->next)
		put(p, pairing_callout(node), group, order++);
}

static void put_pairing_all(const struct places *p, struct pairing_heap *h)
{
	struct callout_model_entry *e;

	put_pairing(p, &h->forest, WHEEL_APART);
	for (e = p->m->entry; e < p->m->entry + p->m->nr_entries; e++)
		if (e->queued)
			put_pairing(p, pairing_node(&e->c), e - p->m->entry);
}

static void put_dary(const struct places *p, struct dary_heap *h)
{
	unsigned long i;

	for (i = 0; i < h->n; i++)
		put(p, dary_at(h, i)->c,
		    i ? timer_of(p, dary_at(h, (i - 1) / ARITY)->c) : WHEEL_APART, i);
}

static void put_skip(const struct places *p, struct skip_list *l)
{
	struct skip_node *node;
	struct callout_node *c;
	int order = 0, height;

	list_for_each_entry(c, &l->list, entry) {
		height = 0;
		for (node = skip_top(c); node; node = node->down)
			height++;
		put(p, c, order++, height);
	}
}

static void put_lawn(const struct places *p, struct lawn *l)
{
	struct rb_node *node;
	int queue = 0;

	for (node = rb_first(&l->by_interval); node; node = rb_next(node))
		put_list(p, &lawn_by_interval(node)->list, queue++);
}

static void put_calendar(const struct places *p, struct calendar_queue *q)
{
	unsigned long i, days = 0;
	unsigned int which;

	for (which = 0; which < ARRAY_SIZE(q->calendar); which++) {
		for (i = 0; i < q->calendar[which].nr; i++)
			put_list(p, calendar_list(q, which, i), days + i);
		days += q->calendar[which].n ? q->calendar[which].nr : 0;
	}
}

/* The scheme's own ops, which the page's stand in for, have the name. */
static bool is(const struct callout_scheme *s, const struct callout_scheme_ops *ops)
{
	return s->ops->name == ops->name;
}

/* Whether the scheme begins with a struct callout_slots. */
static bool is_ring(const struct callout_scheme *s)
{
	return is(s, &callout_timing_wheel) || is(s, &callout_logic_wheel) ||
	       is(s, &callout_sorted_wheel) || is(s, &callout_hashed_wheel_paper);
}

/* A scheme that is new to this file is a list, in any order. */
enum wheel_shape wheel_shape_of(const struct callout_scheme *s)
{
	if (is(s, &callout_hierarchical_wheel))
		return WHEEL_LEVELS;
	if (is(s, &callout_tree) || is(s, &callout_pairing_heap) || is(s, &callout_dary_heap))
		return WHEEL_TREE;
	if (is(s, &callout_lawn) || is(s, &callout_calendar_queue))
		return WHEEL_QUEUES;
	if (is(s, &callout_skip_list))
		return WHEEL_TOWERS;
	return is(s, &callout_hashed_wheel) || is_ring(s) ? WHEEL_RING : WHEEL_LIST;
}

unsigned int wheel_levels_of(struct callout_scheme *s)
{
	return wheel_shape_of(s) == WHEEL_LEVELS ? to_hier(s)->levels : 1;
}

/* Slots of the ring, or of each level. */
unsigned int wheel_slots_of(struct callout_scheme *s)
{
	if (wheel_shape_of(s) == WHEEL_LEVELS)
		return to_hier(s)->level[0].slots;
	if (wheel_shape_of(s) != WHEEL_RING)
		return 0;
	return (is(s, &callout_hashed_wheel) ? to_wheel(s)->ring.mask : to_ring(s)->mask) + 1;
}

/* Fills in @place of each timer of @m. */
void wheel_place_all(struct callout_model *m, struct wheel_place *place)
{
	const struct places p = { m, place };
	struct callout_scheme *s = m->s;
	unsigned int i;

	for (i = 0; i < m->nr_entries; i++)
		place[i] = (struct wheel_place){
			m->entry[i].queued ? WHEEL_APART : WHEEL_NOWHERE, i
		};
	if (is(s, &callout_unsorted_list))
		put_list(&p, &to_unsorted_list(s)->head, 0);
	else if (is(s, &callout_sorted_list))
		put_list(&p, &to_sorted_list(s)->head, 0);
	else if (is(s, &callout_hashed_wheel))
		put_wheel(&p, to_wheel(s));
	else if (is(s, &callout_hierarchical_wheel))
		put_hier(&p, to_hier(s));
	else if (is(s, &callout_tree))
		put_tree(&p, &to_tree(s)->root);
	else if (is(s, &callout_pairing_heap))
		put_pairing_all(&p, to_pairing_heap(s));
	else if (is(s, &callout_dary_heap))
		put_dary(&p, to_heap(s));
	else if (is(s, &callout_skip_list))
		put_skip(&p, to_skip(s));
	else if (is(s, &callout_lawn))
		put_lawn(&p, to_lawn(s));
	else if (is(s, &callout_calendar_queue))
		put_calendar(&p, to_queue(s));
	else if (is_ring(s))
		put_ring(&p, to_ring(s));
}

/*
 * Copies the bounds of a hashed wheel: of each bucket, then of each node, with the root last.
 * Returns their number; 0 for another scheme. ~0 is the bound of nothing.
 */
unsigned int wheel_copy_bounds(struct callout_scheme *s, unsigned int *bound)
{
	const struct callout_ring *r = &to_wheel(s)->ring;
	unsigned int i, n = 0;

	if (!is(s, &callout_hashed_wheel))
		return 0;
	for (i = 0; i <= r->mask; i++)
		bound[n++] = r->bucket[i].min;
	for (i = 0; i <= r->root; i++)
		bound[n++] = r->min[i];
	return n;
}
