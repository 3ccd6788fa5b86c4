// SPDX-License-Identifier: GPL-2.0
/*
 * with_fifo.c - runs a command with a real-time priority
 *
 *	with_fifo PRIORITY COMMAND [ARGUMENT...]
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param param = {};

	if (argc < 3) {
		fputs("usage: with_fifo PRIORITY COMMAND [ARGUMENT...]\n",
		      stderr);
		return 1;
	}
	param.sched_priority = atoi(argv[1]);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
