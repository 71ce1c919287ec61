// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on by the label that it has from the function behind the port, or,
 * at a port where several ways come together, back by the one that its flow came by. Where several
 * nodes send to one, each of their ports notes for a flow that it came from there, in a table that
 * all ports of the chain have together: the headers of a flow are the same both ways on one hop,
 * whatever functions make of them before and behind it. What is not known goes the planned way: no
 * packet is lost for it. */
#include "../include/onward.h"
#include "../include/passed.h"
#include "../include/conversation.h"

char licensed[] SEC("license") = "GPL";

enum { MAP_COUNTS = 5, MAP_RECENT = 9 }; /* a hash with values for each core, one of those used last */
enum { ANYWAY = 0 };
enum { WAYS = 64 };

static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;

/* A way that packets go. */
struct way {
	__u32 node;  /* number of the node that it leads to; 0: there are no more ways */
	__u32 port;  /* index of the port that this is behind */
	__u32 joint; /* others lead there too: which way flows come is noted for it */
};

volatile const struct way ways[WAYS]; /* the first is the planned one */
volatile const __u32 own;             /* number of the node behind this port */
volatile const __u32 back;            /* packets go by the way of their flow, and not by labels */

/* Numbers of the nodes that flows came from, by the flow and the node that they came to. The loader
 * gives the size. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, __u32);
} joints SEC(".maps");

/* What went other ways than the planned one, by the node. */
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

/* note for a joint that the packet's flow comes from here. */
static inline void note(struct __sk_buff *skb, __u32 joint)
{
	__u32 first = 0, here = own, *from;
	struct noted *n = bpf_map_lookup_elem(&notes, &first);
	struct packet p;
	struct flow f;

	if (!n || unlikely(read_packet(skb, &p) != READ_IP))
		return;
	if (read_conversation(skb, &p, &f)) /* an error may come another way than what it is about */
		return;
	order(&f);
	f.slot = joint;
	from = bpf_map_lookup_elem(&joints, &f);
	if (likely(from && *from == here))
		return;
	if (from) {
		*from = here;
		n->moved++;
	} else if (bpf_map_update_elem(&joints, &f, &here, ANYWAY)) {
		n->unkept++;
		return;
	} else
		n->fresh++;
	if (f.ports[0] || f.ports[1]) { /* fragments have no ports: they go the way of the newest flow */
		f.ports[0] = f.ports[1] = 0;
		bpf_map_update_elem(&joints, &f, &here, ANYWAY);
	}
}

/* take a way to a node, if there is one but the planned one: 1 if so. */
static inline int take(struct __sk_buff *skb, __u32 node, __u32 *port, __u32 *joint)
{
	struct count *c;

#pragma unroll
	for (int i = 1; i < WAYS; i++) {
		if (!ways[i].node)
			return 0;
		if (ways[i].node == node) {
			*port = ways[i].port;
			*joint = ways[i].joint;
			goto found;
		}
	}
	return 0;
found:
	c = bpf_map_lookup_elem(&aside, &node);
	if (c) {
		c->packets++;
		c->bytes += skb->len;
	}
	return 1;
}

static inline void wonder(void)
{
	__u32 first = 0;
	struct noted *n = bpf_map_lookup_elem(&notes, &first);

	if (n)
		n->strange++;
}

/* came_from is the number of the node that a packet's flow came from; 0 if nobody knows. What is no
 * IP has no flow, and goes the planned way. */
static inline __u32 came_from(struct __sk_buff *skb)
{
	struct packet p;
	struct flow f;
	__u32 *from;

	if (unlikely(read_packet(skb, &p) != READ_IP))
		return ways[0].node;
	read_conversation(skb, &p, &f);
	order(&f);
	f.slot = own;
	from = bpf_map_lookup_elem(&joints, &f);
	return from ? *from : 0;
}

SEC("tc")
int branch(struct __sk_buff *skb)
{
	__u32 planned = ways[0].node, port = ways[0].port, joint = ways[0].joint, node;

	count(skb);
	if (back)
		node = came_from(skb);
	else {
		node = skb->tc_index;
		if (node)
			skb->tc_index = 0; /* no label from before is to be taken for one of the next node's */
		else
			node = planned;
	}
	if (node != planned && !take(skb, node, &port, &joint))
		wonder();
	if (joint)
		note(skb, joint);
	return onward(skb, port);
}
