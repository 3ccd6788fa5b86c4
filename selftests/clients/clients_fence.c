// SPDX-License-Identifier: GPL-2.0
/*
 * clients_fence.c - vgem fences that are signalled, and vgem fences that time out
 *
 *	clients_fence COUNT
 *
 * Attaches a fence to each of COUNT buffers, signals every second fence at once
 * and waits for the others. vgem ends these after ten seconds, and must not end
 * them earlier.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

#include "drm/drm.h"
#include "drm/drm_mode.h"
#include "drm/vgem_drm.h"

/* The kernel's VGEM_FENCE_TIMEOUT. */
#define TIMEOUT_MS	10000
/* The longest jiffy. The timeout counts ends of jiffies, and may begin within one. */
#define JIFFY_MS	10

struct buffer {
	int fd;
	unsigned int fence;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static struct buffer make(int card)
{
	struct drm_mode_create_dumb dumb = {
		.width = 32, .height = 32, .bpp = 32
	};
	struct drm_vgem_fence_attach attach = { .flags = VGEM_FENCE_WRITE };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC };

	if (ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
		err(1, "CREATE_DUMB");
	prime.handle = dumb.handle;
	if (ioctl(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		err(1, "PRIME_HANDLE_TO_FD");
	attach.handle = dumb.handle;
	if (ioctl(card, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach))
		err(1, "FENCE_ATTACH");
	return (struct buffer){ prime.fd, attach.out_fence };
}

/* A readable buffer has no writer's fence left. */
static int ready(const struct buffer *b, int ms)
{
	struct pollfd p = { b->fd, POLLIN, 0 };

	return poll(&p, 1, ms);
}

static int end(int card, const struct buffer *b)
{
	struct drm_vgem_fence_signal end = { .fence = b->fence };

	return ioctl(card, DRM_IOCTL_VGEM_FENCE_SIGNAL, &end) ? errno : 0;
}

int main(int argc, char **argv)
{
	int card, i, count = argc == 2 ? atoi(argv[1]) : 0;
	struct rlimit files = { count + 100, count + 100 };
	struct buffer *buffers;
	double began, took;

	if (count < 2)
		errx(2, "usage: clients_fence COUNT");
	buffers = calloc(count, sizeof(*buffers));
	if (!buffers || setrlimit(RLIMIT_NOFILE, &files))
		err(1, "%d files", count);
	card = open("/dev/dri/card0", O_RDWR);
	if (card < 0)
		err(1, "/dev/dri/card0");
	for (i = 0; i < count; i++)
		buffers[i] = make(card);
	began = now_ms();
	for (i = 0; i < count; i += 2) {
		if (ready(&buffers[i], 0))
			errx(1, "buffer %d has no fence", i);
		if (end(card, &buffers[i]))
			err(1, "FENCE_SIGNAL of %d", i);
		if (ready(&buffers[i], 0) != 1)
			errx(1, "buffer %d has a fence that was signalled", i);
	}
	/* The last fence was attached when the wait began, and the others before. */
	i = count - 1 - count % 2;
	if (ready(&buffers[i], 6 * TIMEOUT_MS) != 1)
		errx(1, "buffer %d has a fence that does not time out", i);
	took = now_ms() - began;
	printf("# the last fence timed out %.3f ms later\n", took);
	if (took < TIMEOUT_MS - JIFFY_MS)
		errx(1, "that is too early");
	for (i = 1; i < count; i += 2) {
		if (ready(&buffers[i], 0) != 1)
			errx(1, "buffer %d still has its fence", i);
		if (end(card, &buffers[i]) != ETIMEDOUT)
			errx(1, "fence %d has not timed out", i);
	}
	return 0;
}
