// SPDX-License-Identifier: GPL-2.0
/*
 * user_load.c - what else a machine may have to do when timers are due, without end
 *
 *	user_load packets	sends packets to this machine, one after another
 *	user_load hog		computes for 20 ms, sleeps for 20 ms, and so on
 *	user_load together	sets a million callouts for one moment, and reads
 *				their events
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "lib/common.h"

#define MILLION		1000000U
#define AT_A_TIME	8192U
#define HOG		(20 * MSEC)

static void packets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(to);
	char data[64] = {};

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(in >= 0 && out >= 0, "socket");
	check(!bind(in, (struct sockaddr *)&to, size), "bind");
	check(!getsockname(in, (struct sockaddr *)&to, &size), "getsockname");
	/* Nobody reads them: when the buffer is full, they are dropped on arrival. */
	for (;;)
		check(sendto(out, data, sizeof(data), 0, (struct sockaddr *)&to, size) ==
		      sizeof(data), "sendto");
}

static void hog(void)
{
	__u64 end;

	for (;;) {
		end = dev_now() + HOG;
		while (dev_now() < end)
			;
		sleep_ns(HOG);
	}
}

static void together(void)
{
	static struct callout_event events[AT_A_TIME];
	static struct callout_op ops[AT_A_TIME];
	unsigned int i, n, left;
	int fd = dev_open(0), got;
	__u64 due;

	check(fd >= 0, "open");
	for (;;) {
		/* Long enough to set them all. */
		due = dev_now() + SEC;
		for (left = MILLION; left; left -= n) {
			n = left < AT_A_TIME ? left : AT_A_TIME;
			for (i = 0; i < n; i++) {
				ops[i] = callout_op_set(due, i);
				ops[i].flags = CALLOUT_OPF_ABSTIME;
			}
			check(do_ops(fd, ops, n) == (int)n, "BATCH");
		}
		for (left = MILLION; left; left -= got) {
			got = dev_read(fd, events, AT_A_TIME);
			check(got > 0, "read");
		}
	}
}

int main(int argc, char **argv)
{
	const char *load = argc == 2 ? argv[1] : "";

	if (!strcmp(load, "packets"))
		packets();
	else if (!strcmp(load, "hog"))
		hog();
	else if (!strcmp(load, "together"))
		together();
	fputs("usage: user_load packets | hog | together\n", stderr);
	return 1;
}
