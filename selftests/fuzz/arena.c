// SPDX-License-Identifier: GPL-2.0
/*
 * arena.c - memory in which arguments are good, readonly, cut, or slow to copy
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena.h"
#include "fuzz.h"

static int uffd = -1;
static char *stall;		/* a page that userfaultfd(2) provides, or NULL */
static bool stall_failed;

/* Addresses that are possible in a 32-bit program. */
static char *map_low(size_t size, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_32BIT |
		       (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED),
		       fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

bool arena_make(struct worker *w)
{
	size_t size = ARENA_PAGES * PAGE;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, size))
		return false;
	w->arena = map_low(size, fd);
	w->alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (!w->arena || w->alias == MAP_FAILED)
		return false;
	return !mprotect(w->arena + ARENA_READONLY * PAGE, PAGE, PROT_READ) &&
	       !mprotect(w->arena + ARENA_EDGE * PAGE, PAGE, PROT_NONE);
}

/* The number of bytes, of @size at an edge, that are memory. */
size_t arena_cut(size_t size)
{
	return size / 2 & ~3UL;
}

/* Memory of @size bytes in a place, at offset @at in the place's page. */
struct memory arena_at(struct worker *w, unsigned int place, size_t at, size_t size)
{
	char *scratch = w->alias + ARENA_SCRATCH * PAGE;
	size_t cut;

	switch (place) {
	case P_null:
		return (struct memory){ (char *)8, scratch + at };
	case P_kernel:
		return (struct memory){ (char *)0xffff888000001000UL,
					scratch + at };
	case P_stall:
		if (stall)
			return (struct memory){ stall + at, scratch + at };
		return arena_at(w, P_null, at, size);
	case P_edge:
		cut = ARENA_EDGE * PAGE - arena_cut(size);
		return (struct memory){ w->arena + cut, w->alias + cut };
	case P_readonly:
		at += ARENA_READONLY * PAGE;
		break;
	case P_changing:
		at += ARENA_CHANGING * PAGE;
		break;
	}
	return (struct memory){ w->arena + at, w->alias + at };
}

/* Without userfaultfd no copy stalls. */
void stall_make(void)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	char *page = map_low(PAGE, -1);

	uffd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	if (!page || uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	    ioctl(uffd, UFFDIO_REGISTER, &reg))
		return;
	stall = page;
}

/* A copy that stalls succeeds, or fails. */
void stall_end(void)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)stall, .len = PAGE },
	};
	struct pollfd p = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (!stall || poll(&p, 1, 0) <= 0 || read(uffd, &msg, sizeof(msg)) < 0)
		return;
	if (run.program->n & 1) {
		ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
		return;
	}
	stall_failed = true;
	mprotect(stall, PAGE, PROT_NONE);
	ioctl(uffd, UFFDIO_WAKE, &zero.range);
}

/* Restore the memory for the next program. */
void stall_renew(void)
{
	if (!stall)
		return;
	if (stall_failed)
		mprotect(stall, PAGE, PROT_READ | PROT_WRITE);
	stall_failed = false;
	madvise(stall, PAGE, MADV_DONTNEED);
}

/* The value that the call's poke writes. */
__u64 poke_value(const struct call *c)
{
	static const __u64 values[16] = {
		0, 1, 2, 3, 8, 63, 64, 4096, 65536, 65537, 1ULL << 31, ~0U,
		(1ULL << 63) - 1, 1ULL << 63, ~0ULL, 0xffff888000001000ULL,
	};

	return values[c->value % 16];
}

/* Change a word of an argument. */
void poke(const struct call *c, void *fill, size_t size)
{
	__u64 *word = fill;

	if (c->poke)
		word[(c->poke - 1) % (size / 8)] = poke_value(c);
}
