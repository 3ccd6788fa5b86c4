/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vmalloc.h - kvmalloc() and its kin, which kernels declare here or in slab.h
 */
#include <linux/slab.h>
