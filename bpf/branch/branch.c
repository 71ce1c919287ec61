// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on by the label that it has from the function behind the port, or,
 * at a port where several ways come together, back by the one that its flow came by. What is not known goes the planned way: no
 * packet is lost for it. A way may lead to a function with replicas: one of them has the flow, whichever way
 * it came. */
#include "../include/ended.h"
#include "../include/headed.h"
#include "../include/parted.h"
#include "../include/instead.h"

char licensed[] SEC("license") = "GPL";

enum { MAP_HASH = 1 };
enum { NODES = 4096, NO_PREALLOC = 1 };

static long (*bpf_loop)(__u32 turns, void *turn, void *context, __u64 flags) = (void *)181; /* Linux 5.17 */

/* A way that packets go. */
struct way {
	__u32 node;  /* number of the node that it leads to; 0: there are no more ways */
	__u32 port;  /* index of the port that this is behind, or replicas in its place */
	__u32 joint; /* others lead there too: which way flows come is noted for it */
};

volatile const struct way ways[WAYS]; /* the first is the planned one */
volatile const __u32 own;             /* number of the node behind this port */
volatile const __u32 back;            /* packets go by the way of their flow, and not by labels */
volatile const __u32 path;            /* that all of this is, beside others whose headers are different; 0: there are none */

/* What is known of a node to which packets may come from here while others fail. */
struct node {
	__u32 port;  /* index of the port that it is behind */
	__u32 joint; /* several ways come together at it */
	__u32 fails; /* and what becomes of packets to it; 0: it is well */
	__u32 next;  /* the node that they are led on to, past it; at a joint, if their flow is not known there */
};

enum { ENDS = 1, PAST = 2 };

/* Nodes by their numbers. Programs look there while instead is not 0: who watches over the nodes writes both. */
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, NODES);
	__uint(map_flags, NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct node);
} nodes SEC(".maps");

/* What was led past nodes that failed, by the node. */
struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, NODES);
	__uint(map_flags, NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct count);
} past SEC(".maps");

/* take a way to a node, if there is one but the planned one: 1 if so. */
static inline int take(__u32 node, __u32 *port, __u32 *joint)
{
#pragma unroll
	for (int i = 1; i < WAYS; i++) {
		if (!ways[i].node)
			return 0;
		if (ways[i].node == node) {
			*port = ways[i].port;
			*joint = ways[i].joint;
			return 1;
		}
	}
	return 0;
}

/* Where a packet goes. */
struct goal {
	struct flow flow;
	__u32 found; /* whether it has one */
	__u32 from;  /* the node that it comes from, or would come from if none failed */
	__u32 node, port, joint;
	__u32 bytes;
	int ends;    /* before a node that fails */
};

/* back_from a node that fails, to the one that the flow came to it from. */
static inline __u32 back_from(struct goal *to, struct node *n)
{
	__u32 next;

	if (!n->joint || to->found == NO_FLOW)
		return n->next;
	next = came_from(&to->flow, to->node);
	if (next && bpf_map_lookup_elem(&nodes, &next))
		return next;
	wonder();
	return n->next;
}

enum { GO_ON = 0, STOP = 1 };

/* lead_past one node after another that fails as if it were a wire: to the next that it has by plan, or back to where the flow
 * came to it from. What ports behind it would have noted of the flow is noted here, so that it goes by the node
 * again, both ways, as soon as that is well, whatever others do. */
static long lead_past(__u32 turn, struct goal *to)
{
	struct node *n = bpf_map_lookup_elem(&nodes, &to->node);
	struct count *c, one = {1, to->bytes};

	if (turn) {
		to->port = n ? n->port : 0;
		to->joint = !back && n && n->joint ? to->node : 0;
	}
	if (!n || !n->fails)
		return STOP;
	if (n->fails != PAST) {
		to->ends = 1;
		return STOP;
	}
	c = bpf_map_lookup_elem(&past, &to->node);
	if (c) {
		c->packets++;
		c->bytes += one.bytes;
	} else
		bpf_map_update_elem(&past, &to->node, &one, ANYWAY);
	if (to->joint && to->found == OF_FLOW)
		note(&to->flow, to->joint, to->from);
	to->from = to->node;
	to->node = back ? back_from(to, n) : n->next;
	to->port = to->joint = 0; /* until it is known that it is well */
	return GO_ON;
}

/* some_fail tells whether any node does to which packets may come from here. */
static inline int some_fail(void)
{
	__u32 first = 0, *any = bpf_map_lookup_elem(&instead, &first);

	return any && unlikely(*(volatile __u32 *)any);
}

SEC("tc")
int branch(struct __sk_buff *skb)
{
	struct goal to = {.from = own, .node = ways[0].node, .port = ways[0].port, .joint = ways[0].joint};
	int failing = some_fail(), beside, looked;
	__u32 node = to.node;

	count(skb);
	if (back) {
		looked = ways[1].node || failing;
		if (looked)
			to.found = find_flow(skb, &to.flow);
		if (ways[1].node && to.found != NO_FLOW) /* what has none goes the planned way */
			node = came_from(&to.flow, own);
	} else if (skb->tc_index) {
		node = skb->tc_index;
		skb->tc_index = 0; /* no label from before is to be taken for one of the next node's */
	}
	if (node != to.node && !take(node, &to.port, &to.joint)) {
		wonder();
		node = to.node;
	}
	beside = node != to.node;
	to.node = node;
	if (!back) {
		looked = to.joint || failing;
		if (looked)
			to.found = find_flow(skb, &to.flow);
	}
	if (failing) {
		to.bytes = skb->len;
		bpf_loop(NODES, lead_past, &to, 0);
		if (to.ends) {
			count_aside(skb, node | ENDED);
			return end_packet(skb);
		}
	}
	if (beside)
		count_aside(skb, node);
	if (is_shared(to.port)) {
		if (!looked)
			to.found = find_flow(skb, &to.flow);
		to.flow.slot = 0;
		to.port = replica_of(AMONG - to.port, &to.flow);
	}
	if (to.joint && to.found == OF_FLOW) /* an error may come another way than what it is about */
		note(&to.flow, to.joint, to.from);
	if (path && to.port & BY_DEVICE && to.port != NOWHERE && name(skb, path))
		return TCX_DROP;
	return onward(skb, to.port);
}
