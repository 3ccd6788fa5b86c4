// SPDX-License-Identifier: GPL-2.0
/*
 * check.c - whether the facility works on this machine, and if not, how to mend it
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "calloutctl.h"

#define MODULE	"/sys/module/callout"
#define GROUP	"callout"

/* How long a callout of 1 ms may take on a machine that is busy. */
#define PATIENCE_MS	10000

static void fine(const char *what, const char *fmt, ...) __printf(2, 3);
static int wrong(const char *what, const char *fmt, ...) __printf(2, 3);

static void print(const char *verdict, const char *what, const char *fmt, va_list ap)
{
	callout_style(strcmp(verdict, "ok") ? CALLOUT_RED : CALLOUT_GREEN);
	printf("%-6s", verdict);
	callout_style(0);
	printf(" %-8s ", what);
	vprintf(fmt, ap);
	putchar('\n');
}

static void fine(const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print("ok", what, fmt, ap);
	va_end(ap);
}

static int wrong(const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print("wrong", what, fmt, ap);
	va_end(ap);
	return CALLOUT_EXIT_FAILED;
}

static void mend(const char *how)
{
	printf("%-15s %s\n", "", how);
}

static int check_module(void)
{
	if (!access(MODULE, F_OK)) {
		fine("module", "is loaded");
		return 0;
	}
	wrong("module", "is not loaded");
	mend("As root: modprobe callout");
	mend("If modprobe does not find it, build it for this kernel.");
	return CALLOUT_EXIT_FAILED;
}

static int check_device(void)
{
	struct stat st;

	if (stat(CALLOUT_DEVICE, &st)) {
		wrong("device", CALLOUT_DEVICE ": %s", strerror(errno));
		mend("In a container, pass the device to it. Elsewhere, as root:");
		mend("udevadm trigger --sysname-match=callout");
		return CALLOUT_EXIT_FAILED;
	}
	if (!S_ISCHR(st.st_mode))
		return wrong("device", CALLOUT_DEVICE " is a file, not a device: remove it");
	fine("device", CALLOUT_DEVICE " exists, mode %03o", st.st_mode & 0777);
	return 0;
}

/* Return the group's number, or -1. A static program cannot ask the C library. */
static long find_group(void)
{
	FILE *f = fopen("/etc/group", "re");
	char line[4096];
	long gid = -1;

	if (!f)
		return -1;
	while (gid < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, GROUP ":%*[^:]:%ld", &gid) != 1)
			gid = -1;
	fclose(f);
	return gid;
}

/* Return a descriptor, or -1. */
static int check_group(void)
{
	long gid = find_group();
	struct stat st;
	int fd = callout_dev_open(O_NONBLOCK);

	if (fd >= 0) {
		fine("group", "this user may open " CALLOUT_DEVICE);
		return fd;
	}
	wrong("group", "open " CALLOUT_DEVICE ": %s", strerror(-fd));
	if (fd != -EACCES && fd != -EPERM)
		return -1;
	if (gid < 0) {
		mend("There is no group " GROUP ". As root: groupadd --system " GROUP);
		mend("and give it the device, with the module's udev rule or by hand:");
		mend("chgrp " GROUP " " CALLOUT_DEVICE "; chmod 660 " CALLOUT_DEVICE);
	} else if (!stat(CALLOUT_DEVICE, &st) &&
		   (st.st_gid != gid || (st.st_mode & 060) != 060)) {
		mend("The device is not the group's. As root:");
		mend("chgrp " GROUP " " CALLOUT_DEVICE "; chmod 660 " CALLOUT_DEVICE);
	}
	mend("As root: usermod -aG " GROUP " USER, and log in again.");
	return -1;
}

static int check_tick(int fd)
{
	struct callout_info info;
	int ret = callout_dev_info(fd, &info);

	if (ret) {
		wrong("tick", "%s", strerror(-ret));
		mend("Do calloutctl and the module have the same version?");
		return CALLOUT_EXIT_FAILED;
	}
	fine("tick", "%.3f ms", (double)info.tick_ns / CALLOUT_NSEC_PER_MSEC);
	return 0;
}

static int check_callout(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct callout_event event;
	callout_handle_t handle;
	int ret;

	ret = callout_dev_set(fd, CALLOUT_NSEC_PER_MSEC, 0, &handle);
	if (ret < 0) {
		wrong("callout", "set: %s", strerror(-ret));
		if (ret == -EDQUOT)
			mend("This user is at its limit: see calloutctl info, calloutctl top.");
		return CALLOUT_EXIT_FAILED;
	}
	ret = poll(&pfd, 1, PATIENCE_MS);
	if (!ret) {
		wrong("callout", "of 1 ms has not fired in %d s", PATIENCE_MS / 1000);
		mend("Look for messages of callout in the kernel log: dmesg.");
		return CALLOUT_EXIT_FAILED;
	}
	ret = ret < 0 ? -errno : callout_dev_read(fd, &event, 1);
	if (ret < 0)
		return wrong("callout", "read: %s", strerror(-ret));
	if (event.handle != handle || event.fired < event.due)
		return wrong("callout", "of 1 ms: another callout fired, or it fired too early");
	fine("callout", "of 1 ms fired %.3f ms late",
	     (double)(event.fired - event.due) / CALLOUT_NSEC_PER_MSEC);
	return 0;
}

/* Each check needs the result of the check before it. */
int callout_cmd_check(int argc, char **argv)
{
	int fd, ret;

	(void)argv;
	if (argc != 1)
		return callout_usage("check takes no arguments");
	ret = check_module() ?: check_device();
	if (ret)
		return ret;
	fd = check_group();
	if (fd < 0)
		return CALLOUT_EXIT_FAILED;
	ret = check_tick(fd) ?: check_callout(fd);
	close(fd);
	return ret;
}
