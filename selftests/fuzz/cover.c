// SPDX-License-Identifier: GPL-2.0
/*
 * cover.c - coverage of the module by each call, from kcov
 *
 * A point is an address in the kernel, together with the kind of call that has
 * reached the address. All processes share the set of points reached before.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define POINTS		1048576U
#define AREA		(64U << 10)	/* in words */

/* Shared by all processes. */
struct cover {
	atomic_uint n;
	atomic_bool point[POINTS];
};

static struct cover *cover;
static int fds[THREADS];
static unsigned long *areas[THREADS];
static __thread unsigned long *area;

/* Called before any process is forked. */
void cover_share(void)
{
	cover = mmap(NULL, sizeof(*cover), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Open kcov for each thread of this process, as root; false without kcov. */
bool cover_open(unsigned int threads)
{
	unsigned int i;

	for (i = 0; i < threads; i++) {
		fds[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (fds[i] < 0 || ioctl(fds[i], KCOV_INIT_TRACE, AREA))
			return false;
		areas[i] = mmap(NULL, AREA * sizeof(long),
				PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (areas[i] == MAP_FAILED) {
			areas[i] = NULL;
			return false;
		}
	}
	return true;
}

/* Called when a thread begins. */
void cover_begin(unsigned int thread)
{
	if (areas[thread] && !ioctl(fds[thread], KCOV_ENABLE, KCOV_TRACE_PC))
		area = areas[thread];
}

/* Called when this thread begins a call. */
void cover_call(void)
{
	if (area)
		__atomic_store_n(&area[0], 0, __ATOMIC_RELAXED);
}

/* Called after a call. Return how many points no call had reached before. */
unsigned int cover_end(unsigned int kind)
{
	unsigned int found = 0;
	unsigned long i, n, at;

	if (!area)
		return 0;
	n = __atomic_load_n(&area[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < AREA; i++) {
		at = (area[i] + kind * 0x9e3779b1UL) % POINTS;
		if (!cover->point[at] &&
		    !atomic_exchange(&cover->point[at], true))
			found++;
	}
	if (found)
		atomic_fetch_add(&cover->n, found);
	return found;
}

unsigned int cover_points(void)
{
	return cover->n;
}
