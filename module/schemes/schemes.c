// SPDX-License-Identifier: GPL-2.0
/*
 * schemes.c - the table of schemes
 */
#include <linux/callout_scheme.h>
#include "../kcompat.h"

const struct callout_scheme_ops *const callout_schemes[] = {
#define CALLOUT_SCHEME(name)	&callout_##name,
#include "list.h"
#undef CALLOUT_SCHEME
	NULL
};
EXPORT_SYMBOL_IF_KUNIT(callout_schemes);
