// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* For tests: which rule a packet meets. A frame has the packet, as rules ask for it, behind its Ethernet
 * header, then where the table begins; the answer is written behind that. What is asked of a packet of a
 * connection follows, and the state that was found. */
#include "../include/kernel.h"
#include "../include/flows.h"

char licensed[] SEC("license") = "GPL";

struct question {
	__u8 ethernet[14], fill[2];
	struct rules_packet packet;
	__u32 base;
	__s32 answer;
	__u32 slot, generation;
	__u64 now;
	__u8 state, unused[7];
};

SEC("xdp")
int judged(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	q->answer = rules_find(&p, q->base);
	return XDP_PASS;
}

SEC("xdp")
int followed(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	q->answer = rules_judge(&p, q->base, q->slot, q->generation, q->now);
	q->state = p.state;
	return XDP_PASS;
}

/* As many flows as known() asks about. */
const volatile __u32 flows_known = 10000;

/* asked counts the questions of those below. */
__u64 asked;

/* vary makes the packet of a flow of many: addresses and ports differ in their low bits. */
static inline void vary(struct rules_packet *p, __u64 number)
{
	number *= 0x9e3779b97f4a7c15;
	p->source[1] ^= number >> 48 & 0x3fff;
	p->destination[1] ^= number >> 32 & 0xffff;
	p->source_port = number >> 16 & 0xffff;
	p->destination_port = number & 0x3ff;
}

/* fresh asks about another flow each time. */
SEC("xdp")
int fresh(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	vary(&p, ++asked);
	q->answer = rules_find(&p, q->base);
	return XDP_PASS;
}

/* opening is fresh() with every flow entered in the table. */
SEC("xdp")
int opening(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	vary(&p, ++asked);
	q->answer = rules_judge(&p, q->base, q->slot, q->generation, q->now);
	return XDP_PASS;
}

/* known asks about the same flows in turn. */
SEC("xdp")
int known(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	vary(&p, ++asked % flows_known);
	q->answer = rules_judge(&p, q->base, q->slot, q->generation, q->now);
	return XDP_PASS;
}
