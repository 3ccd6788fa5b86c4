// SPDX-License-Identifier: GPL-2.0
/*
 * freestanding.c - what the schemes need of a C library, for WebAssembly
 *
 * The page begins again with new memory, so nothing is freed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGE	65536UL

static uintptr_t end;

void *malloc(size_t size)
{
	uintptr_t p = end ? end : (uintptr_t)&__heap_base;
	uintptr_t room = __builtin_wasm_memory_size(0) * PAGE;

	p = (p + 15) & ~15UL;
	if (size > SIZE_MAX / 2)
		return NULL;
	if (p + size > room &&
	    __builtin_wasm_memory_grow(0, (p + size - room + PAGE - 1) / PAGE) == SIZE_MAX)
		return NULL;
	end = p + size;
	return (void *)p;
}

/* Memory that was never used is zero. */
void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void free(void *p)
{
}

void *memset(void *s, int c, size_t n)
{
	char *p = s;

	while (n--)
		*p++ = c;
	return s;
}

void *memcpy(void *to, const void *from, size_t n)
{
	const char *q = from;
	char *p = to;

	while (n--)
		*p++ = *q++;
	return to;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return *a - *b;
}
