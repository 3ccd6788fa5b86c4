/* SPDX-License-Identifier: GPL-2.0 */
/*
 * openbsd.h - the kinds of OpenBSD's timeouts, for cases that run with each
 */
#ifndef _CALLOUT_KUNIT_OPENBSD_H
#define _CALLOUT_KUNIT_OPENBSD_H

#include <kunit/test.h>
#include <linux/kernel.h>
/* Some names of cases are also names of the header's macros. */
#define CALLOUT_BSD_NO_TICKS
#include <bsd/openbsd/sys/timeout.h>

static const int kinds[] = { 0, TIMEOUT_PROC, TIMEOUT_PROC | TIMEOUT_MPSAFE };

static void kind_desc(const int *flags, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s",
		 *flags & TIMEOUT_PROC ? "TIMEOUT_PROC" : "softclock",
		 *flags & TIMEOUT_MPSAFE ? " TIMEOUT_MPSAFE" : "");
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_desc);

#endif /* _CALLOUT_KUNIT_OPENBSD_H */
