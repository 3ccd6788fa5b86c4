/* SPDX-License-Identifier: GPL-2.0 */
/*
 * version.h - empty: the Makefile says that the kernel is newer than any
 */
