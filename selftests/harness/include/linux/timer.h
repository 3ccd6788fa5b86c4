/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timer.h - empty: kcompat.h includes it, and no scheme uses it
 */
