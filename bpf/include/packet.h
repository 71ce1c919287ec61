/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a packet is, read once for all that is done to it. Two VLAN tags in the frame are
 * looked through; the outermost tag is not in it, because the kernel took it out before
 * programs see the frame. */
#ifndef NFCHAIN_PACKET_H
#define NFCHAIN_PACKET_H

#include "skb.h"
#include "stamp.h"

enum {
	TYPE_IPV4 = 0x0008, TYPE_IPV6 = 0xdd86, /* as they are read from the frame */
	TYPE_8021Q = 0x0081, TYPE_8021AD = 0xa888,
};

enum { TCP_PROTOCOL = 6, UDP_PROTOCOL = 17, DCCP_PROTOCOL = 33, SCTP_PROTOCOL = 132, UDPLITE_PROTOCOL = 136 };

enum reading {
	READ_IP,
	READ_OTHER,     /* no IP: ARP, LLDP, three tags, a frame that is all tags */
	READ_MALFORMED, /* IP that no router forwards: cut off, or with lengths that cannot be */
};

struct packet {
	__u32 at;              /* where the IP header begins in the frame */
	__u32 header;          /* its length, without IPv6's extensions */
	__u32 bytes, segments; /* as on a wire, where what the kernel merged is apart again */
	__u32 mark;            /* that it goes with, if somebody asks */
	__u16 sum;             /* IPv4: the header's checksum */
	__u8 version;          /* 4 or 6 */
	__u8 protocol;         /* IPv6: the first header after the fixed one */
	__u8 came, tos;        /* the traffic class that it came with, and the one that it goes with */
	__u8 label;            /* IPv6: the upper bits of the flow label */
	__u8 fragment;         /* IPv4: is it one, the first or another? */
#ifdef PASS_RULES
	__u32 asked;           /* the area whose rules it is held to */
#endif
};

/* A flow: what the packets of one direction of a conversation have in common. Fragments,
 * the first among them, and protocols without ports have ports 0, so that all fragments of
 * a packet are of one flow. */
struct flow {
	__u32 slot;                    /* whose flow it is */
	__u8 version, protocol;        /* that of the last header that is known */
	__u16 ports[2];                /* source and destination, as in the packet */
	__u16 echo;                    /* of ICMP, where somebody asks: who asks, or who answers */
	__u32 source[4], destination[4]; /* IPv4: the first word */
};

enum { HEADERS = ETHERNET + 2 * VLAN_TAG + IPV6 }; /* what is read directly */

static inline int read_ipv4(struct packet *p, __u8 *ip, void *end, __u32 len, __u32 merged)
{
	__u32 total;

	if ((void *)ip + IPV4 > end)
		return READ_MALFORMED;
	p->version = 4;
	p->header = (ip[0] & 15) * 4;
	total = network(*(__u16 *)(ip + 2));
	if (!total && merged) /* longer than the field can tell (BIG TCP) */
		total = len;
	if (ip[0] >> 4 != 4 || p->header < IPV4 || total < p->header || total > len)
		return READ_MALFORMED;
	p->came = p->tos = ip[1];
	p->fragment = !!(*(__u16 *)(ip + 6) & 0xff3f); /* more fragments, or an offset */
	p->protocol = ip[9];
	p->sum = *(__u16 *)(ip + 10);
	return READ_IP;
}

static inline int read_ipv6(struct packet *p, __u8 *ip, void *end, __u32 len)
{
	if ((void *)ip + IPV6 > end)
		return READ_MALFORMED;
	p->version = 6;
	p->header = IPV6;
	if (ip[0] >> 4 != 6 || IPV6 + network(*(__u16 *)(ip + 4)) > len)
		return READ_MALFORMED;
	p->came = p->tos = ip[0] << 4 | ip[1] >> 4;
	p->label = ip[1] & 15;
	p->fragment = 0;
	p->protocol = ip[6];
	return READ_IP;
}

/* read_packet reads the headers up to that of IP. */
static inline int read_packet(struct __sk_buff *skb, struct packet *p)
{
	void *ip = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u32 size = ((struct skb_whole *)skb)->gso_size, all = skb->len;
	__u16 type;

	__builtin_memset(p, 0, sizeof(*p)); /* verifiers before Linux 6.3, unless mended since, let nothing that is verified apart have memory of which some is not set */
	p->segments = 1;
	p->bytes = all;
	if (unlikely(end - ip < (all < HEADERS ? all : HEADERS))) { /* it is in parts */
		bpf_skb_pull_data(skb, all < HEADERS ? all : HEADERS);
		ip = (void *)(long)skb->data;
		end = (void *)(long)skb->data_end;
	}
	if (ip + ETHERNET > end)
		return READ_OTHER;
	ip += ETHERNET;
	p->at = ETHERNET;
	type = *(__u16 *)(ip - 2);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		if (likely(type != TYPE_8021Q && type != TYPE_8021AD))
			break;
		if (ip + VLAN_TAG > end)
			return READ_OTHER;
		ip += VLAN_TAG;
		p->at += VLAN_TAG;
		type = *(__u16 *)(ip - 2);
	}
	if (type == TYPE_IPV4)
		return read_ipv4(p, ip, end, all - p->at, size);
	if (type == TYPE_IPV6)
		return read_ipv6(p, ip, end, all - p->at);
	return READ_OTHER;
}

/* Where the header of the transport begins, and whose it is. */
struct transport {
	__u32 at;
	__u32 part; /* IPv6: where the header of a fragment begins */
	__u8 protocol, fragment, known; /* known: it can be read there */
	__u8 divided; /* IPv6: the protocol that all fragments of a packet name, which the first alone looks behind */
};

enum { EXTENSIONS = 8 }; /* headers of IPv6 that are looked through, and the transport's may be behind the last */

/* Not part of the pass: few packets have extensions. What has a function of its own that is not static is verified once, whichever
 * headers were read before: as a static one, this took the verifier up to four times as long. */
__attribute__((noinline)) int skip_extensions(struct __sk_buff *skb, struct transport *t)
{
	__u8 h[4];

	if (!t)
		return 0;
#pragma unroll /* Linux 6.1 takes no loop here */
	for (int i = 0; i <= EXTENSIONS; i++) {
		switch (t->protocol) {
		case 0:   /* hop-by-hop options */
		case 43:  /* routing */
		case 44:  /* fragment */
		case 51:  /* authentication (RFC 4302) */
		case 60:  /* destination options */
		case 135: /* mobility */
		case 139: /* host identity */
		case 140: /* shim6 */
			break;
		default:
			t->known = 1;
			return 0;
		}
		if (i == EXTENSIONS || bpf_skb_load_bytes(skb, t->at, h, sizeof(h)))
			return 0;
		if (t->protocol == 44) {
			t->fragment = 1;
			t->divided = h[0];
			t->part = t->at;
			t->at += 8;
			if (h[2] || h[3] & 0xf8) { /* not the first: no header follows */
				t->protocol = h[0];
				return 0;
			}
		} else
			t->at += t->protocol == 51 ? (h[1] + 2) * 4 : (h[1] + 1) * 8;
		t->protocol = h[0];
	}
	return 0;
}

static inline void find_transport(struct __sk_buff *skb, struct packet *p, struct transport *t)
{
	t->at = p->at + p->header;
	t->part = 0;
	t->divided = 0;
	t->protocol = p->protocol;
	t->fragment = p->fragment;
	t->known = p->version == 4;
	if (p->version == 6)
		skip_extensions(skb, t);
}

/* apart gives a packet that the kernel merged of segments the length that these have on a
 * wire, where each has headers of its own. */
static inline void apart(struct __sk_buff *skb, struct packet *p)
{
	__u32 segments = ((struct skb_whole *)skb)->gso_segs;
	struct transport t;
	__u8 offset = 0;

	if (likely(segments < 2))
		return;
	find_transport(skb, p, &t);
	if (t.protocol == TCP_PROTOCOL) {
		bpf_skb_load_bytes(skb, t.at + 12, &offset, 1);
		t.at += (offset >> 4) * 4;
	} else if (t.protocol == UDP_PROTOCOL)
		t.at += UDP;
	p->segments = segments;
	p->bytes += (segments - 1) * t.at;
}

static inline int has_ports(__u8 protocol)
{
	return protocol == TCP_PROTOCOL || protocol == UDP_PROTOCOL || protocol == SCTP_PROTOCOL || protocol == DCCP_PROTOCOL ||
	       protocol == UDPLITE_PROTOCOL;
}

/* read_flow tells the flow of a packet. */
static inline void read_flow(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct transport t;

	__builtin_memset(f, 0, sizeof(*f));
	find_transport(skb, p, &t);
	f->version = p->version;
	f->protocol = unlikely(t.part) ? t.divided : t.protocol;
	if (p->version == 4) {
		bpf_skb_load_bytes(skb, p->at + 12, &f->source[0], 4);
		bpf_skb_load_bytes(skb, p->at + 16, &f->destination[0], 4);
	} else
		bpf_skb_load_bytes(skb, p->at + 8, f->source, 32);
	if (t.known && !t.fragment && has_ports(t.protocol))
		bpf_skb_load_bytes(skb, t.at, f->ports, 4);
}

/* write_class gives a packet the traffic class that it goes with. The checksum of IPv4 is
 * brought up to date (RFC 1624 eqn. 3), so that a wrong one stays wrong. Negative: the
 * kernel has no memory to make a copy that may be written. */
static inline long write_class(struct __sk_buff *skb, struct packet *p)
{
	__u8 v6[2] = { 0x60 | p->tos >> 4, p->tos << 4 | p->label };
	__u32 sum = (0xffff & ~(__u32)p->sum) + 0xffff + (p->tos << 8) - (p->came << 8);
	__u16 check;
	long failed;

	if (p->version == 6)
		return bpf_skb_store_bytes(skb, p->at, v6, 2, SKB_SUM_TOO);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	check = ~sum;
	failed = bpf_skb_store_bytes(skb, p->at + 1, &p->tos, 1, 0); /* both together leave what was summed as it was */
	if (failed)
		return failed;
	failed = bpf_skb_store_bytes(skb, p->at + 10, &check, 2, 0);
	if (!failed)
		p->sum = check;
	return failed;
}

/* rewritten gives a packet the class that it goes with, if that is another: negative if it cannot be. */
static inline long rewritten(struct __sk_buff *skb, struct packet *p)
{
	long failed = 0;

	if (p->tos == p->came)
		return 0;
	failed = write_class(skb, p);
	if (!failed)
		p->came = p->tos;
	return failed;
}

#endif
