// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on by the version of the path that its flow began on. This stands at ports
 * that lead to one other, only from when they are turned until no flow goes by an older version any more. */
#include "../include/ended.h"
#include "../include/versions.h"
#include "../include/instead.h"

char licensed[] SEC("license") = "GPL";

SEC("tc")
int stay(struct __sk_buff *skb)
{
	__u32 first = 0, to, version, *other = bpf_map_lookup_elem(&instead, &first);
	struct versions *v = bpf_map_lookup_elem(&versions, &first);
	struct became *b = bpf_map_lookup_elem(&became, &first);
	struct packet p;
	struct flow f;

	if (!other || !v || !b) /* there always are */
		return TCX_DROP;
	count(skb);
	to = *(volatile __u32 *)other;
	if (unlikely(to))
		return onward_or_end(skb, to);
	version = newest_of(v); /* of all that has no flow */
	if (likely(read_packet(skb, &p) == READ_IP)) {
		read_conversation(skb, &p, &f);
		if (likely(!of_one_link(&f))) {
			order(&f);
			version = version_of(&f, v, b);
		}
	}
	return onward_or_end(skb, way_on(v, &version));
}
