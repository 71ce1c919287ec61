/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What became of the first fragments of packets about which rules are asked that ask for connections: those behind them have no ports, and
 * are of the same connection. They come in order, so that few packets are known at once; the kernel forgets those first that were seen
 * longest ago. Those of first fragments that are dropped take no places of others, and are as if they were not known. */
#ifndef NFCHAIN_PARTS_H
#define NFCHAIN_PARTS_H

#include "flows.h"

/* A packet that came in fragments (RFC 791 section 3.2, RFC 8200 section 4.5). */
struct part {
	__u64 source[2], destination[2];
	__u32 number, whose; /* whose rules */
	__u32 six, protocol; /* protocol: of IPv4 alone, as IPv6 numbers them without */
};

struct part_known {
	__u64 last, digest; /* when a fragment was seen, in ns, and the rules then */
	__s32 answer;
	__u32 unused;
};

struct {
	__uint(type, 9);
	__uint(max_entries, 256);
	__type(key, struct part);
	__type(value, struct part_known);
} rules_parts SEC(".maps");

/* As long as those behind the first are waited for where fragments are put together (net.ipv4.ipfrag_time). */
#define PART_KEEPS (30 * SECONDS)

static inline void part_of(const struct rules_packet *p, __u32 whose, struct part *k)
{
	k->source[0] = p->source[0];
	k->source[1] = p->source[1];
	k->destination[0] = p->destination[0];
	k->destination[1] = p->destination[1];
	k->number = p->part;
	k->whose = whose;
	k->six = p->six;
	k->protocol = p->six ? 0 : p->protocol;
}

/* part_goes notes what became of a first fragment, which is to be accepted. It has a stack of its own, as rules_enters has. */
static __attribute__((noinline)) int part_goes(const struct rules_packet *p, __u32 whose, __u64 digest, __s32 answer, __u64 now)
{
	struct part_known known = {};
	struct part k;

	if (!p)
		return RULES_BROKEN;
	part_of(p, whose, &k);
	known.last = now;
	known.digest = digest;
	known.answer = answer;
	return rules_enter(&rules_parts, &k, &known, 0);
}

/* part_went is what became of the first one; less than 0 where nobody knows. */
static __attribute__((noinline)) __s32 part_went(const struct rules_packet *p, __u32 whose, __u64 digest, __u64 now)
{
	struct part_known *known;
	struct part k;

	if (!p)
		return RULES_BROKEN;
	part_of(p, whose, &k);
	known = bpf_map_lookup_elem(&rules_parts, &k);
	if (!known || known->digest != digest || (__s64)(now - known->last) > (__s64)PART_KEEPS)
		return RULES_BROKEN;
	known->last = now;
	return known->answer;
}

#endif
