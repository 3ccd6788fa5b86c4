/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arena.h - the memory of a thread for its arguments, by pages
 */
#ifndef _CALLOUT_FUZZ_ARENA_H
#define _CALLOUT_FUZZ_ARENA_H

#define PAGE		4096UL

enum arena_page {
	ARENA_GOOD,
	ARENA_READONLY,
	ARENA_CHANGING,		/* its protection; ends at EDGE */
	ARENA_EDGE,		/* no access */
	ARENA_SCRATCH,		/* for what the kernel does not get */
	ARENA_SCRATCH_END,
	ARENA_PAGES,
};

#endif /* _CALLOUT_FUZZ_ARENA_H */
