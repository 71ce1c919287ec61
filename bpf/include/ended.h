/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How a program at a port sends packets on, or has them end there because the node that they would go to fails and
 * may not be led past: those are counted apart from what else came in. */
#ifndef NFCHAIN_ENDED_H
#define NFCHAIN_ENDED_H

#include "onward.h"
#include "passed.h"

/* What ended of what came in. */
struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct count);
} ended SEC(".maps");

/* end_packet has one end here. */
static inline int end_packet(struct __sk_buff *skb)
{
	__u32 first = 0;
	struct count *c = bpf_map_lookup_elem(&ended, &first);

	if (c) { /* there always is */
		c->packets++;
		c->bytes += skb->len;
	}
	return TCX_DROP;
}

/* onward_or_end sends a packet to the node behind a port, or has it end. */
static inline int onward_or_end(struct __sk_buff *skb, __u32 port)
{
	return unlikely(port == NOWHERE) ? end_packet(skb) : onward(skb, port);
}

#endif
