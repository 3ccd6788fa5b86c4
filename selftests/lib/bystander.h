/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bystander.h - the fixture for tests of calls that /dev/callout refuses
 *
 * In each test a callout, the bystander, is pending in the file that gets the
 * wrong calls. At the end the file's counters must be unchanged, and the
 * bystander must fire. It is set by TIMEOUT, so that any operation could affect
 * it.
 */
#ifndef _CALLOUT_SELFTESTS_BYSTANDER_H
#define _CALLOUT_SELFTESTS_BYSTANDER_H

#include <sys/mman.h>

#include "kselftest_harness.h"
#include "common.h"

#define BYSTANDER	0xb57a4de6ULL
#define BYSTANDER_FUNC	1
#define BYSTANDER_TIME	(60 * MSEC)

/* Above every size that the number of an ioctl can encode. */
#define LARGEST_SIZE	16384

/* The kernel's addresses, non-canonical ones, and the end of user space. */
static const __u64 kernel_addresses[] = {
	0xffffffffffffffffULL, 0xffffffff81000000ULL, 0xffff888000000000ULL,
	0xffff800000000000ULL, 0x0000800000000000ULL, 0x00007ffffffff000ULL,
	0x00007fffffffffffULL, 0x8000000000000000ULL,
};

FIXTURE(errors) {
	int fd;
	__u64 bystander;
	bool seen;
	struct callout_info before;
	struct counts counts;	/* before */
	char *edge;	/* the end of a page; the next one is inaccessible */
	size_t page;
};

/* The number of ioctl @request for a structure of another size. */
static inline unsigned int resized(unsigned int cmd, unsigned int size)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size);
}

/* Can a structure have this size? @least is its size in version 1. */
static inline bool is_size(unsigned int size, unsigned int least)
{
	return size >= least && size <= CALLOUT_SIZE_MAX && size % 8 == 0;
}

/* The kernel's direct map of all memory; NULL in a 32-bit program. */
static inline void *in_the_kernel(void)
{
	return (void *)(uintptr_t)0xffff888000000000ULL;
}

/* Take the counters that the file must have at the end of the test. */
static inline void freeze(struct _test_data_errors *self)
{
	self->before = info_of(self->fd);
	self->counts = counts_of(self->fd);
}

FIXTURE_SETUP(errors)
{
	char *pages;

	self->page = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * self->page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pages);
	self->edge = pages + self->page;
	ASSERT_EQ(0, mprotect(self->edge, self->page, PROT_NONE));

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_timeout(self->fd, 0, BYSTANDER_TIME,
				 BYSTANDER_FUNC, BYSTANDER,
					 &self->bystander));
	freeze(self);
}

/* Receive an event that is not the bystander's. */
static inline bool receive_one(struct _test_data_errors *self,
			       struct callout_event *e)
{
	while (receive(self->fd, e, 1) == 1) {
		if (e->cookie != BYSTANDER)
			return true;
		if (self->seen)
			break;
		self->seen = true;
	}
	return false;
}

FIXTURE_TEARDOWN(errors)
{
	struct callout_info now = info_of(self->fd);
	struct counts counts = counts_of(self->fd);
	struct callout_event e;

	EXPECT_EQ(self->counts.set, counts.set);
	EXPECT_EQ(self->counts.cancelled, counts.cancelled);
	EXPECT_EQ(self->counts.withdrawn, counts.withdrawn);
	EXPECT_EQ(self->counts.reset, counts.reset);
	EXPECT_EQ(self->before.max_outstanding, now.max_outstanding);
	EXPECT_EQ(self->before.outstanding + self->counts.delivered,
		  now.outstanding + counts.delivered);
	if (!self->seen) {
		EXPECT_EQ(1, receive(self->fd, &e, 1));
		EXPECT_EQ(BYSTANDER, e.cookie);
		EXPECT_EQ(self->bystander, e.handle);
	}
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(0, close(self->fd));
}

#endif /* _CALLOUT_SELFTESTS_BYSTANDER_H */
