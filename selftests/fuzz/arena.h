/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arena.h - the memory of a thread for its arguments, by pages
 *
 * An argument is written through an alias of this memory. The kernel gets an
 * address at which the argument may be readonly, or cut in the middle.
 */
#ifndef _CALLOUT_FUZZ_ARENA_H
#define _CALLOUT_FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PAGE		4096UL

enum arena_page {
	ARENA_GOOD,
	ARENA_READONLY,
	ARENA_CHANGING,		/* its protection; ends at EDGE */
	ARENA_EDGE,		/* no access */
	ARENA_SCRATCH,		/* for data that the kernel does not get */
	ARENA_SCRATCH_END,
	ARENA_PAGES,
};

/* Offsets in a page. */
#define AT_ARGUMENT	0
#define AT_ARRAY	512
#define AT_EVENTS	2048
#define AT_MASK		3600

/* A piece of memory: its address for the kernel, and its writable address. */
struct memory {
	char *user;
	char *fill;
};

struct call;
struct worker;

bool arena_make(struct worker *w);
struct memory arena_at(struct worker *w, unsigned int place, size_t at, size_t size);
size_t arena_cut(size_t size);

void stall_make(void);
void stall_end(void);
void stall_renew(void);

__u64 poke_value(const struct call *c);
void poke(const struct call *c, void *fill, size_t size);

#endif /* _CALLOUT_FUZZ_ARENA_H */
