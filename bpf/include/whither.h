/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where a port's packets go: what the chain is to be, and what is in its place while nodes fail. */
#ifndef NFCHAIN_WHITHER_H
#define NFCHAIN_WHITHER_H

#include "instead.h"

/* Index of the port that the next node is behind, 0 for nowhere. It is changed while packets
 * come: a packet goes the old way or the new one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next SEC(".maps");

static inline __u32 whither(void)
{
	__u32 first = 0, to, *planned = bpf_map_lookup_elem(&next, &first), *other = bpf_map_lookup_elem(&instead, &first);

	if (!planned || !other) /* there always are */
		return 0;
	to = *(volatile __u32 *)other; /* once: it may change meanwhile */
	if (!to)
		to = *(volatile __u32 *)planned;
	return to;
}

#endif
