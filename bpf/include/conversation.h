/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* A flow with its answers: what packets of both directions of a conversation have in common. */
#ifndef NFCHAIN_CONVERSATION_H
#define NFCHAIN_CONVERSATION_H

#include "packet.h"

/* turn_round a flow: it is that of the answers then. */
static inline void turn_round(struct flow *f)
{
	__u16 port = f->ports[0];

	f->ports[0] = f->ports[1];
	f->ports[1] = port;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		__u32 word = f->source[i];

		f->source[i] = f->destination[i];
		f->destination[i] = word;
	}
}

/* order the ends of a flow, so that it is the same both ways. */
static inline void order(struct flow *f)
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (f->source[i] < f->destination[i])
			return;
		if (f->source[i] > f->destination[i])
			goto turn;
	}
	if (f->ports[0] <= f->ports[1])
		return;
turn:
	turn_round(f);
}

/* is_link_group tells whether an address is that of a group of the link's own (RFC 4291 section 2.7, RFC 5771
 * section 4). */
static inline int is_link_group(const __u32 *address, __u8 version)
{
	const __u8 *a = (const __u8 *)address;

	if (version == 6)
		return a[0] == 0xff && (a[1] & 15) == 2;
	return a[0] == 224 && !a[1] && !a[2];
}

/* of_one_link tells whether a flow is to such a group, such as what a host asks routers of its own accord: none
 * sends it on, and it has no order. Either end may be the group, since ends may be turned. */
static inline int of_one_link(const struct flow *f)
{
	return is_link_group(f->destination, f->version) || is_link_group(f->source, f->version);
}

enum { ICMP = 1, ICMPV6 = 58, ICMP_HEADER = 8 };

/* An error of ICMP is of the flow that it is about, whoever sent it: how long a packet may be
 * is to be known where such packets are sent. 1 if it is one; the flow is then the other way. */
__attribute__((noinline)) int read_concerned(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct packet about = {};
	struct transport t;
	__u8 header[IPV4];
	__u8 type;

	if (!p || !f)
		return 0;
	find_transport(skb, p, &t);
	if (!t.known || t.fragment || bpf_skb_load_bytes(skb, t.at, &type, 1))
		return 0;
	if (p->version == 4 ? type != 3 && type != 4 && type != 5 && type != 11 && type != 12 : type > 127)
		return 0;
	about.at = t.at + ICMP_HEADER;
	about.version = p->version;
	if (bpf_skb_load_bytes(skb, about.at, header, sizeof(header)))
		return 0;
	if (header[0] >> 4 != about.version)
		return 0;
	about.header = about.version == 4 ? (header[0] & 15) * 4 : IPV6;
	about.protocol = about.version == 4 ? header[9] : header[6];
	about.fragment = about.version == 4 && (header[6] & 0x3f || header[7]);
	read_flow(skb, &about, f);
	return 1;
}

/* read_conversation tells the flow of a packet, or the one that it is about: 1 if that is so. */
static inline int read_conversation(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	read_flow(skb, p, f);
	if (likely(f->protocol != (p->version == 4 ? ICMP : ICMPV6)))
		return 0;
	return read_concerned(skb, p, f);
}

#endif
