// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* For tests: which rule a packet meets. A frame has the packet, as rules ask for it, behind its Ethernet
 * header, then where the table begins, and the answer is written behind that. */
#include "../include/kernel.h"
#include "../include/rules.h"

char licensed[] SEC("license") = "GPL";

struct question {
	__u8 ethernet[14], fill[2];
	struct rules_packet packet;
	__u32 base;
	__s32 answer;
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

/* asked counts the questions of fresh(). */
__u64 asked;

/* fresh asks another question each time, so that many runs are of as many flows: the low bits of
 * both addresses and ports differ. */
SEC("xdp")
int fresh(struct xdp_md *xdp)
{
	struct question *q = (void *)(long)xdp->data;
	struct rules_packet p;
	__u64 turn = ++asked * 0x9e3779b97f4a7c15;

	if ((void *)(q + 1) > (void *)(long)xdp->data_end)
		return XDP_ABORTED;
	p = q->packet;
	p.source[1] ^= turn >> 48 & 0x3fff;
	p.destination[1] ^= turn >> 32 & 0xffff;
	p.source_port = turn >> 16 & 0xffff;
	p.destination_port = turn & 0x3ff;
	q->answer = rules_find(&p, q->base);
	return XDP_PASS;
}
