/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wake.h - alarm clocks: whether the kernel has them, and the capability for them
 */
#ifndef _CALLOUT_SELFTESTS_WAKE_H
#define _CALLOUT_SELFTESTS_WAKE_H

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline bool kernel_has_alarms(void)
{
	struct timespec ts;

	return !clock_getres(CLOCK_BOOTTIME_ALARM, &ts);
}

/* Take CAP_WAKE_ALARM from the thread, or give it back. */
static inline bool may_wake(bool may)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	__u32 bit = CAP_TO_MASK(CAP_WAKE_ALARM);
	__u32 *effective = &data[CAP_TO_INDEX(CAP_WAKE_ALARM)].effective;

	if (syscall(SYS_capget, &header, data))
		return false;
	*effective = may ? *effective | bit : *effective & ~bit;
	return !syscall(SYS_capset, &header, data);
}

#endif /* _CALLOUT_SELFTESTS_WAKE_H */
