/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mock_memory.h - the state of the mock kernel that a test sets
 */
#ifndef _FUZZ_MOCK_MEMORY_H
#define _FUZZ_MOCK_MEMORY_H

/* How many allocations succeed from now on. */
extern unsigned int mock_allocations;
/* The state of get_random_u64(). */
extern u64 mock_random;

#endif /* _FUZZ_MOCK_MEMORY_H */
