/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How a program at a port sends a packet on. */
#ifndef NFCHAIN_ONWARD_H
#define NFCHAIN_ONWARD_H

#include "kernel.h"

enum { PACKET_HOST = 0, PACKET_OTHERHOST = 3 };

static long (*bpf_skb_change_type)(struct __sk_buff *skb, __u32 type) = (void *)32;
static long (*bpf_redirect_peer)(__u32 ifindex, __u64 flags) = (void *)155;

/* With the index of a port, where the node behind it takes nothing but what the port itself sends:
 * what stands before that at the node sees no packet that is handed over. */
#define BY_DEVICE (1U << 31)

/* In the place of a port: packets end here. */
#define NOWHERE (~0U)

/* onward to the node behind a port; 0 is none. */
static inline int onward(struct __sk_buff *skb, __u32 port)
{
	if (!port)
		return TCX_DROP;
	if (unlikely(port & BY_DEVICE))
		return port == NOWHERE ? TCX_DROP : bpf_redirect(port & ~BY_DEVICE, 0);
	/* It was found to be for another host when it came to the port, whose address is not
	 * the next node's. Kernels that scrub what they redirect say so themselves. */
	if (skb->pkt_type == PACKET_OTHERHOST)
		bpf_skb_change_type(skb, PACKET_HOST);
	return bpf_redirect_peer(port, 0);
}

#endif
