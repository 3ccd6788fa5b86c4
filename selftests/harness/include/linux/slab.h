/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slab.h - the kernel's allocation functions, for a program
 *
 * harness_alloc() fails on the program's request, to test schemes without memory.
 */
#ifndef _HARNESS_SLAB_H
#define _HARNESS_SLAB_H

#include <linux/compiler.h>
#include <linux/numa.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>

/* How many allocations succeed before all fail. UINT_MAX: all succeed. */
extern unsigned int harness_allocations_left;

#define KMALLOC_MAX_CACHE_SIZE	8192U
#define KMALLOC_MAX_SIZE	(1U << 22)

void *harness_alloc(size_t size, bool zero);
void harness_free(const void *p);

#define kzalloc_node(size, gfp, node)	harness_alloc(size, true)
#define kvzalloc(size, gfp)		harness_alloc(size, true)
#define kvmalloc_node(size, gfp, node)	harness_alloc(size, false)
#define kvzalloc_node(size, gfp, node)	harness_alloc(size, true)
#define kvcalloc(n, size, gfp)		harness_alloc(array_size(n, size), true)
#define kfree(p)			harness_free(p)
#define kvfree(p)			harness_free(p)

#endif /* _HARNESS_SLAB_H */
