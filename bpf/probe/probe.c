// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What takes probes out at a port of the forwarder. A probe is a packet of UDP that was sent into a
 * function at its other port; that it comes here says that the function lives. What a function makes of
 * its headers does not matter: it is known by what it carries. One that is to go through others, too, is
 * noted and goes on to the next of them. Numbers rise at each port: what has no higher one than the latest is a copy, or
 * was overtaken, and ends, so that what functions copy in a row does not come to be many. Who sends them is woken by what is no
 * probe, where functions were at rest. */
#include "../include/onward.h"
#include "../include/probe.h"
#include "../include/skb.h"
#include "../include/stamp.h"

char licensed[] SEC("license") = "GPL";

static long (*bpf_ringbuf_output)(void *ring, const void *data, __u64 size, __u64 flags) = (void *)130;

volatile const __u64 signature; /* of who sends them */

/* Whether the functions are at rest, at all ports of the chain: who sends says so, and what comes through ends it. */
volatile __u32 at_rest;

enum { MAP_RING = 27 };

/* What wakes who sends. */
struct {
	__uint(type, MAP_RING);
	__uint(max_entries, 4096); /* a page, set when it is made */
} woken SEC(".maps");

/* What has come through. */
struct seen {
	__u32 to, next; /* the port behind which the node is that comes next, and the row of that one */
	__u64 number;   /* of the latest */
	__u64 took;     /* that one, ns */
	__u32 port;     /* where, by the index of the port: who sends them writes it */
	__u32 unused;
};

/* The table, and this program, are the same at all ports of a chain: what one probe has a core bring into its caches is
 * there for the next. Who sends has the table in memory, and looks without asking the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as many as ports, set when it is made */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct seen);
} seen SEC(".maps");

enum {
	ICMP = 8,
	AT_IPV4 = ETHERNET + IPV4 + UDP,
	AT_IPV6 = ETHERNET + IPV6 + UDP,
	/* An error of ICMP has the probe that it is about in it: it came back, and says nothing to the ends. */
	ABOUT_IPV4 = AT_IPV4 + IPV4 + ICMP,
	ABOUT_IPV6 = AT_IPV6 + IPV6 + ICMP,
	PROBE = sizeof(struct probe),
};

/* where a probe would be in a packet of this length; 0 for one that has none. */
static inline __u32 where(__u32 length)
{
	switch (length) {
	case AT_IPV4 + PROBE:
		return AT_IPV4;
	case AT_IPV6 + PROBE:
		return AT_IPV6;
	case ABOUT_IPV4 + PROBE:
		return ABOUT_IPV4;
	case ABOUT_IPV6 + PROBE:
		return ABOUT_IPV6;
	}
	return 0;
}

/* further to the next function that it is to go through. */
static inline int further(struct __sk_buff *skb, __u32 at, struct leg *l, const struct seen *s, __u64 now)
{
	l->sent = now;
	l->unsent = ~now;
	l->row = s->next;
	l->unrow = ~l->row;
	if (bpf_skb_store_bytes(skb, at + __builtin_offsetof(struct probe, leg), l, sizeof(*l), 0))
		return TCX_DROP;
	return onward(skb, s->to);
}

/* alive are the functions through which such a packet came: it goes on. */
static inline int alive(void)
{
	if (unlikely(at_rest)) {
		__u64 nothing = 0; /* but that it is there */

		at_rest = 0;
		bpf_ringbuf_output(&woken, &nothing, sizeof(nothing), 0);
	}
	return TCX_NEXT;
}

SEC("tc")
int probe(struct __sk_buff *skb)
{
	__u32 at = where(skb->len);
	struct probe p;
	struct seen *s;
	__u64 now;

	if (likely(!at) || bpf_skb_load_bytes(skb, at, &p, sizeof(p)) || p.signature != signature)
		return alive();
	s = bpf_map_lookup_elem(&seen, &p.leg.row);
	if (!s || s->port != skb->ifindex)
		return TCX_DROP;
	if (unlikely(p.number <= s->number))
		return TCX_DROP;
	now = bpf_ktime_get_ns();
	s->number = p.number;
	s->took = now - p.leg.sent;
	if (p.leg.row == p.leg.last || at > AT_IPV6)
		return TCX_DROP;
	return further(skb, at, &p.leg, s, now);
}
