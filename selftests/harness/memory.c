// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - allocations that fail on the program's request
 */
#include <limits.h>
#include <stdlib.h>
#include <linux/slab.h>

unsigned int harness_allocations_left = UINT_MAX;

void *harness_alloc(size_t size, bool zero)
{
	if (!harness_allocations_left)
		return NULL;
	if (harness_allocations_left != UINT_MAX)
		harness_allocations_left--;
	return zero ? calloc(1, size) : malloc(size);
}

void harness_free(const void *p)
{
	free((void *)p);
}
