/* SPDX-License-Identifier: GPL-2.0 */
/*
 * string.h - what freestanding.c has of it
 */
#ifndef _WHEEL_STRING_H
#define _WHEEL_STRING_H

#include <stddef.h>

void *memset(void *s, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);
int strcmp(const char *a, const char *b);

#endif /* _WHEEL_STRING_H */
