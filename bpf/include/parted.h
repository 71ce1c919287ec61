/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which way flows came where several ways come together, and what is counted where ways part. Where several
 * nodes send to one, each of their ports notes for a flow that it came from there, in a table that
 * all ports of the chain have together: the headers of a flow are the same both ways on one hop,
 * whatever functions make of them before and behind it. */
#ifndef NFCHAIN_PARTED_H
#define NFCHAIN_PARTED_H

#include "passed.h"
#include "seats.h"

enum { MAP_COUNTS = 5 }; /* one with values for each core */
enum { ANYWAY = 0 };
enum { WAYS = 64 };

/* Numbers of the nodes that flows came from, by the flow and the node that they came to. The loader
 * gives the size. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, __u32);
} joints SEC(".maps");

/* With a node's number: packets that ended before it. */
#define ENDED (1U << 31)

/* What went other ways than the planned one, by the node, and what ended before one. */
struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 4 * WAYS);
	__type(key, __u32);
	__type(value, struct count);
} aside SEC(".maps");

/* What became of flows and packets of which something was not known. */
struct noted {
	__u64 fresh;   /* flows that were not known, and are from then on */
	__u64 moved;   /* those that came another way than before */
	__u64 unkept;  /* packets of flows for which there was no room */
	__u64 strange; /* packets that went the planned way, because their label or their flow was not known */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct noted);
} notes SEC(".maps");

enum { NO_FLOW = 0, OF_FLOW = 1, ABOUT_FLOW = 2 };

/* find the flow of a packet, its ends in order. What is no IP has none; an error of ICMP is about one. */
__attribute__((noinline)) int find_flow(struct __sk_buff *skb, struct flow *f)
{
	struct packet p;
	int about;

	if (!f)
		return NO_FLOW;
	if (unlikely(read_packet(skb, &p) != READ_IP)) {
		__builtin_memset(f, 0, sizeof(*f));
		return NO_FLOW;
	}
	about = read_conversation(skb, &p, f);
	order(f);
	return about ? ABOUT_FLOW : OF_FLOW;
}

/* note for a joint that a flow comes from a node. */
static __attribute__((noinline)) int note(struct flow *f, __u32 joint, __u32 node)
{
	__u32 first = 0, *from;
	struct noted *n = bpf_map_lookup_elem(&notes, &first);
	struct flow piece;

	if (!n || !f)
		return 0;
	f->slot = joint;
	from = bpf_map_lookup_elem(&joints, f);
	if (likely(from && *from == node))
		return 0;
	if (from) {
		*from = node;
		n->moved++;
	} else if (bpf_map_update_elem(&joints, f, &node, ANYWAY)) {
		n->unkept++;
		return 0;
	} else
		n->fresh++;
	if (f->ports[0] || f->ports[1]) { /* fragments have no ports: they go the way of the newest flow */
		piece = *f;
		piece.ports[0] = piece.ports[1] = 0;
		bpf_map_update_elem(&joints, &piece, &node, ANYWAY);
	}
	return 0;
}

/* came_from is the number of the node that a flow came to another from; 0 if nobody knows. */
static inline __u32 came_from(struct flow *f, __u32 to)
{
	__u32 *from;

	f->slot = to;
	from = bpf_map_lookup_elem(&joints, f);
	return from ? *from : 0;
}

/* count_aside a packet that does not go the planned way. */
static inline void count_aside(struct __sk_buff *skb, __u32 node)
{
	struct count *c = bpf_map_lookup_elem(&aside, &node);

	if (c) {
		c->packets++;
		c->bytes += skb->len;
	}
}

static inline void wonder(void)
{
	__u32 first = 0;
	struct noted *n = bpf_map_lookup_elem(&notes, &first);

	if (n)
		n->strange++;
}

#endif
