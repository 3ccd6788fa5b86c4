/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cpu.h - a base for each CPU, as CPUs come and go
 */
#ifndef _CALLOUT_CPU_H
#define _CALLOUT_CPU_H

#include <linux/seqlock.h>
#include "base.h"

/* Bumped when a dead CPU's callouts migrate: scans base by base must retry. */
extern seqcount_t callout_moves;

/**
 * struct callout_config - what the bases are made with
 * @tick: the tick source of kernel code's class
 * @tick_ns: the length of its ticks
 * @device_tick: the tick source of programs' classes
 * @device_tick_ns: the length of its ticks
 * @scheme: the scheme
 * @params: for the scheme's create, which gets time and node besides; without
 *	buckets their number follows that of the callouts
 * @single: all CPUs share one base of each class
 */
struct callout_config {
	const struct callout_tick_source *tick;
	u64 tick_ns;
	const struct callout_tick_source *device_tick;
	u64 device_tick_ns;
	const struct callout_scheme_ops *scheme;
	struct callout_scheme_params params;
	bool single;
};

/* The classes that there are. Written with CPUs kept from coming and going. */
extern unsigned int callout_nr_classes;

int callout_cpus_init(const struct callout_config *config);
int callout_class_add(void);
u64 callout_cpus_exit(void);

#endif /* _CALLOUT_CPU_H */
