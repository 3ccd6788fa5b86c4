/* SPDX-License-Identifier: GPL-2.0 */
/*
 * model.h - a scheme beside a reference model that is too simple to be wrong
 */
#ifndef _CALLOUT_KUNIT_MODEL_H
#define _CALLOUT_KUNIT_MODEL_H

#include <linux/callout_scheme.h>
#include "common.h"

/**
 * struct callout_model_entry - what the model knows of a callout
 * @c: the callout
 * @expires: when it is due
 * @seq: when it was filed, as a serial number
 * @queued: it is in the scheme
 * @lazy: moved to a later time; not bound to be first in, first out
 * @late: filed during an advance for a time up to that advance's
 * @overtaken_by: of a late one: expiry of those later ones that came out
 *	first, because they were being walked when it was filed; 0: none
 */
struct callout_model_entry {
	struct callout c;
	u64 expires;
	u64 seq;
	bool queued;
	bool lazy;
	bool late;
	u64 overtaken_by;
};

/**
 * struct callout_model - a scheme and its model
 * @test: the case
 * @s: the scheme
 * @entry: all callouts
 * @nr_entries: how many there are
 * @queued: how many of them are in the scheme
 * @seq: next serial number
 * @now: time of the last advance
 * @advancing: the last advance ran out of budget
 * @fired: entries that advance has moved
 */
struct callout_model {
	struct kunit *test;
	struct callout_scheme *s;
	struct callout_model_entry *entry;
	unsigned int nr_entries;
	unsigned int queued;
	u64 seq;
	u64 now;
	bool advancing;
	u64 fired;
};

struct callout_model *callout_model_create(struct kunit *test,
					   unsigned int buckets,
					   unsigned int nr_entries);
void callout_model_start(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires);
void callout_model_stop(struct callout_model *m, struct callout_model_entry *e);
void callout_model_rearm(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires);
bool callout_model_advance(struct callout_model *m, u64 now,
			   unsigned int budget);
unsigned int callout_model_advance_all(struct callout_model *m, u64 now);
u64 callout_model_min(struct callout_model *m);
u64 callout_model_next_due(struct callout_model *m, unsigned int budget);
u64 callout_model_next_due_all(struct callout_model *m);
bool callout_model_take(struct callout_model *m, unsigned int budget);
void callout_model_take_all(struct callout_model *m);
unsigned int callout_model_chase(struct callout_model *m);
void callout_model_check(struct callout_model *m);

#endif /* _CALLOUT_KUNIT_MODEL_H */
