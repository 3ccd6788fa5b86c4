/* SPDX-License-Identifier: GPL-2.0 */
/*
 * walk.h - each allocation and each copy of an operation fails
 *
 * The operation is done to a new file with the first possible fault injected, then
 * to another new file with the second fault, and so on until no fault is injected.
 * If the operation fails, it does so as callout(4) says, nothing has changed, and
 * the same call without a fault succeeds. Where part of the work may have been
 * done, the result says which. At the end every callout fires, once.
 *
 * The job "faults" runs tests with this: few kernels inject faults.
 */
#ifndef _CALLOUT_SELFTESTS_WALK_H
#define _CALLOUT_SELFTESTS_WALK_H

#include "faulty.h"

/* More operations and events of a batch than are copied at a time. */
#define MANY		40U

/*
 * The number of callouts in a chunk of a module with the laboratory, as the debug
 * kernel's, and in as many chunks as fit into the first directory.
 */
#define CHUNK		34U
#define DIRECTORY	(8 * CHUNK)

/**
 * struct operation - an operation, the ways in which it may fail, and its effects
 * @name: the name to print
 * @pending: callouts that are pending before
 * @unread: events that are unread before
 * @hashed: the pending callouts are set by TIMEOUT
 * @opens: the call opens the file
 * @ring: the call is made by io_uring, and only faults in the module should meet it
 * @pages: it allocates pages, or without a module on the stack: only the last
 *	variant is sure to meet the fault
 * @nomem: how often the call must fail at least with ENOMEM; 0: never
 * @efault: as @nomem, for EFAULT
 * @prepare: further preparation, or NULL
 * @call: the call; a negative number is an error
 * @failed: is the file as it must be after a failure? NULL: unchanged
 * @done: is the file as it must be otherwise? Updates the list of outstanding callouts.
 */
struct operation {
	const char *name;
	unsigned int pending;
	unsigned int unread;
	bool hashed;
	bool opens;
	bool ring;
	bool pages;
	unsigned int nomem;
	unsigned int efault;
	bool (*prepare)(struct faulty *f);
	int (*call)(struct faulty *f);
	bool (*failed)(struct faulty *f);
	bool (*done)(struct faulty *f, int ret);
};

/* A walk over the faults of an operation. */
struct walk {
	const struct operation *o;
	struct faulty *f;
	int fail_nth;
	struct faults faults;
	unsigned int n;		/* of the fault */
	unsigned int injected;
	unsigned int nomem;
	unsigned int efault;
};

FIXTURE(faults) {
	struct walk walk;
};

FIXTURE_VARIANT(faults) {
	struct faults faults;
};

FIXTURE_VARIANT_ADD(faults, slabs) { .faults.slabs = true };
FIXTURE_VARIANT_ADD(faults, pages) { .faults.pages = true };
FIXTURE_VARIANT_ADD(faults, anywhere) { .faults = { true, true, true } };

FIXTURE_SETUP(faults)
{
	self->walk.faults = variant->faults;
	if (!variant->faults.anywhere && !faults_can_filter())
		SKIP(return, "the kernel cannot filter faults by the stack");
	ASSERT_TRUE(faults_select(&variant->faults));
	ASSERT_TRUE(pin_to_cpu(0));
	self->walk.f = malloc(sizeof(*self->walk.f));
	ASSERT_NE(NULL, self->walk.f);
	/* A page fault of the program would consume the injected fault. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	self->walk.fail_nth = faults_open();
	ASSERT_LE(0, self->walk.fail_nth);
}

FIXTURE_TEARDOWN(faults)
{
	close(self->walk.fail_nth);
	free(self->walk.f);
}

static inline bool begin(struct faulty *f, const struct operation *o)
{
	memset(f, 0, sizeof(*f));
	f->other = -1;
	f->fd = -1;
	if (o->opens)
		return true;
	f->fd = dev_open(O_NONBLOCK);
	if (f->fd < 0 || (o->ring && !ring_open(&f->ring, 0)) ||
	    !faulty_add(f, PENDING_ID, o->pending, HOUR, o->hashed) ||
	    !faulty_add(f, UNREAD_ID, o->unread, 0, false) ||
	    !wait_unread(f->fd, o->unread) || (o->prepare && !o->prepare(f)))
		return false;
	take_snapshot(f, &f->before);
	return true;
}

static inline bool may_fail(struct walk *w, int error)
{
	if (error == -ENOMEM) {
		w->nomem++;
		return w->o->nomem || w->faults.anywhere;
	}
	if (error == -EFAULT) {
		w->efault++;
		return w->o->efault || w->faults.anywhere;
	}
	return false;
}

/* Do the operation once. Return what is wrong, or NULL. */
static inline const char *attempt(struct walk *w)
{
	const struct operation *o = w->o;
	struct faulty *f = w->f;
	bool injected;
	int ret;

	if (!begin(f, o))
		return "could not be prepared";
	if (!fault_at(w->fail_nth, w->n))
		return "fail-nth could not be written";
	ret = o->call(f);
	injected = fault_injected(w->fail_nth);
	w->injected += injected;
	if (ret < 0) {
		if (!injected)
			return "failed without a fault";
		if (!may_fail(w, ret))
			return "failed with another error";
		if (!(o->failed ? o->failed(f) : is_unchanged(f)))
			return "failed, and something has changed";
		ret = o->call(f);
		if (ret < 0)
			return "fails again, without a fault";
	}
	if (!o->done(f, ret))
		return "did not do what it says";
	if (!all_fire(f))
		return "lost a callout, or has one twice";
	return faulty_close(f) ? NULL : "could not be closed";
}

/* Inject one fault after the other, until none is injected. */
static inline const char *walk(struct walk *w)
{
	const char *wrong = NULL;

	do {
		w->n++;
		wrong = attempt(w);
	} while (!wrong && w->injected == w->n && w->n < FAULTS_MAX);
	if (!wrong && w->injected == w->n)
		return "has no end of faults";
	return wrong;
}

/*
 * How often the call must have failed. Where pages count, a walk may miss faults,
 * even the only one.
 */
static inline unsigned int least(const struct walk *w, unsigned int times)
{
	return w->faults.pages ? times > 1 : times;
}

static inline void walk_all(struct __test_metadata *_metadata, struct walk on,
			    const struct operation *operations, unsigned int n)
{
	unsigned int i, all = 0;
	const char *wrong;

	for (i = 0; i < n; i++) {
		struct walk w = on;

		w.o = &operations[i];
		if (w.o->ring && w.faults.anywhere)
			continue;
		wrong = walk(&w);
		EXPECT_EQ(NULL, wrong) {
			TH_LOG("%s: fault %u: %s", w.o->name, w.n, wrong);
		}
		printf("# %s: %u faults: %u times ENOMEM, %u times EFAULT\n",
		       w.o->name, w.injected, w.nomem, w.efault);
		all += w.injected;
		if (!w.faults.slabs || (w.o->pages && !w.faults.anywhere))
			continue;
		EXPECT_LE(least(&w, w.o->nomem), w.nomem);
		EXPECT_LE(least(&w, w.o->efault), w.efault);
	}
	printf("# faults injected: %u\n", all);
}

#endif /* _CALLOUT_SELFTESTS_WALK_H */
