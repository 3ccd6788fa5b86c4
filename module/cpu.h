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

int callout_cpus_init(const struct callout_tick_source *tick,
		      const struct callout_scheme_ops *ops,
		      const struct callout_scheme_params *params, bool single);
u64 callout_cpus_exit(void);

#endif /* _CALLOUT_CPU_H */
