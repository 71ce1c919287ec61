/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The steps of a trial's time, for what is counted by step: as many whatever the
 * trial's length, so that memory is too. */
#ifndef NFCHAIN_MOMENT_H
#define NFCHAIN_MOMENT_H

#include "kernel.h"
#include "stamp.h"

enum {
	MOMENTS = 64,
};

/* moment gives the step that a time lies in, MOMENTS or more if it is in none: by a product with scale,
 * 2^(32 + unit) ns over the length of a step, of the time in units of 2^unit ns. */
static inline __u64 moment(__u64 time, __u64 origin, __u64 scale, __u64 unit)
{
	return ((time - origin & STAMP_CLOCK) >> unit) * scale >> 32;
}

#endif
