/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lib_fuzz.h - the two parts of libcallout: contexts, calls
 */
#ifndef _FUZZ_LIB_FUZZ_H
#define _FUZZ_LIB_FUZZ_H

#include "input.h"

void fuzz_calls(struct input *in);

#endif /* _FUZZ_LIB_FUZZ_H */
