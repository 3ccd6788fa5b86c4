/* SPDX-License-Identifier: GPL-2.0 */
/*
 * top.h - who sets callouts
 */
#ifndef _CALLOUT_TOP_H
#define _CALLOUT_TOP_H

struct seq_file;

/* Handlers, and as many programs, that are told apart; the rest are others. */
#define CALLOUT_TOP_OWNERS	512U

int callout_top_begin(void);
void callout_top_end(void);
void callout_top_show(struct seq_file *m);

#endif /* _CALLOUT_TOP_H */
