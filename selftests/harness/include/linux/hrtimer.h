/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hrtimer.h - empty: kcompat.h includes it, and no scheme uses it
 */
