// SPDX-License-Identifier: GPL-2.0
/*
 * schemes.c - the table of schemes
 */
#include <linux/callout_scheme.h>
#include <linux/string.h>

const struct callout_scheme_ops *const callout_schemes[] = {
#define CALLOUT_SCHEME(name)	&callout_##name,
#include "list.h"
#undef CALLOUT_SCHEME
	NULL
};

/* The scheme of that name, or NULL. */
const struct callout_scheme_ops *callout_scheme_find(const char *name)
{
	const struct callout_scheme_ops *const *ops = callout_schemes;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}
