/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What came in at a port, as an interface counts it. */
#ifndef NFCHAIN_PASSED_H
#define NFCHAIN_PASSED_H

#include "kernel.h"

enum { MAP_BY_CORE = 6 }; /* an array with values for each core */

struct count {
	__u64 packets, bytes;
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct count);
} passed SEC(".maps");

static inline void count(struct __sk_buff *skb)
{
	__u32 first = 0;
	struct count *c = bpf_map_lookup_elem(&passed, &first);

	if (!c) /* there always is */
		return;
	c->packets++;
	c->bytes += skb->len;
}

#endif
