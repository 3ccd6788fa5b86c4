// SPDX-License-Identifier: GPL-2.0
/*
 * alarm.c - CLOCK_BOOTTIME_ALARM, CLOCK_REALTIME_ALARM: callouts that wake the
 * system from suspend
 *
 * A callout in an alarm clock is queued and fires like a callout in the plain
 * clock. It costs more only when it fires, and when the system is suspended: then
 * this code looks for the earliest alarm callout of all files and arms a struct
 * alarm for it. The kernel programs the RTC for the earliest alarm that is armed.
 *
 * This is done in the prepare() method of a device, which is called after programs
 * are frozen and before any device is suspended. So no callout is
 * missed:
 *
 *	CPU0: a program				CPU1: suspend
 *	SET: queues a slot
 *	is frozen
 *						prepare(): finds it, arms
 *						the kernel programs the RTC
 *						the RTC wakes the system
 *						complete(): disarms
 *	is thawed
 *	SET: queues another slot
 *
 * The kernel freezes threads that submit for io_uring as well. Expiry is not
 * frozen. An alarm callout that fires after its program was frozen aborts the
 * suspend: each alarm callout that fires is a hard wake-up event, which the kernel
 * checks for between devices and while it is suspended to idle. An alarm callout
 * that is due and has not fired yet aborts the suspend in prepare().
 *
 *	CPU0: expiry				CPU1: suspend
 *						forgets earlier wake-ups
 *						freezes programs
 *	slot to the ready list
 *						prepare(): nothing pending
 *	unlock(base)
 *	wake-up event
 *						before the next device, or on the
 *						wake-up from idle: resumes
 *
 * The wake-up event lasts AWAKE_MS. During that time prepare() refuses to suspend,
 * and the program can read its event. (The kernel itself forgets wake-up events
 * from before it began to freeze programs.) A program that needs longer waits with
 * epoll(7) and EPOLLWAKEUP. The expiry of the struct alarm is a wake-up event as
 * well: the kernel forgets the alarm then, and the callout may fire a tick later.
 *
 * The struct alarm uses CLOCK_BOOTTIME whatever the callout's clock: while programs
 * are frozen, no program sets CLOCK_REALTIME. If the kernel sets CLOCK_REALTIME
 * from a hypervisor's clock, a callout in CLOCK_REALTIME_ALARM may wake the system
 * late.
 */
#include <linux/alarmtimer.h>
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/sched.h>
#include "core/queue.h"
#include "alarm.h"
#include "clock.h"
#include "file.h"
#include "handles/table.h"
#include "kcompat.h"

#define ALARM_NAME	"callout-alarm"

/* The shortest time, in milliseconds, that the system stays awake for a callout that has fired. */
#define AWAKE_MS	2000

/*
 * The longest time, in seconds, to program the RTC for: a suspend fails if the time
 * is too far ahead for the RTC. From 6.7 on the kernel itself knows how far an
 * RTC's alarm reaches; for other kernels a year is near enough.
 */
#define ALARM_REACH	(CALLOUT_RTC_BOUNDED ? 365 * 86400ULL : 86400ULL - 2)

static struct platform_device *alarm_device;
static struct alarm wake_alarm;

/* Does the kernel have alarm timers, and an RTC that wakes the system? */
bool co_alarm_works(void)
{
	return alarmtimer_get_rtcdev();
}

/*
 * May the caller set, or move, a callout in this clock? Returns 0, also if the
 * clock is not an alarm clock; -EOPNOTSUPP; or -EPERM. No base may be locked.
 */
int co_alarm_permit(clockid_t clockid)
{
	if (!co_clock_is_alarm(clockid))
		return 0;
	if (!co_alarm_works())
		return -EOPNOTSUPP;
	return capable(CAP_WAKE_ALARM) ? 0 : -EPERM;
}

/*
 * Report that callouts in alarm clocks have fired. The caller must hold no raw
 * spinlock: this function takes locks that sleep on PREEMPT_RT.
 */
void co_alarm_fired(void)
{
	pm_wakeup_dev_event(&alarm_device->dev, AWAKE_MS, true);
}

/* Return the earlier of @earliest and the latest time at which the slot may fire. */
static u64 slot_earliest(struct callout_slot *slot, u64 earliest)
{
	struct callout_base *base;
	unsigned long flags;
	u64 time;

	/*
	 * Most slots have no alarm clock. Whether a slot is pending can be seen
	 * only under the lock: expiry takes a slot that is early out of the base
	 * and queues it again.
	 */
	if (!(READ_ONCE(slot->node.flags) & CALLOUT_SLOT_ALARM))
		return earliest;
	base = co_lock(&slot->node, &flags);
	/* A time of KTIME_MAX means never. */
	if (slot->node.flags & CALLOUT_SLOT_ALARM &&
	    slot->node.state & CALLOUT_S_PENDING &&
	    co_slot_due(slot) < KTIME_MAX) {
		time = co_slot_due_mono(slot);
		/* A callout that is due has no slack left. */
		if (time > ktime_get_ns())
			time += slot->slack;
		earliest = min(earliest, time);
	}
	co_unlock(base, flags);
	return earliest;
}

static bool file_earliest(struct callout_file *file, void *data)
{
	struct callout_slot *slot;
	u64 *earliest = data;
	unsigned int n, i;

	if (!READ_ONCE(file->alarms))
		return false;
	for (n = 0; (slot = co_file_chunk(file, n)); n++) {
		for (i = 0; i < CALLOUT_CHUNK_SLOTS; i++)
			*earliest = slot_earliest(&slot[i], *earliest);
		cond_resched();
	}
	return false;
}

/*
 * Return the time by which the first callout in an alarm clock must fire, in
 * CLOCK_MONOTONIC as if that clock kept running during suspend; more than KTIME_MAX
 * if there is no such callout. Looks at every slot of the files that have had one.
 * May sleep, and waits for the handling of a step of a clock.
 */
u64 co_alarm_earliest(void)
{
	u64 earliest = U64_MAX;

	co_files_visit(file_earliest, &earliest);
	return earliest;
}
EXPORT_SYMBOL_IF_KUNIT(co_alarm_earliest);

/* Has an alarm callout fired in the last AWAKE_MS? */
static bool alarm_is_awake(struct device *dev)
{
	bool active = false;

#ifdef CONFIG_PM_SLEEP
	spin_lock_irq(&dev->power.lock);
	active = dev->power.wakeup && dev->power.wakeup->active;
	spin_unlock_irq(&dev->power.lock);
#endif
	return active;
}

/*
 * The kernel itself refuses to suspend if the alarm is less than two seconds away.
 * An alarm that has expired leaves the kernel's queue, so callouts that are due
 * already are looked for here.
 */
static int alarm_prepare(struct device *dev)
{
	u64 earliest, wake, now;

	if (!device_may_wakeup(dev))
		return 0;
	/*
	 * Look for the earliest callout first: a callout that fires after this line
	 * is a wake-up event that the kernel sees.
	 */
	earliest = co_alarm_earliest();
	if (alarm_is_awake(dev))
		return -EBUSY;
	if (earliest >= KTIME_MAX)
		return 0;
	now = ktime_get_ns();
	wake = min(earliest, now + ALARM_REACH * NSEC_PER_SEC);
	/* Do not start an alarm whose time has come. */
	if (earliest > now &&
	    alarm_start_timer(&wake_alarm,
			      ktime_add_safe(ns_to_ktime(wake),
					     ns_to_ktime(co_boot_offset())),
			      false))
		return 0;
	pm_wakeup_event(dev, AWAKE_MS);
	return -EBUSY;
}

static void alarm_complete(struct device *dev)
{
	alarm_cancel(&wake_alarm);
}

static const struct dev_pm_ops alarm_pm_ops = {
	.prepare	= alarm_prepare,
	.complete	= alarm_complete,
};

static struct platform_driver alarm_driver = {
	.driver = {
		.name			= ALARM_NAME,
		.pm			= pm_sleep_ptr(&alarm_pm_ops),
		.suppress_bind_attrs	= true,
	},
};

static callout_alarm_end_t alarm_over(struct alarm *alarm, ktime_t now)
{
	co_alarm_fired();
	return co_alarm_end();
}

int co_alarm_init(void)
{
	int ret;

	alarm_init(&wake_alarm, ALARM_BOOTTIME, alarm_over);
	ret = platform_driver_register(&alarm_driver);
	if (ret)
		return ret;
	alarm_device = platform_device_register_simple(ALARM_NAME,
						       PLATFORM_DEVID_NONE,
						       NULL, 0);
	if (IS_ERR(alarm_device)) {
		ret = PTR_ERR(alarm_device);
		goto err_driver;
	}
	ret = device_init_wakeup(&alarm_device->dev, true);
	if (ret)
		goto err_device;
	return 0;

err_device:
	platform_device_unregister(alarm_device);
err_driver:
	platform_driver_unregister(&alarm_driver);
	return ret;
}

/* All files must have been freed. */
void co_alarm_exit(void)
{
	platform_device_unregister(alarm_device);
	platform_driver_unregister(&alarm_driver);
}
