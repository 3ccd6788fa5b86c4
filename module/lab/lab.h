/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lab.h - the module parameters of the laboratory
 */
#ifndef _CALLOUT_LAB_H
#define _CALLOUT_LAB_H

#include "core/cpu.h"

int co_lab_configure(struct callout_config *config);
void __init co_lab_forget(void);

#endif /* _CALLOUT_LAB_H */
