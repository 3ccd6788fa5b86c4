// SPDX-License-Identifier: GPL-2.0
/*
 * mutant_user.c - tells a program which mutant of a sample it is, and what it has
 * reached
 *
 * CALLOUT_MUTANT is its number; 0 is none of them. CALLOUT_REACHED names a file
 * that gets a byte for each number, 1 if its code has run: in this process, or in
 * its children.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "mutant.h"

static unsigned char nowhere[MUTANTS + 1];
unsigned char *callout_reached = nowhere;
unsigned int callout_mutant;

__attribute__((__constructor__)) static void mutant_begin(void)
{
	const char *number = getenv("CALLOUT_MUTANT");
	const char *name = getenv("CALLOUT_REACHED");
	long fd;
	void *at;

	if (number)
		callout_mutant = strtoul(number, NULL, 10);
	if (!name)
		return;
	/* By number: the fuzzer replaces open() and close(). */
	fd = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(nowhere)))
		abort();
	at = mmap(NULL, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		abort();
	callout_reached = at;
	syscall(SYS_close, fd);
}
