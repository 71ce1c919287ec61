// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* For tests: what bucket() makes of a value. */
#include "../include/kernel.h"
#include "../include/bucket.h"

char licensed[] SEC("license") = "GPL";

/* bucketed reads a value behind the Ethernet header and writes its bucket behind that. */
SEC("xdp")
int bucketed(struct xdp_md *xdp)
{
	__u64 *value = (void *)(long)xdp->data + 14;

	if ((void *)(value + 2) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	value[1] = bucket(value[0]);
	return XDP_PASS;
}
