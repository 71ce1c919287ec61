/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which of a function's replicas the packets of a flow go to. A program may lead to several functions that have
 * some: each has a seat there, numbered from 0, and the loader gives all maps but the tables room for so many. */
#ifndef NFCHAIN_AMONG_H
#define NFCHAIN_AMONG_H

#include "replica.h"

enum { REPLICAS = 64, BUCKETS = 1 << 14, SEATS = 64 };

/* In the place of a port: packets go to one of the replicas of the first seat; those of other seats are
 * below. */
#define AMONG (~0U - 1)

/* is_shared tells whether packets go to replicas in the place of a port. */
static inline int is_shared(__u32 port) { return AMONG - port < SEATS; }

/* Indexes of the ports that replicas are behind, by the replicas' numbers, from 1; 0: there
 * is none. Each seat has so many; the first of them is none's, and programs do not read it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REPLICAS + 1);
	__type(key, __u32);
	__type(value, __u32);
} replicas SEC(".maps");

/* Numbers of the replicas that new flows go to, by where their headers fall: as the chain is to be, and
 * while some fail. */
struct shares {
	__u8 of[BUCKETS];
};

enum { AS_PLANNED = 0, WHILE_FAILING = 1 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct shares);
} shares SEC(".maps");

/* Replicas that fail, a bit for each from the first. Who watches over the nodes writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} failing SEC(".maps");

/* What became of packets whose flow was with no replica. */
struct dealt {
	__u64 fresh; /* it was not known, and is from then on */
	__u64 moved; /* its replica is gone, or fails: it goes to another from then on */
	__u64 unkept; /* there was no room for it */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dealt);
} dealt SEC(".maps");

enum { FLOW_WORDS = sizeof(struct flow) / 4 };

/* bucket_of a flow is where its headers fall. */
static inline __u32 bucket_of(const struct flow *f)
{
	__u32 words[FLOW_WORDS];
	__u64 sum = 0x9e3779b97f4a7c15ULL;

	_Static_assert(FLOW_WORDS == 11, "the words behind the first are taken two by two");
	__builtin_memcpy(words, f, sizeof(words));
#pragma unroll
	for (int i = 1; i < FLOW_WORDS; i += 2) {
		sum = (sum ^ words[i] ^ (__u64)words[i + 1] << 32) * 0xd6e8feb86659fd93ULL;
		sum ^= sum >> 32;
	}
	sum *= 0xd6e8feb86659fd93ULL;
	return sum >> 50; /* as many bits as tell buckets apart */
}

/* share_of a bucket is the replica that new flows of it go to. */
static inline __u32 share_of(__u32 seat, __u32 bucket, __u32 when)
{
	__u32 at = 2 * seat + when;
	struct shares *s = bpf_map_lookup_elem(&shares, &at);

	return s && bucket < BUCKETS ? s->of[bucket] : 0;
}

static inline __u32 port_of_replica(__u32 seat, __u32 replica)
{
	__u32 at = seat * (REPLICAS + 1) + replica, *port = replica ? bpf_map_lookup_elem(&replicas, &at) : 0;

	return port ? *port : 0;
}

/* fails tells whether a replica does. */
static inline int fails(__u32 replica, __u64 which) { return which >> (replica - 1 & 63) & 1; }

/* pick a replica for a flow that has none, and the port that it is behind. */
static inline __u32 pick(__u32 seat, const struct flow *f, __u64 failed, __u32 *replica)
{
	__u32 bucket = bucket_of(f), port = 0;

	if (unlikely(failed)) {
		*replica = share_of(seat, bucket, WHILE_FAILING);
		port = port_of_replica(seat, *replica);
	}
	if (likely(!port)) { /* that one may have gone meanwhile */
		*replica = share_of(seat, bucket, AS_PLANNED);
		port = port_of_replica(seat, *replica);
	}
	return port;
}

/* among the replicas of a seat, the port of the one that the packets of a flow go to; all that has no flow has one
 * replica, and what is for groups of the link goes where its headers fall. */
static inline __u32 among(void *flows, __u32 seat, const struct flow *f)
{
	struct dealt *d = bpf_map_lookup_elem(&dealt, &seat);
	__u64 *which = bpf_map_lookup_elem(&failing, &seat), failed;
	struct stay *known, fresh = {};
	__u32 port;

	if (!d || !which) /* there always are */
		return 0;
	failed = *(volatile __u64 *)which;
	if (unlikely(!f->version || of_one_link(f))) /* such are not remembered */
		return pick(seat, f, failed, &fresh.replica);
	known = bpf_map_lookup_elem(flows, f);
	fresh.seen = bpf_ktime_get_coarse_ns();
	if (known) {
		if (known->seen != fresh.seen)
			known->seen = fresh.seen;
		port = port_of_replica(seat, known->replica);
		if (likely(port && !fails(known->replica, failed)))
			return port;
	}
	port = pick(seat, f, failed, &fresh.replica);
	if (known) {
		known->replica = fresh.replica;
		d->moved++;
		return port;
	}
	if (!bpf_map_update_elem(flows, f, &fresh, IF_ABSENT)) {
		d->fresh++;
		return port;
	}
	known = bpf_map_lookup_elem(flows, f); /* a packet on another core may have been faster */
	if (!known) {
		d->unkept++;
		return port;
	}
	return port_of_replica(seat, known->replica);
}

#endif
