/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Whose packets a core is at in a softirq. Who includes this says what becomes of the
 * time: took(number, ns). */
#ifndef NFCHAIN_TURN_H
#define NFCHAIN_TURN_H

#include "place.h"

/* The time that cores spend on received packets, by the namespace that has them: from
 * the moment one comes there until the next comes anywhere, or the softirq ends. */
struct turn {
	__u64 since;
	__u32 number; /* of the namespace, and one; 0 is none of the chain's */
	__u32 inside;
};

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct turn);
} turns SEC(".maps");

static inline void hand_over(__u32 number, __u32 inside)
{
	__u32 first = 0;
	__u64 now = bpf_ktime_get_ns();
	struct turn *t = bpf_map_lookup_elem(&turns, &first);

	if (!t)
		return;
	if (t->inside)
		took(t->number, now - t->since);
	t->since = now;
	t->number = number;
	t->inside = inside;
}

enum { NET_TX = 2, NET_RX = 3 };

SEC("raw_tp/softirq_entry")
int softirq_begins(__u64 *args)
{
	if (args[0] == NET_TX || args[0] == NET_RX)
		hand_over(0, 1);
	return 0;
}

SEC("raw_tp/softirq_exit")
int softirq_ends(__u64 *args)
{
	if (args[0] == NET_TX || args[0] == NET_RX)
		hand_over(0, 0);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int softirq_takes(__u64 *args)
{
	struct sk_buff *skb = (void *)args[0];
	struct point p = {};
	__u32 *number, first = 0;
	struct turn *t = bpf_map_lookup_elem(&turns, &first);

	if (!t || !t->inside)
		return 0;
	stands(skb->dev, &p);
	number = bpf_map_lookup_elem(&namespaces, &p.netns);
	hand_over(number ? *number + 1 : 0, 1);
	return 0;
}

#endif
