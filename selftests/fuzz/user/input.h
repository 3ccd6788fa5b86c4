/* SPDX-License-Identifier: GPL-2.0 */
/*
 * input.h - the fuzzer's input as a sequence of choices
 *
 * Past its end every choice is 0, so that any prefix of an input is an input.
 */
#ifndef _FUZZ_INPUT_H
#define _FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
	const uint8_t *at;
	const uint8_t *end;
};

/* A difference from the model ends the run; libFuzzer keeps the input. */
#define fuzz_assert(cond, fmt, ...)					\
do {									\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: %s: " fmt "\n", __func__,	\
			__LINE__, #cond, ##__VA_ARGS__);		\
		abort();						\
	}								\
} while (0)

static inline bool input_left(const struct input *in)
{
	return in->at < in->end;
}

static inline unsigned int input_byte(struct input *in)
{
	return input_left(in) ? *in->at++ : 0;
}

/* A number less than @n, which is at most 65536. */
static inline unsigned int input_below(struct input *in, unsigned int n)
{
	unsigned int v = input_byte(in);

	if (n > 256)
		v |= input_byte(in) << 8;
	return v % n;
}

/*
 * A distance: most are small, or near a power of two or a multiple of @scale;
 * none is more than @reach.
 */
static inline uint64_t input_distance(struct input *in, uint64_t scale,
				      uint64_t reach)
{
	unsigned int v = input_byte(in), w;
	uint64_t d;

	if (v < 96) {
		d = v;
	} else if (v < 160) {
		d = (v - 96) * scale / 8;
	} else if (v < 224) {
		w = input_byte(in);
		d = (1ULL << (v - 160)) + w - 2;
	} else {
		d = (v - 224) * scale + input_byte(in);
	}
	return d < reach ? d : reach;
}

#endif /* _FUZZ_INPUT_H */
