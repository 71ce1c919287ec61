/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a NAT writes to a packet. Checksums are brought up to date by what changes, so that a wrong one stays
 * wrong. */
#ifndef NFCHAIN_NAT_WRITE_H
#define NFCHAIN_NAT_WRITE_H

#include "nat_packet.h"

/* What becomes of a packet; NAT_FULL is NAT_STRAY to others. */
enum { NAT_LEFT, NAT_STRAY, NAT_UNWRITTEN, NAT_DONE, NAT_FULL };

static inline __u32 nat_ports(const struct flow *f) { return (__u32)f->ports[1] << 16 | f->ports[0]; }

/* nat_rename writes ports, or the number of an echo, and brings the checksum up to date. */
static inline long nat_rename(struct __sk_buff *skb, const struct nat_packet *x, const struct flow *to)
{
	__u64 none = x->flow.protocol == UDP_PROTOCOL ? SUM_MAY_BE_NONE : 0;
	__u32 ports = nat_ports(to);
	__u16 was, is;
	long failed = 0;

	if (!x->flow.echo) {
		if (x->sum)
			failed = bpf_l4_csum_replace(skb, x->sum, nat_ports(&x->flow), ports, none | 4);
		return failed ? failed : bpf_skb_store_bytes(skb, x->transport, &ports, 4, 0);
	}
	was = x->flow.echo == NAT_ASKS ? x->flow.ports[0] : x->flow.ports[1];
	is = x->flow.echo == NAT_ASKS ? to->ports[0] : to->ports[1];
	if (x->sum)
		failed = bpf_l4_csum_replace(skb, x->sum, was, is, 2);
	return failed ? failed : bpf_skb_store_bytes(skb, x->transport + 4, &is, 2, 0);
}

/* nat_move writes addresses, and brings the checksum of IPv4 up to date. */
static inline long nat_move(struct __sk_buff *skb, const struct nat_packet *x, const struct flow *to, __u64 diff, __u64 sums)
{
	long failed;

	if (x->flow.version == 6)
		return bpf_skb_store_bytes(skb, x->ip + 8, to->source, 32, sums);
	failed = bpf_skb_store_bytes(skb, x->ip + 12, to->source, 4, 0);
	if (!failed)
		failed = bpf_skb_store_bytes(skb, x->ip + 16, to->destination, 4, 0);
	return failed ? failed : bpf_l3_csum_replace(skb, x->ip + 10, 0, diff, 0);
}

/* nat_differ is the difference that addresses make to a checksum. */
static inline __u32 nat_differ(const struct flow *from, const struct flow *to, __u32 seed)
{
	return bpf_csum_diff(from->source, 32, to->source, 32, seed);
}

/* nat_write makes of a packet what it becomes. */
static __attribute__((noinline)) int nat_write(struct __sk_buff *skb, struct nat_packet *x, const struct flow *to)
{
	__u64 none = x->flow.protocol == UDP_PROTOCOL ? SUM_MAY_BE_NONE : 0;
	int moves = nat_moves(&x->flow, to), renames = nat_renames(&x->flow, to);
	long failed = 0;

	if (!moves && !renames)
		return NAT_LEFT;
	if (moves) {
		__u32 diff = nat_differ(&x->flow, to, 0);

		failed = nat_move(skb, x, to, diff, SKB_SUM_TOO);
		if (!failed && x->sum && nat_pseudo(&x->flow))
			failed = bpf_l4_csum_replace(skb, x->sum, 0, diff, none | SUM_OF_PSEUDO_HEADER);
	}
	if (!failed && renames)
		failed = nat_rename(skb, x, to);
	return failed ? NAT_UNWRITTEN : NAT_DONE;
}

/* nat_quote makes of what an error quotes what its sender sent, and brings the checksum of the error, at sum, up to
 * date: by what the checksums within do not make up for. */
static __attribute__((noinline)) int nat_quote(struct __sk_buff *skb, const struct nat_packet *x, const struct flow *to, __u32 sum)
{
	const struct flow *from = &x->flow;
	__u64 none = from->protocol == UDP_PROTOCOL ? SUM_MAY_BE_NONE : 0;
	__u32 was = nat_ports(from), is = nat_ports(to), rest = 0;
	int renames = nat_renames(from, to), made_up = x->sum && nat_pseudo(from);
	__u32 diff = nat_differ(from, to, 0);
	long failed = 0;

	if (nat_moves(from, to)) {
		failed = nat_move(skb, x, to, diff, 0);
		if (!failed && made_up)
			failed = bpf_l4_csum_replace(skb, x->sum, 0, diff, none);
		if (from->version == 6 && !made_up)
			rest = diff;
		else if (from->version == 4 && made_up)
			rest = nat_differ(to, from, 0);
	}
	if (renames && !x->sum)
		rest = bpf_csum_diff(&was, 4, &is, 4, rest);
	if (!failed && renames)
		failed = nat_rename(skb, x, to);
	if (!failed && rest)
		failed = bpf_l4_csum_replace(skb, sum, 0, rest, 0);
	return !failed;
}

#endif
