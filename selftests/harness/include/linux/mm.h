/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mm.h - the kernel's pages, for a program: there are none, slab.h has memory
 */
#ifndef _HARNESS_MM_H
#define _HARNESS_MM_H

#include <linux/types.h>

#define PAGE_SIZE	4096UL

struct page { };

#define get_order(size)				0U
#define alloc_pages_node(node, gfp, order)	((struct page *)NULL)
#define split_page(page, order)			((void)(page))
#define __free_page(page)			((void)(page))
#define page_address(page)			((void *)(page))
#define free_pages_exact(p, size)		((void)(p))

#endif /* _HARNESS_MM_H */
