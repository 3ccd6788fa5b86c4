/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lab.h - the module parameters of the laboratory
 */
#ifndef _CALLOUT_LAB_H
#define _CALLOUT_LAB_H

#include "base.h"

/**
 * struct callout_config - what the bases are made with
 * @tick: the tick source
 * @scheme: the scheme
 * @params: for the scheme's create; without buckets their number follows that of
 *	the callouts
 * @single: all CPUs share one base
 */
struct callout_config {
	const struct callout_tick_source *tick;
	const struct callout_scheme_ops *scheme;
	struct callout_scheme_params params;
	bool single;
};

#ifdef CONFIG_CALLOUT_SCHEMES
int callout_lab_configure(struct callout_config *config);
#else
static inline int callout_lab_configure(struct callout_config *config)
{
	return 0;
}
#endif

#endif /* _CALLOUT_LAB_H */
