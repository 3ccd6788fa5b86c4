/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stuck.h - a reader that blocks in the middle of read(), copying an event
 *
 * Its buffer is a page that userfaultfd(2) provides: read() has taken the event
 * and waits for the page until the test lets the copy succeed or fail.
 */
#ifndef _CALLOUT_SELFTESTS_STUCK_H
#define _CALLOUT_SELFTESTS_STUCK_H

#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common.h"

struct stuck {
	int fd;		/* of the device */
	int uffd;
	size_t size;
	struct callout_event *page;
	unsigned int room;	/* for events; 0 is 1 */
	pthread_t thread;
	int ret;
};

/* Whether the kernel was built with userfaultfd. */
static inline bool stuck_possible(void)
{
	struct stat st;

	return !stat("/proc/sys/vm/unprivileged_userfaultfd", &st);
}

static inline void *stuck_thread(void *arg)
{
	struct stuck *s = arg;

	s->ret = dev_read(s->fd, s->page, s->room ?: 1);
	return NULL;
}

/* Start a reader of @fd, which is stuck as soon as it takes an event. */
static inline bool stuck_begin(struct stuck *s, int fd)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };

	s->fd = fd;
	s->size = sysconf(_SC_PAGESIZE);
	/* poll(2) reports an error for a blocking userfaultfd. */
	s->uffd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	s->page = mmap(NULL, s->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->uffd < 0 || s->page == MAP_FAILED)
		return false;
	reg.range.start = (uintptr_t)s->page;
	reg.range.len = s->size;
	return !ioctl(s->uffd, UFFDIO_API, &api) &&
	       !ioctl(s->uffd, UFFDIO_REGISTER, &reg) &&
	       !pthread_create(&s->thread, NULL, stuck_thread, s);
}

/* Wait until the reader has taken an event and not yet copied it. */
static inline bool stuck_has_event(struct stuck *s)
{
	return readable_within(s->uffd, WAIT_MS);
}

/* Start a reader that takes the unread event of @fd and is stuck. */
static inline bool stuck_start(struct stuck *s, int fd)
{
	return stuck_begin(s, fd) && stuck_has_event(s);
}

static inline int stuck_join(struct stuck *s)
{
	pthread_join(s->thread, NULL);
	close(s->uffd);
	return s->ret;
}

/* Let the copy succeed. Return what read() did. The event is in the page. */
static inline int stuck_finish(struct stuck *s)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)s->page, .len = s->size },
	};

	return ioctl(s->uffd, UFFDIO_ZEROPAGE, &zero) ? -errno : stuck_join(s);
}

/* Take the buffer away, so that the copy fails. Return what read() did. */
static inline int stuck_fail(struct stuck *s)
{
	struct uffdio_range range = {
		.start = (uintptr_t)s->page,
		.len = s->size,
	};

	if (mprotect(s->page, s->size, PROT_NONE) ||
	    ioctl(s->uffd, UFFDIO_WAKE, &range))
		return -errno;
	return stuck_join(s);
}

static inline void stuck_free(struct stuck *s)
{
	munmap(s->page, s->size);
}

#endif /* _CALLOUT_SELFTESTS_STUCK_H */
