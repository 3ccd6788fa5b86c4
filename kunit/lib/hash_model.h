/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hash_model.h - a (func, arg) hash and a model that is too simple to be wrong
 *
 * The slots are in no table and no base; the model is an array that is searched
 * from end to end.
 */
#ifndef _CALLOUT_KUNIT_HASH_MODEL_H
#define _CALLOUT_KUNIT_HASH_MODEL_H

#include <kunit/test.h>
#include "handles/hash.h"

#define CALLOUT_TEST_HASH_SLOTS	600U

/**
 * struct callout_test_hash - a hash and its expected contents
 * @test: the case
 * @hash: the hash
 * @slots: how many of @slot are used
 * @slot: all slots; the handle is the index plus one
 * @seq: serial number of a slot's insertion; 0: not inserted
 * @next_seq: the next serial number
 */
struct callout_test_hash {
	struct kunit *test;
	struct callout_hash hash;
	unsigned int slots;
	struct callout_slot slot[CALLOUT_TEST_HASH_SLOTS];
	u64 seq[CALLOUT_TEST_HASH_SLOTS];
	u64 next_seq;
};

struct callout_test_hash *callout_test_hash_create(struct kunit *test,
						   unsigned int bits);
void callout_test_hash_restart(struct callout_test_hash *m, unsigned int bits);
unsigned int callout_test_hash_bits(struct callout_test_hash *m);
void callout_test_hash_key(unsigned int key, u64 *func, u64 *arg);
bool callout_test_hash_insert(struct callout_test_hash *m, unsigned int i,
			      unsigned int key, u64 expires);
bool callout_test_hash_insert_only(struct callout_test_hash *m, unsigned int i,
				   unsigned int key, u64 expires);
void callout_test_hash_remove(struct callout_test_hash *m, unsigned int i);
void callout_test_hash_move(struct callout_test_hash *m, unsigned int i,
			    u64 expires);
void callout_test_hash_fire(struct callout_test_hash *m, unsigned int key,
			    u64 now);
u64 callout_test_hash_expect(struct callout_test_hash *m, unsigned int key);
u64 callout_test_hash_take(struct callout_test_hash *m, unsigned int key);
u64 callout_test_hash_look(struct callout_test_hash *m, unsigned int key);
bool callout_test_hash_growing(struct callout_test_hash *m);
void callout_test_hash_grow_a_step(struct callout_test_hash *m);

#endif /* _CALLOUT_KUNIT_HASH_MODEL_H */
