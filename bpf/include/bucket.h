/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Log-linear histograms: 64 buckets to each power of two, so that no bucket is wider
 * than 1/64 (1.6%) of the values in it; values below 64 have buckets of their own. */
#ifndef NFCHAIN_BUCKET_H
#define NFCHAIN_BUCKET_H

#include "kernel.h"

enum {
	BUCKET_BITS = 6,
	BUCKET_TOP = 42, /* values from 2^42 (73 minutes in ns) fall into the last bucket */
	BUCKETS = (BUCKET_TOP - BUCKET_BITS + 1) << BUCKET_BITS,
};

static inline __u32 bucket(__u64 value)
{
	__u64 rest = value;
	__u32 top = 0; /* position of the highest bit */

	if (value < 1 << BUCKET_BITS)
		return value;
	if (value >> BUCKET_TOP)
		return BUCKETS - 1;
	if (rest >> 32) { rest >>= 32; top += 32; }
	if (rest >> 16) { rest >>= 16; top += 16; }
	if (rest >> 8) { rest >>= 8; top += 8; }
	if (rest >> 4) { rest >>= 4; top += 4; }
	if (rest >> 2) { rest >>= 2; top += 2; }
	top += rest >> 1;
	return ((top - BUCKET_BITS + 1) << BUCKET_BITS) + ((value >> (top - BUCKET_BITS)) & ((1 << BUCKET_BITS) - 1));
}

#endif
