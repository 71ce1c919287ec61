// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port from a replica is of a flow that came there, which is known to be that replica's, or of one
 * that its program began, or gave other addresses: that is the replica's from then on, in the table of the ports that
 * face the function, and answers come back to it. Where packets go is said by what is behind this. */
#include "../include/opens.h"
#include "../include/replica.h"

char licensed[] SEC("license") = "GPL";

/* The loader gives the table of the ports that face the function in the place of this one. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct stay);
} flows SEC(".maps");

volatile const __u32 replica;

/* So long, in ns, another replica has to have had no packet of a flow that is taken for this one's, where packets do not say that they are
 * the first: what a replica held that failed comes later than that flow goes by another. */
enum { QUIET = 1000000000 };

SEC("tc")
int note(struct __sk_buff *skb)
{
	struct stay *known, fresh = {};
	struct packet p;
	struct flow f;

	if (unlikely(read_packet(skb, &p) != READ_IP))
		return TCX_NEXT;
	read_conversation(skb, &p, &f);
	order(&f);
	if (unlikely(of_one_link(&f)))
		return TCX_NEXT;
	fresh.seen = bpf_ktime_get_coarse_ns();
	known = bpf_map_lookup_elem(&flows, &f);
	if (likely(known)) {
		if (unlikely(known->replica != replica)) { /* replicas have the same addresses, and one may have the port that another had before */
			if ((__s64)(fresh.seen - known->seen) < QUIET && opens(skb, &p) != OPENS)
				return TCX_NEXT;
			known->replica = replica;
		}
		if (known->seen != fresh.seen)
			known->seen = fresh.seen;
		return TCX_NEXT;
	}
	fresh.replica = replica;
	bpf_map_update_elem(&flows, &f, &fresh, IF_ABSENT); /* without room headers alone decide where answers go */
	return TCX_NEXT;
}
