/* SPDX-License-Identifier: GPL-2.0 */
/*
 * model.h - a scheme and a reference model that is too simple to be wrong
 *
 * The model is compiled into callout_kunit.ko and into the harness, a program
 * in user space. The functions that both must provide are at the end.
 */
#ifndef _CALLOUT_KUNIT_MODEL_H
#define _CALLOUT_KUNIT_MODEL_H

#include <linux/types.h>
#include "wheel/scheme.h"

/**
 * struct callout_model_entry - a callout and its expected state
 * @c: the callout; find searches by its arg
 * @key: the key that find looks for
 * @expires: when the callout is due
 * @latest: the time by which the callout must have come out; @expires for exact
 *	schemes
 * @seq: serial number of its queueing
 * @queued: the callout is in the scheme
 * @lazy: moved to a later time, which exempts it from first in, first out
 * @late: queued for a time that had come
 * @overtaken_by: for a late entry in a strict model: the expiry of the later
 *	entries that came out first, because they were being walked when the late
 *	entry was queued; 0 if there are none
 */
struct callout_model_entry {
	struct callout_node c;
	unsigned int key;
	u64 expires;
	u64 latest;
	u64 seq;
	bool queued;
	bool lazy;
	bool late;
	u64 overtaken_by;
};

/**
 * struct callout_model - a scheme and its model
 * @env: opaque, for callout_env_fail()
 * @s: the scheme
 * @strict: the scheme must keep the hashed wheel's guarantees too
 * @entry: all callouts
 * @nr_entries: number of callouts
 * @queued: number of callouts in the scheme
 * @seq: next serial number
 * @now: time of the last advance
 * @clock: the present time; @now or later
 * @advancing: the last advance ran out of budget
 * @fired: entries that advance has moved
 */
struct callout_model {
	void *env;
	struct callout_scheme *s;
	bool strict;
	struct callout_model_entry *entry;
	unsigned int nr_entries;
	unsigned int queued;
	u64 seq;
	u64 now;
	u64 clock;
	bool advancing;
	u64 fired;
};

/* The number of different values of the entries' keys. */
#define CALLOUT_MODEL_KEYS	7U

struct callout_model *
callout_model_new(void *env, const struct callout_scheme_ops *ops,
		  const struct callout_scheme_params *params,
		  unsigned int nr_entries);
void callout_model_free(struct callout_model *m);
void callout_model_start(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires);
void callout_model_stop(struct callout_model *m, struct callout_model_entry *e);
void callout_model_rearm(struct callout_model *m, struct callout_model_entry *e,
			 u64 expires);
bool callout_model_advance(struct callout_model *m, u64 now,
			   unsigned int budget);
struct callout_model_entry *
callout_model_fired(struct callout_model *m, struct callout_node *c, u64 now);
unsigned int callout_model_advance_all(struct callout_model *m, u64 now);
u64 callout_model_next_due(struct callout_model *m, unsigned int budget);
u64 callout_model_next_due_all(struct callout_model *m);
bool callout_model_take(struct callout_model *m, unsigned int budget);
void callout_model_take_all(struct callout_model *m);
void callout_model_resize(struct callout_model *m, unsigned int buckets);
bool callout_model_move(struct callout_model *m, unsigned int budget);
void callout_model_find(struct callout_model *m, unsigned int key);
unsigned int callout_model_chase(struct callout_model *m);
void callout_model_check(struct callout_model *m);
bool callout_model_inexact(struct callout_scheme *s);

/* The first difference ends the case, with a message. */
#define callout_env_assert(env, cond, fmt, ...)				\
do {									\
	if (unlikely(!(cond)))						\
		callout_env_fail(env, "%s:%d: %s: " fmt, __func__,	\
				 __LINE__, #cond, ##__VA_ARGS__);	\
} while (0)

/*
 * The environment provides these functions. callout_env_fail() ends the case with a
 * message, and does not return. callout_env_keep() frees @m when the case ends.
 */
__printf(2, 3) void callout_env_fail(void *env, const char *fmt, ...);
void callout_env_keep(void *env, struct callout_model *m);

#endif /* _CALLOUT_KUNIT_MODEL_H */
