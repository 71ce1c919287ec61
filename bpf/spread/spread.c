// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on to one of several replicas of a function, and what is of
 * one flow, both ways, to the same one. A flow that is not known goes where its headers fall;
 * it is remembered then, in a table that all ports which face the function have together, so
 * that a replica more or less changes nothing for it. Where the table has no room, headers
 * alone decide: no packet is lost for it. */
#include "../include/onward.h"
#include "../include/conversation.h"

char licensed[] SEC("license") = "GPL";

enum { MAP_RECENT = 9 }; /* a hash of those used last */
enum { IF_ABSENT = 1 };
enum { REPLICAS = 64, BUCKETS = 1 << 14 };

static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static __u64 (*bpf_ktime_get_coarse_ns)(void) = (void *)160;

/* Indexes of the ports that replicas are behind, by the replicas' numbers, from 1; 0: there
 * is none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REPLICAS + 1);
	__type(key, __u32);
	__type(value, __u32);
} replicas SEC(".maps");

/* Numbers of the replicas that new flows go to, by where their headers fall. */
struct shares {
	__u8 of[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shares);
} shares SEC(".maps");

/* A flow's replica, and when a packet was last seen, in ns of a clock with steps of a few
 * milliseconds: so that cores which share a flow seldom write. */
struct stay {
	__u64 seen;
	__u32 replica, unused;
};

/* The loader gives the size, and the name by which other ports' programs find it. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct stay);
} flows SEC(".maps");

/* What became of packets whose flow was with no replica. */
struct dealt {
	__u64 fresh; /* it was not known, and is from then on */
	__u64 moved; /* its replica is gone: it goes to another from then on */
	__u64 unkept; /* there was no room for it */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dealt);
} dealt SEC(".maps");

enum { FLOW_WORDS = sizeof(struct flow) / 4 };

/* share_of a flow is the replica that its headers fall to. */
static inline __u32 share_of(const struct flow *f)
{
	__u32 words[FLOW_WORDS], first = 0;
	struct shares *s = bpf_map_lookup_elem(&shares, &first);
	__u64 sum = 0x9e3779b97f4a7c15ULL;

	_Static_assert(FLOW_WORDS == 11, "the words behind the first are taken two by two");
	__builtin_memcpy(words, f, sizeof(words));
#pragma unroll
	for (int i = 1; i < FLOW_WORDS; i += 2) {
		sum = (sum ^ words[i] ^ (__u64)words[i + 1] << 32) * 0xd6e8feb86659fd93ULL;
		sum ^= sum >> 32;
	}
	sum *= 0xd6e8feb86659fd93ULL;
	return s ? s->of[sum >> 50] : 0; /* as many bits as tell buckets apart */
}

static inline __u32 port_of(__u32 replica)
{
	__u32 *port = bpf_map_lookup_elem(&replicas, &replica);

	return port ? *port : 0;
}

/* choose the port that the packets of a flow go to. */
static inline __u32 choose(struct flow *f, struct dealt *d)
{
	struct stay *known = bpf_map_lookup_elem(&flows, f), fresh = {};
	__u32 port;

	fresh.seen = bpf_ktime_get_coarse_ns();
	if (known) {
		if (known->seen != fresh.seen)
			known->seen = fresh.seen;
		port = port_of(known->replica);
		if (likely(port))
			return port;
	}
	fresh.replica = share_of(f);
	port = port_of(fresh.replica);
	if (known) {
		known->replica = fresh.replica;
		d->moved++;
		return port;
	}
	if (!bpf_map_update_elem(&flows, f, &fresh, IF_ABSENT)) {
		d->fresh++;
		return port;
	}
	known = bpf_map_lookup_elem(&flows, f); /* a packet on another core may have been faster */
	if (!known) {
		d->unkept++;
		return port;
	}
	return port_of(known->replica);
}

SEC("tc")
int spread(struct __sk_buff *skb)
{
	__u32 first = 0;
	struct dealt *d = bpf_map_lookup_elem(&dealt, &first);
	struct packet p;
	struct flow f;

	if (!d) /* there always is */
		return TCX_DROP;
	count(skb);
	if (unlikely(read_packet(skb, &p) != READ_IP)) { /* all that has no flow has one replica */
		__builtin_memset(&f, 0, sizeof(f));
		return onward(skb, port_of(share_of(&f)));
	}
	read_conversation(skb, &p, &f);
	order(&f);
	return onward(skb, choose(&f, d));
}
