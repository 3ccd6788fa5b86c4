// SPDX-License-Identifier: GPL-2.0
/*
 * leap.c - callouts of CLOCK_REALTIME across a leap second
 */
#include <sys/timex.h>

#include "lib/realtime.h"

#define DAY		(24 * HOUR)
#define PERIOD		(200 * MSEC)
#define RELATIVE	(6 * SEC)
/* Time after midnight by which each CPU has the leap second, also on a busy machine. */
#define AFTER		(3 * SEC)

enum { ABSOLUTE, RELATIVE_TO, PERIODIC, ON_SET, ALL };
#define ALL_SEEN	((1U << ALL) - 1)

/* The callouts that are set before the leap second. */
struct leap {
	__u64 midnight;
	__u64 before;		/* CLOCK_MONOTONIC before the relative callout was set */
	__u64 next;		/* when the periodic callout is due next */
	int tai;
};

static int status(int status)
{
	struct timex t = { .modes = ADJ_STATUS, .status = status };

	return adjtimex(&t) < 0 ? -1 : t.tai;
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC, or a little more if the task was preempted. */
static __u64 offset(void)
{
	__u64 mono = dev_now();

	return real_now() - mono;
}

/* A second will be inserted or deleted @lead from now, with callouts pending. */
static bool begin(int fd, int how, __u64 lead, struct leap *l)
{
	struct callout_op op;

	l->midnight = (real_now() / DAY + 2) * DAY;
	/* Setting the clock clears the status. */
	if (!set_clock(l->midnight - lead))
		return false;
	/* Without STA_PLL the kernel would keep the state of the previous leap second. */
	l->tai = status(how | STA_PLL);
	l->before = dev_now();
	l->next = l->midnight - SEC;
	op = callout_op_set(l->next, PERIODIC);
	op.clockid = CLOCK_REALTIME;
	op.flags = CALLOUT_OPF_ABSTIME;
	op.period = PERIOD;
	return l->tai >= 0 &&
	       set_real(fd, l->midnight + AFTER, ABSOLUTE) &&
	       set_on(fd, CLOCK_REALTIME, 0, RELATIVE, RELATIVE_TO) &&
	       !do_op(fd, &op) &&
	       set_on(fd, CLOCK_REALTIME, CALLOUT_OPF_ABSTIME | CALLOUT_OPF_CANCEL_ON_SET,
		      l->midnight + 100 * HOUR, ON_SET);
}

/* The leap second has come: the clock has another offset to TAI. */
static bool has_come(const struct leap *l)
{
	struct timex t = { 0 };

	return adjtimex(&t) >= 0 && t.tai != l->tai;
}

/*
 * Read each event while a second is inserted or deleted, and for some seconds
 * afterwards: none is early, and no period is left out or comes twice. Return the
 * callouts that had an event, as bits. Return 0 if no leap second came, since on a
 * slow machine midnight passed before the status was set.
 */
static unsigned int see(struct __test_metadata *_metadata, int fd,
			struct leap *l)
{
	unsigned int seen = 0;
	struct callout_event e;
	bool come = false;

	while (seen != ALL_SEEN || l->next < l->midnight + AFTER + SEC) {
		if (!readable_within(fd, WAIT_MS) ||
		    dev_read(fd, &e, 1) != 1)
			break;
		come = come || has_come(l);
		if (!come && real_now() >= l->midnight + AFTER / 2)
			return 0;
		seen |= 1U << e.cookie;
		EXPECT_EQ(e.cookie == ON_SET ? CALLOUT_EVENT_CLOCK_SET :
					       CALLOUT_EVENT_FIRED, e.type);
		switch (e.cookie) {
		case ABSOLUTE:
			EXPECT_EQ(l->midnight + AFTER, e.due);
			/* Judge by the clock after the leap second. */
			EXPECT_LE(e.due, e.fired + offset());
			break;
		case RELATIVE_TO:
			EXPECT_LE(l->before + RELATIVE, e.fired);
			break;
		case PERIODIC:
			EXPECT_EQ(l->next, e.due);
			if (e.due >= l->midnight + AFTER)
				EXPECT_LE(e.due, e.fired + offset());
			l->next += (1 + e.overrun) * PERIOD;
			break;
		case ON_SET:
			EXPECT_TRUE(come);
			break;
		}
	}
	return seen;
}

static void leap(struct __test_metadata *_metadata, int fd, int how)
{
	struct callout_match all = { 0 };
	struct callout_event e[8];
	unsigned int seen = 0;
	struct leap l;
	__u64 lead;

	for (lead = 3 * SEC; !seen && lead < WAIT_MS * MSEC; lead *= 2) {
		ASSERT_TRUE(begin(fd, how, lead, &l));
		seen = see(_metadata, fd, &l);
		EXPECT_LE(0, dev_ioctl(fd, CALLOUT_IOC_CANCEL_MATCHING, &all));
		while (dev_read(fd, e, 8) > 0)
			;
		EXPECT_LE(0, status(0));
	}
	EXPECT_EQ(ALL_SEEN, seen);
}

TEST_F(realtime, second_inserted)
{
	leap(_metadata, self->fd, STA_INS);
}

TEST_F(realtime, second_deleted)
{
	leap(_metadata, self->fd, STA_DEL);
}

TEST_HARNESS_MAIN
