/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a NAT reads of a packet, and of what an error of ICMP quotes: whose flow it is, and where what is
 * translated stands. */
#ifndef NFCHAIN_NAT_PACKET_H
#define NFCHAIN_NAT_PACKET_H

#include "packet.h"

enum { ICMP_PROTOCOL = 1, ICMPV6_PROTOCOL = 58 };

/* What a packet is: OTHER is of ICMP, and concerns no connection; a REDIRECT quotes a packet as an ERROR does. */
enum { NAT_OTHER, NAT_CUT, NAT_FLOW, NAT_ERROR, NAT_REDIRECT };

enum { NAT_WHOLE, NAT_FIRST, NAT_LATER }; /* fragments */
/* Of a flow's echo, and of other questions of ICMP: their type, which is not that of an echo, stands in the place of the
 * port that they do not have. */
enum { NAT_ASKS = 1, NAT_ANSWERS = 2 };

/* A packet, or what an error of ICMP quotes of one. */
struct nat_packet {
	struct flow flow;
	__u32 head[10];      /* its IP header, as it came */
	__u32 ip, transport; /* where they begin */
	__u32 sum;           /* where its checksum is, which is not that of IPv4; 0: there is none */
	__u32 id;            /* of its fragments */
	__u8 part, cut;
	__u8 flags;          /* of TCP */
	__u8 quotes;         /* how far behind the transport's beginning another packet is, if one is quoted */
};

static inline int nat_pseudo(const struct flow *f) { return f->version == 6 || f->protocol != ICMP_PROTOCOL; }

static inline int nat_ported(const struct flow *f)
{
	return f->protocol == TCP_PROTOCOL || f->protocol == UDP_PROTOCOL || f->protocol == DCCP_PROTOCOL ||
	       f->protocol == UDPLITE_PROTOCOL;
}

static inline int nat_is_icmp(const struct flow *f)
{
	return f->protocol == (f->version == 4 ? ICMP_PROTOCOL : ICMPV6_PROTOCOL);
}

/* nat_find_sum finds the checksum of what is translated. */
static inline void nat_find_sum(struct __sk_buff *skb, struct nat_packet *x)
{
	__u32 at = x->flow.protocol == TCP_PROTOCOL ? 16 : nat_is_icmp(&x->flow) ? 2 : 6;
	__u16 sum = 0;

	if (bpf_skb_load_bytes(skb, x->transport + at, &sum, 2))
		x->cut = 1;
	else if (sum || x->flow.protocol != UDP_PROTOCOL)
		x->sum = x->transport + at;
}

/* nat_redirects6 tells whether a redirect of IPv6 is from a router of its link (RFC 4861 section 8.1) and quotes a packet
 * in the first of its options: others concern nobody. */
static inline int nat_redirects6(struct __sk_buff *skb, const struct nat_packet *x, __u8 code)
{
	const __u8 *h = (const void *)x->head;
	__u8 option[2];

	if (code || h[7] != 255 || h[8] != 0xfe || (h[9] & 0xc0) != 0x80 || bpf_skb_load_bytes(skb, x->transport + 40, option, 2))
		return 0;
	return option[0] == 4 && option[1];
}

/* nat_message reads a header of ICMP. */
static inline int nat_message(struct __sk_buff *skb, struct nat_packet *x)
{
	__u16 h[4] = {};
	__u8 type, asks = x->flow.version == 4 ? 8 : 128, answers = x->flow.version == 4 ? 0 : 129, other = 0;

	if (bpf_skb_load_bytes(skb, x->transport, h, sizeof(h)))
		return NAT_CUT;
	type = h[0]; /* the first byte */
	x->quotes = 8;
	if (x->flow.version == 4 && type == 5)
		return NAT_REDIRECT;
	if (x->flow.version == 6 && type == 137 && nat_redirects6(skb, x, h[0] >> 8)) {
		x->quotes = 48;
		return NAT_REDIRECT;
	}
	if (x->flow.version == 4 ? type == 3 || type == 4 || type == 11 || type == 12 : type < 128)
		return NAT_ERROR;
	if (x->flow.version == 4 && type >= 13 && type <= 18) { /* timestamp, information, address mask: RFC 5508 section 3 */
		other = (type - 1) | 1; /* what is asked; questions are odd */
		asks = other;
		answers = other + 1;
	}
	if (type == asks) {
		x->flow.echo = NAT_ASKS;
		x->flow.ports[0] = h[2];
		x->flow.ports[1] = other;
		return NAT_FLOW;
	}
	if (type == answers) {
		x->flow.echo = NAT_ANSWERS;
		x->flow.ports[0] = other;
		x->flow.ports[1] = h[2];
		return NAT_FLOW;
	}
	return NAT_OTHER;
}

/* nat_read4 and nat_read6 read what begins with IP, and tell where the transport is: 0 if it cannot be
 * found. */
static inline int nat_read4(struct nat_packet *x)
{
	__u8 *h = (void *)x->head;
	__u16 offset = network(*(__u16 *)(h + 6));

	x->flow.source[0] = x->head[3];
	x->flow.destination[0] = x->head[4];
	x->flow.protocol = h[9];
	x->transport = x->ip + (h[0] & 15) * 4;
	x->id = *(__u16 *)(h + 4);
	x->part = offset & 0x1fff ? NAT_LATER : offset & 0x2000 ? NAT_FIRST : NAT_WHOLE;
	return (h[0] & 15) >= IPV4 / 4;
}

static inline int nat_read6(struct __sk_buff *skb, struct nat_packet *x)
{
	__u8 *h = (void *)x->head;
	struct transport t = { .at = x->ip + IPV6, .protocol = h[6] };
	__u16 part[4] = {};

#pragma unroll
	for (int i = 0; i < 4; i++) {
		x->flow.source[i] = x->head[2 + i];
		x->flow.destination[i] = x->head[6 + i];
	}
	skip_extensions(skb, &t);
	x->transport = t.at;
	x->flow.protocol = t.protocol;
	if (!t.fragment)
		return t.known;
	if (bpf_skb_load_bytes(skb, t.part, part, sizeof(part)))
		return 0;
	x->id = (__u32)part[3] << 16 | part[2];
	x->part = network(part[1]) & 0xfff8 ? NAT_LATER : NAT_FIRST;
	return t.known || x->part == NAT_LATER;
}

/* nat_read reads the packet that begins somewhere in a frame. */
static __attribute__((noinline)) int nat_read(struct __sk_buff *skb, struct nat_packet *x, __u32 at)
{
	__u32 version;

	__builtin_memset(&x->flow, 0, sizeof(x->flow));
	x->ip = at;
	x->sum = x->id = 0;
	x->part = x->cut = x->flags = 0;
	if (bpf_skb_load_bytes(skb, at, x->head, IPV4))
		return NAT_CUT;
	version = *(__u8 *)x->head >> 4;
	x->flow.version = version;
	if (version == 6) {
		if (bpf_skb_load_bytes(skb, at, x->head, IPV6) || !nat_read6(skb, x))
			return NAT_CUT;
	} else if (version != 4 || !nat_read4(x))
		return NAT_CUT;
	if (x->part == NAT_LATER) { /* the first fragment says of which protocol they are */
		x->flow.protocol = 0;
		return NAT_FLOW;
	}
	if (nat_is_icmp(&x->flow)) {
		nat_find_sum(skb, x);
		return nat_message(skb, x);
	}
	if (!nat_ported(&x->flow))
		return NAT_FLOW;
	nat_find_sum(skb, x);
	if (x->flow.protocol == TCP_PROTOCOL)
		bpf_skb_load_bytes(skb, x->transport + 13, &x->flags, 1);
	return bpf_skb_load_bytes(skb, x->transport, x->flow.ports, 4) ? NAT_CUT : NAT_FLOW;
}

/* nat_of_link tells of an address that it means nothing behind its link, or many. */
static inline int nat_of_link(const struct flow *f)
{
	__u8 first = f->destination[0];

	return f->version == 4 ? first >= 0xe0 : (first & 0xfe) == 0xfe;
}

static inline int nat_same_address(const __u32 *a, const __u32 *b)
{
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

/* nat_moves tells whether packets of a flow are to be changed to be those of another. */
static inline int nat_moves(const struct flow *from, const struct flow *to)
{
	return !nat_same_address(from->source, to->source) || !nat_same_address(from->destination, to->destination);
}

static inline int nat_renames(const struct flow *from, const struct flow *to)
{
	return from->ports[0] != to->ports[0] || from->ports[1] != to->ports[1];
}

static inline int nat_same(const struct flow *a, const struct flow *b)
{
	__u32 other = (a->slot ^ b->slot) | (a->version ^ b->version) | (a->protocol ^ b->protocol) | (a->echo ^ b->echo) |
		      (a->ports[0] ^ b->ports[0]) | (a->ports[1] ^ b->ports[1]);

#pragma unroll
	for (int i = 0; i < 4; i++)
		other |= (a->source[i] ^ b->source[i]) | (a->destination[i] ^ b->destination[i]);
	return !other;
}

/* nat_answer gives the flow of the answers. */
static inline void nat_answer(struct flow *to, const struct flow *from)
{
	to->slot = from->slot;
	to->version = from->version;
	to->protocol = from->protocol;
	to->ports[0] = from->ports[1];
	to->ports[1] = from->ports[0];
	to->echo = from->echo ? NAT_ASKS + NAT_ANSWERS - from->echo : 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		to->source[i] = from->destination[i];
		to->destination[i] = from->source[i];
	}
}

#endif
