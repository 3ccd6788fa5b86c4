/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mm.h - kvmalloc() and variants, which kernels declare here or in slab.h
 */
#include <linux/slab.h>
