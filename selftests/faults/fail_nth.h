/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fail_nth.h - the n-th allocation or copy of this thread fails, once
 *
 * The kernel needs CONFIG_FAULT_INJECTION; the job "faults" configures it. It
 * counts slab and page allocations, and copy_from_user(), copy_to_user() and
 * iterators, but not get_user(), put_user() and unsafe_*(): see device/memory.c
 * for these.
 */
#ifndef _CALLOUT_SELFTESTS_FAIL_NTH_H
#define _CALLOUT_SELFTESTS_FAIL_NTH_H

#include "lib/common.h"

/* A walk ends before this, or never. */
#define FAULTS_MAX	1000U

#define FAULTS_DEBUGFS	"/sys/kernel/debug/"

/* An address, as kallsyms has it, of the end of the kernel's text; 0 if unknown. */
static inline unsigned long long faults_text_end(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long address, end = 0;
	char name[256];

	while (f && !end && fscanf(f, "%llx %*c %255s%*[^\n]", &address,
				   name) == 2)
		if (!strcmp(name, "_etext"))
			end = address;
	if (f)
		fclose(f);
	return end;
}

static inline bool faults_write(const char *file, const char *value)
{
	char path[128];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), FAULTS_DEBUGFS "%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, value, strlen(value)) ==
			(ssize_t)strlen(value);
	if (fd >= 0)
		close(fd);
	return ok;
}

/**
 * struct faults - which faults are possible, besides those of copies
 * @slabs: slab allocations
 * @pages: page allocations. Whether a slab needs a page varies, and with it the
 *	number of all later faults: without, a walk meets each allocation.
 * @anywhere: not only where a module is on the stack. The kernel maps modules
 *	above its own text, on x86.
 */
struct faults {
	bool slabs;
	bool pages;
	bool anywhere;
};

static inline bool faults_select(const struct faults *f)
{
	unsigned long long from = f->anywhere ? 0 : faults_text_end();
	char value[32];

	if (!f->anywhere && !from)
		return false;
	snprintf(value, sizeof(value), "0x%llx", from);
	/* No cache passes the filter. */
	return faults_write("failslab/cache-filter", f->slabs ? "N" : "Y") &&
	       faults_write("fail_page_alloc/min-order",
			    f->pages ? "0" : "20") &&
	       faults_write("failslab/require-start", value) &&
	       faults_write("fail_page_alloc/require-start", value) &&
	       faults_write("fail_usercopy/require-start", value);
}

/* Of the thread that calls this; -1 if the kernel injects no faults. */
static inline int faults_open(void)
{
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Has the @n-th possible fault from here on injected. */
static inline bool fault_at(int fail_nth, unsigned int n)
{
	char value[16];
	int len = snprintf(value, sizeof(value), "%u", n);

	return pwrite(fail_nth, value, len, 0) == len;
}

/*
 * Whether it was injected since; if not, it is not injected any more. These copies
 * count too, if faults may be anywhere: one that fails was the n-th.
 */
static inline bool fault_injected(int fail_nth)
{
	char value[16] = "";
	ssize_t len = pread(fail_nth, value, sizeof(value) - 1, 0);
	bool injected = len > 0 && value[0] == '0';

	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return injected;
}

#endif /* _CALLOUT_SELFTESTS_FAIL_NTH_H */
