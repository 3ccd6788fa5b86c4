/* SPDX-License-Identifier: GPL-2.0 */
/*
 * overflow.h - sizes that saturate, for a program
 */
#ifndef _HARNESS_OVERFLOW_H
#define _HARNESS_OVERFLOW_H

#include_next <linux/overflow.h>
#include <linux/limits.h>
#include <linux/types.h>

static inline size_t size_add(size_t a, size_t b)
{
	size_t sum;

	return check_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t size_mul(size_t a, size_t b)
{
	size_t product;

	return check_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

#define array_size(n, size)		size_mul(n, size)

#endif /* _HARNESS_OVERFLOW_H */
