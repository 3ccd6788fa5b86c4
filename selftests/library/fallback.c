// SPDX-License-Identifier: GPL-2.0
/*
 * fallback.c - contexts of libcallout where the device cannot be used, and the
 * descriptors that they take
 *
 * The C library's open() and ioctl() are replaced: there is no device in these tests.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib/loop.h"

/* Why the device cannot be opened; 0: another file is in its place. */
static int open_error;
/* Why the device makes no callout; 0: the file in its place has no such requests. */
static int set_error;
/* How often opening was tried. */
static unsigned int opens;

int open(const char *path, int flags, ...)
{
	if (strcmp(path, CALLOUT_DEVICE))
		return syscall(SYS_openat, AT_FDCWD, path, flags, 0);
	opens++;
	if (!open_error)
		return syscall(SYS_openat, AT_FDCWD, "/dev/null", flags, 0);
	errno = open_error;
	return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct callout_batch *batch;
	struct callout_op *ops;
	unsigned int i;
	va_list ap;

	va_start(ap, request);
	batch = va_arg(ap, struct callout_batch *);
	va_end(ap);
	if (set_error && request == CALLOUT_IOC_INFO) {
		memset(batch, 0, sizeof(struct callout_info));
		return 0;
	}
	if (!set_error || request != CALLOUT_IOC_BATCH) {
		errno = ENOTTY;
		return -1;
	}
	ops = (void *)(uintptr_t)batch->ops;
	for (i = 0; i < batch->nr_ops; i++)
		ops[i].result = ops[i].op == CALLOUT_OP_SET ? -set_error : -ENOENT;
	batch->done = batch->nr_ops;
	return 0;
}

/* The number of open descriptors. */
static unsigned int nr_open(void)
{
	unsigned int n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Limit descriptors to @more more than are open. */
static bool allow_more(unsigned int more)
{
	struct rlimit limit;
	int fd = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	while (more || fcntl(fd, F_GETFD) >= 0)
		more -= fcntl(fd++, F_GETFD) < 0;
	limit.rlim_cur = fd;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

static bool allow_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

FIXTURE(fallback) {
	struct callout_timer t[2];
	struct callout_ctx *ctx;
	unsigned int nr_open;
};

FIXTURE_SETUP(fallback)
{
	memset(self->t, 0, sizeof(self->t));
	open_error = 0;
	set_error = 0;
	opens = 0;
	self->nr_open = nr_open();
}

FIXTURE_TEARDOWN(fallback)
{
	EXPECT_EQ(self->nr_open, nr_open());
}

/* A context is on timerfds because of @why, and a timer of it fires. */
#define expect_fallback(why) do {					\
	ASSERT_EQ(0, callout_ctx_create(&self->ctx, 16));		\
	EXPECT_EQ(why, callout_ctx_on_timerfd(self->ctx));		\
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], MSEC));	\
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, CALLOUT_FOREVER));	\
	EXPECT_EQ(&self->t[0], callout_ctx_next(self->ctx, NULL));	\
	callout_ctx_destroy(self->ctx);					\
	memset(self->t, 0, sizeof(self->t));				\
	EXPECT_EQ(self->nr_open, nr_open());				\
} while (0)

TEST_F(fallback, not_opened)
{
	static const int errors[] = {
		ENOENT, EACCES, EPERM, ENXIO, ENODEV, EIO,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		open_error = errors[i];
		expect_fallback(-errors[i]);
	}
	EXPECT_EQ(ARRAY_SIZE(errors), opens);
}

/* The device's name belongs to another device, or its module has other requests. */
TEST_F(fallback, another_device)
{
	expect_fallback(-ENOTTY);
	EXPECT_EQ(1, opens);
}

/* The device can be opened, and makes no callout: at a limit, or without memory. */
TEST_F(fallback, no_callout)
{
	static const int errors[] = { EDQUOT, ENOMEM };
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		set_error = errors[i];
		expect_fallback(-errors[i]);
		fd = callout_dev_open(0);
		ASSERT_LE(0, fd);
		EXPECT_EQ(-errors[i], callout_ctx_create_fd(&self->ctx, 16, fd));
		EXPECT_EQ(0, close(fd));
	}
}

/* A caller that asks for the device or for timerfds gets that, or an error. */
TEST_F(fallback, told)
{
	int fd;

	ASSERT_EQ(0, callout_ctx_create_timerfd(&self->ctx, 16));
	EXPECT_EQ(1, callout_ctx_on_timerfd(self->ctx));
	callout_ctx_destroy(self->ctx);
	EXPECT_EQ(0, opens);
	fd = callout_dev_open(0);
	ASSERT_LE(0, fd);
	self->ctx = NULL;
	EXPECT_EQ(-ENOTTY, callout_ctx_create_fd(&self->ctx, 16, fd));
	EXPECT_EQ(NULL, self->ctx);
	close(fd);
}

/* The text says what to do where something can be done, and names the file. */
TEST_F(fallback, text)
{
	EXPECT_NE(NULL, strstr(callout_open_strerror(-ENOENT), "/dev/callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-ENOENT), "modprobe callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-EACCES), "/dev/callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-EACCES), "group callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-ENOTTY), "/dev/callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-ENOTTY), "version"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-EDQUOT), "/dev/callout"));
	EXPECT_NE(NULL, strstr(callout_open_strerror(-EDQUOT), "max_per_user"));
	EXPECT_STREQ(strerror(EMFILE), callout_open_strerror(-EMFILE));
	EXPECT_NE(NULL, callout_open_strerror(0));
	EXPECT_NE(NULL, callout_open_strerror(1));
}

/* A clock takes a descriptor when its first timer is armed, and a context takes one more. */
TEST_F(fallback, descriptors)
{
	unsigned int i;

	ASSERT_EQ(0, callout_ctx_create_timerfd(&self->ctx, 16));
	EXPECT_EQ(self->nr_open + 2, nr_open());
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
		EXPECT_EQ(self->nr_open + 2, nr_open());
	}
	for (i = 0; i < 2; i++) {
		self->t[i].clockid = CLOCK_BOOTTIME;
		ASSERT_EQ(0, callout_arm(self->ctx, &self->t[i], HOUR));
		EXPECT_EQ(self->nr_open + 3, nr_open());
	}
	callout_ctx_destroy(self->ctx);
}

/* With too few descriptors nothing is left open, and a timer is unchanged. */
TEST_F(fallback, no_descriptors)
{
	unsigned int i;

	open_error = ENOENT;
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(allow_more(i));
		EXPECT_EQ(-EMFILE, callout_ctx_create(&self->ctx, 16));
		EXPECT_EQ(-EMFILE, callout_ctx_create_timerfd(&self->ctx, 16));
		EXPECT_EQ(self->nr_open, nr_open());
	}
	ASSERT_TRUE(allow_more(2));
	ASSERT_EQ(0, callout_ctx_create(&self->ctx, 16));
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], HOUR));
	self->t[0].clockid = CLOCK_BOOTTIME;
	EXPECT_EQ(-EMFILE, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_EQ(HOUR, callout_remaining(&self->t[0]));
	EXPECT_EQ(0, callout_ctx_turn(self->ctx, 0));
	ASSERT_TRUE(allow_many());
	ASSERT_EQ(0, callout_arm(self->ctx, &self->t[0], 0));
	EXPECT_EQ(1, callout_ctx_turn(self->ctx, WAIT_MS * MSEC));
	callout_ctx_destroy(self->ctx);
}

/* No descriptor is inherited by exec. */
TEST_F(fallback, cloexec)
{
	int fd, open_before[256];

	for (fd = 0; fd < 256; fd++)
		open_before[fd] = fcntl(fd, F_GETFD) >= 0;
	ASSERT_EQ(0, callout_ctx_create_timerfd(&self->ctx, 16));
	for (fd = 0; fd < 256; fd++)
		if (!open_before[fd] && fcntl(fd, F_GETFD) >= 0)
			EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	callout_ctx_destroy(self->ctx);
}

/* The size is the header's. */
TEST_F(fallback, size)
{
	EXPECT_EQ(sizeof(struct callout_timer), callout_timer_size());
}

TEST_HARNESS_MAIN
