// SPDX-License-Identifier: GPL-2.0
/*
 * mock_kernel.c - memory, RCU and random numbers of the mock kernel
 */
#include <stdlib.h>
#include "mock_kernel.h"
#include "mock_memory.h"

unsigned int mock_cpu;
bool mock_irqs_off;
unsigned int mock_locks;
unsigned int mock_allocations = UINT_MAX;
u64 mock_random;

static struct rcu_head *later;

static bool no_memory(void)
{
	if (!mock_allocations)
		return true;
	if (mock_allocations != UINT_MAX)
		mock_allocations--;
	return false;
}

void *harness_alloc(size_t size, bool zero)
{
	if (no_memory())
		return NULL;
	return zero ? calloc(1, size) : malloc(size);
}

void harness_free(const void *p)
{
	free((void *)p);
}

void *mock_kmalloc(size_t size)
{
	void *p;

	if (no_memory())
		return NULL;
	p = aligned_alloc(size, size);
	return p ? memset(p, 0, size) : NULL;
}

/* The rcu_head is the first member of every object that is freed by this. */
void mock_free_later(void *p)
{
	struct rcu_head *head = p;

	head->next = later;
	later = head;
}

void mock_free_now(void)
{
	struct rcu_head *head;

	while (later) {
		head = later;
		later = head->next;
		free(head);
	}
}

u64 get_random_u64(void)
{
	mock_random = mock_random * 6364136223846793005ULL + 1442695040888963407ULL;
	return mock_random ^ mock_random >> 29;
}
