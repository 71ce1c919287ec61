// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on to the next node of the chain. The port alone says which
 * that is, so that no header is looked at, and none changed: addresses may mean what they
 * like, and a frame of any kind is as good as another. Each port has this program with maps
 * of its own. */
#include "../include/onward.h"

char licensed[] SEC("license") = "GPL";

/* Index of the port that the next node is behind, 0 for nowhere. It is changed while packets
 * come: a packet goes the old way or the new one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next SEC(".maps");

/* Where packets go instead while the next node fails: index of a port, 0 for nowhere else. Who
 * watches over the nodes writes it; next is what the chain is to be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} instead SEC(".maps");

/* In the place of a port: packets end here. */
#define NOWHERE (~0U)

SEC("tc")
int steer(struct __sk_buff *skb)
{
	__u32 first = 0, to, *planned = bpf_map_lookup_elem(&next, &first), *other = bpf_map_lookup_elem(&instead, &first);

	if (!planned || !other) /* there always are */
		return TCX_DROP;
	count(skb);
	to = *(volatile __u32 *)other; /* once: it may change meanwhile */
	if (!to)
		to = *(volatile __u32 *)planned;
	return onward(skb, to == NOWHERE ? 0 : to);
}
