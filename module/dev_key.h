/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev_key.h - callouts that are named by a number of the program's
 */
#ifndef _CALLOUT_DEV_KEY_H
#define _CALLOUT_DEV_KEY_H

#include <linux/types.h>
#include <uapi/linux/callout.h>
#include "slot.h"

struct callout_file;
struct callout_op_ctx;

/*
 * Has the callout of a slot that is CALLOUT_SLOT_HASHED a key? Its func in the hash
 * is CALLOUT_KEY_FUNC then, which TIMEOUT cannot have.
 */
static inline bool callout_slot_keyed(const struct callout_slot *slot)
{
	return callout_slot_key(slot) == CALLOUT_KEY_FUNC;
}

int callout_file_key(struct callout_file *file, struct callout_op *op,
		     struct callout_op_ctx *ctx);

#endif /* _CALLOUT_DEV_KEY_H */
