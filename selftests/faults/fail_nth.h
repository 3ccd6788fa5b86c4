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

/* A walk that gets this far does not end. */
#define FAULTS_MAX	1000U

#define FAULTS_DEBUGFS	"/sys/kernel/debug/"

/* The end of the kernel's text, from kallsyms, or 0 if unknown. */
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

	snprintf(path, sizeof(path), FAULTS_DEBUGFS "%s", file);
	return write_text(path, value);
}

/* Can faults be restricted to where a module is on the stack? Not on User Mode Linux. */
static inline bool faults_can_filter(void)
{
	return !access(FAULTS_DEBUGFS "failslab/require-start", W_OK);
}

/**
 * struct faults - which faults are possible, in addition to faults of copies
 * @slabs: slab allocations
 * @pages: page allocations. Whether a slab needs a page varies, and with it the
 *	number of all later faults. Without page faults, a walk meets each
 *	allocation.
 * @anywhere: also where no module is on the stack. On x86 the kernel maps
 *	modules above its own text.
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
	/* The first filter lets no cache pass. */
	return faults_write("failslab/cache-filter", f->slabs ? "N" : "Y") &&
	       faults_write("fail_page_alloc/min-order",
			    f->pages ? "0" : "20") &&
	       (!faults_can_filter() ||
		(faults_write("failslab/require-start", value) &&
		 faults_write("fail_page_alloc/require-start", value) &&
		 faults_write("fail_usercopy/require-start", value)));
}

/* Open the calling thread's fail-nth. Return -1 if the kernel injects no faults. */
static inline int faults_open(void)
{
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Inject the @n-th possible fault from here on. */
static inline bool fault_at(int fail_nth, unsigned int n)
{
	char value[16];
	int len = snprintf(value, sizeof(value), "%u", n);

	return pwrite(fail_nth, value, len, 0) == len;
}

/*
 * Return whether the fault was injected, and stop injecting it. If faults may be
 * anywhere, the copies in here count too: a failing copy was the n-th.
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
