/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stdlib.h - what freestanding.c has of it
 */
#ifndef _WHEEL_STDLIB_H
#define _WHEEL_STDLIB_H

#include <stddef.h>

/* By the linker: where memory begins that is not the program's own. */
extern char __heap_base;

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void free(void *p);

#endif /* _WHEEL_STDLIB_H */
