/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a packet carries that is sent through functions to see whether they live. */
#ifndef NFCHAIN_PROBE_H
#define NFCHAIN_PROBE_H

#include "kernel.h"

/* In the host's byte order: it never leaves the host. */
struct probe {
	__u64 signature, number;
	/* What is written anew where it goes on. The inverse of what changes is there, too, so that the sum over all
	 * of it, and with that the checksum of UDP, stays what it was. */
	struct leg {
		__u64 sent; /* ns of CLOCK_MONOTONIC */
		__u32 row, last; /* in the table, of the port where it should come out, and where it is to go on no more */
		__u64 unsent;
		__u32 unrow, unused;
	} leg;
};

#endif
