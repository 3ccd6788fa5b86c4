/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flicker.h - memory whose protection another thread keeps changing
 *
 * Tests fill and check it through a second mapping, the alias.
 */
#ifndef _CALLOUT_SELFTESTS_FLICKER_H
#define _CALLOUT_SELFTESTS_FLICKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "common.h"

struct flicker {
	size_t page;
	size_t size;
	char *memory;
	char *alias;
	pthread_t thread;
	atomic_bool stop;
};

/* Make the last page inaccessible, writable, read-only, writable and so on. */
static inline void *flicker_thread(void *arg)
{
	struct flicker *f = arg;
	char *last = f->memory + f->size - f->page;
	unsigned int i;

	for (i = 0; !f->stop; i++) {
		mprotect(last, f->page, i & 1 ? PROT_READ : PROT_NONE);
		mprotect(last, f->page, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

static inline bool flicker_start(struct flicker *f, unsigned int pages)
{
	int prot = PROT_READ | PROT_WRITE, memory = memfd_create("flicker", 0);

	f->page = sysconf(_SC_PAGESIZE);
	f->size = pages * f->page;
	if (memory < 0 || ftruncate(memory, f->size))
		return false;
	f->memory = mmap(NULL, f->size, prot, MAP_SHARED, memory, 0);
	f->alias = mmap(NULL, f->size, prot, MAP_SHARED, memory, 0);
	close(memory);
	return f->memory != MAP_FAILED && f->alias != MAP_FAILED &&
	       !pthread_create(&f->thread, NULL, flicker_thread, f);
}

static inline void flicker_stop(struct flicker *f)
{
	f->stop = true;
	pthread_join(f->thread, NULL);
	munmap(f->memory, f->size);
	munmap(f->alias, f->size);
}

#endif /* _CALLOUT_SELFTESTS_FLICKER_H */
