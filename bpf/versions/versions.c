// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* Flows that stay on an older version of the path go on from a port as that did, to one of a function's replicas too, and by
 * labels and the ways that they came where ways part or come together. All else goes on by the program behind this one at the
 * port, which knows the newest version alone. This stands there only from when ports are turned until no flow goes by an older version
 * any more. */
#include "../include/ended.h"
#include "../include/parted.h"
#include "../include/versions.h"

char licensed[] SEC("license") = "GPL";

enum { COURSES = 8192 };

/* In the place of a port: packets go on by the program behind this one, */
#define BEHIND BY_DEVICE
/* or by the courses of the version, since ways part there or come together. */
#define BY_COURSES (AMONG - SEATS)

/* A way of a version from here: by the label of packets, or by the node that their flow came from. That of node 0 is the planned
 * one. */
struct led {
	__u32 version, node;
};

struct course {
	__u32 node;  /* number of the node that it leads to */
	__u32 port;  /* index of the port that this is behind, or replicas in its place */
	__u32 joint; /* others lead there too: which way flows come is noted for it */
	__u32 own;   /* number of the node behind this port */
	__u32 back;  /* packets go by the way of their flow, and not by labels */
};

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, COURSES);
	__uint(map_flags, ON_DEMAND);
	__type(key, struct led);
	__type(value, struct course);
} courses SEC(".maps");

/* course_of a packet by a version: what is in the place of the port that it goes to. */
static __attribute__((noinline)) __u32 course_of(struct __sk_buff *skb, __u32 version, __u32 label, struct flow *f, int found)
{
	struct led to = {.version = version};
	struct course *planned = bpf_map_lookup_elem(&courses, &to), *c = planned, *other;

	if (!f || !planned) /* there always is */
		return 0;
	if (planned->back)
		to.node = came_from(f, planned->own);
	else
		to.node = label;
	if (to.node && to.node != planned->node) {
		other = bpf_map_lookup_elem(&courses, &to);
		if (other)
			c = other;
		else
			wonder();
	}
	if (c->node != planned->node)
		count_aside(skb, c->node);
	if (c->joint && found == OF_FLOW) /* an error may come another way than what it is about */
		note(f, c->joint, c->own);
	return c->port;
}

SEC("tc")
int stay(struct __sk_buff *skb)
{
	__u32 first = 0, to, version, label = *(volatile __u32 *)&skb->tc_index;
	struct versions *v = bpf_map_lookup_elem(&versions, &first);
	struct became *b = bpf_map_lookup_elem(&became, &first);
	struct flow f = {};
	int found;

	if (!v || !b) /* there always are */
		return TCX_NEXT;
	version = newest_of(v);
	found = find_flow(skb, &f);
	if (likely(found != NO_FLOW) && likely(!of_one_link(&f)))
		version = version_of(&f, v, b);
	to = way_on(v, &version);
	if (to == BEHIND)
		return TCX_NEXT;
	count(skb);
	if (to == BY_COURSES)
		to = course_of(skb, version, label, &f, found);
	if (label)
		*(volatile __u32 *)&skb->tc_index = 0; /* no label from before is to be taken for one of the next node's */
	if (is_shared(to)) {
		f.slot = 0;
		to = replica_of(AMONG - to, &f);
	}
	return onward_or_end(skb, to);
}
