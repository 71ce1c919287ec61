/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Versions of a chain's path, and which one the packets of a flow go by. Nobody kept a list of
 * the flows that there were before: for a while after ports are turned, whatever comes is taken for
 * one of those and entered in a table that all ports have together, with the version before. A flow that had
 * no packet in that while has none under way either, and may go the newest way. */
#ifndef NFCHAIN_VERSIONS_H
#define NFCHAIN_VERSIONS_H

#include "conversation.h"
#include "passed.h"

#ifndef NFCHAIN_AMONG_H
enum { IF_ABSENT = 1 };

static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static __u64 (*bpf_ktime_get_coarse_ns)(void) = (void *)160;
#endif
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static long (*bpf_map_push_elem)(void *map, const void *value, __u64 flags) = (void *)87;
static long (*bpf_map_pop_elem)(void *map, void *value) = (void *)88;

enum { MAP_HASH = 1, ON_DEMAND = 1 }; /* room is taken as flows come */
enum { MAP_QUEUE = 22, FIRST_GOES = 2 }; /* where there is no room in it */
enum { NO_ROOM = -7 };
enum { VERSIONS = 64 };

/* Versions of the path, the same at all ports of a chain, which change theirs at once by it. The kernel
 * writes words in their order, so that who reads the last one first has no earlier moment. */
struct versions {
	__u64 until;  /* when flows that are not known are no longer taken for those from before, in ns */
	__u64 idle;	  /* a flow without a packet for so long, in ns, is over */
	__u64 since;  /* when the newest came */
	__u64 newest; /* version of new flows, and in the upper half that of flows from before */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct versions);
} versions SEC(".maps");

/* Where versions lead to from here, from 1: the index of a port, or what a program has in the place of one; 0: nowhere. In
 * the place of version 0, the one that all flows here are of; 0: any. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VERSIONS + 1);
	__type(key, __u32);
	__type(value, __u32);
} ways SEC(".maps");

/* A flow's version, and when a packet was last seen, in ns of a clock with steps of a few
 * milliseconds: so that cores which share a flow seldom write. */
struct staying {
	__u64 seen;
	__u32 version, unused;
};

/* The loader gives the size. */
struct {
	__uint(type, MAP_HASH);
	__uint(map_flags, ON_DEMAND);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct staying);
} staying SEC(".maps");

/* Flows of that table, those first which were entered first, or found to be in use. Some may be in the table no more, and
 * some of that not be here. The loader gives the size. */
struct {
	__uint(type, MAP_QUEUE);
	__uint(max_entries, 1);
	__type(value, struct flow);
} entered SEC(".maps");

/* What became of packets that were of flows from before. */
struct became {
	__u64 kept;		 /* their flow is known from then on */
	__u64 moved;	 /* the flow's version is no more: it has the newest from then on */
	__u64 unkept;	 /* there was no room for it */
	__u64 displaced; /* flows that gave others their place and were not over: when they come again they are not known */
	__u64 asked;	 /* no count: when all flows that this core asked for their place were in use, last, in ns */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct became);
} became SEC(".maps");

static inline __u32 way_of(__u32 version)
{
	__u32 *port = bpf_map_lookup_elem(&ways, &version);

	return port ? *port : 0;
}

static inline __u32 newest_of(const struct versions *v) { return (__u32)*(volatile __u64 *)&v->newest; }

/* way_on of a packet by its version. One of which was forgotten where it leads since the packet came, though it was the newest by then,
 * has given way to another one. */
static inline __u32 way_on(const struct versions *v, __u32 *version)
{
	__u32 to = way_of(*version);

	if (likely(to))
		return to;
	*version = newest_of(v);
	return way_of(*version);
}

/* How many flows are asked for their place at most. */
enum { ASKED = 16 };

/* make_room for a flow. Of some that are asked, the one that was not seen for longest gives its place, if it had no packet for as
 * long as flows from before are looked for: it has none under way either, and who comes has. All others stay. Where all that are
 * asked are in use, the next are when the clock has gone on, so that a full table costs few packets time. */
static __attribute__((noinline)) int make_room(const struct versions *v, __u64 now, struct became *b)
{
	__s64 longest, since, idle;
	struct flow f, idlest = {};
	struct staying *s;
	__u64 before, used;
	int found = 0;

	if (!v || !b)
		return 0;
	before = *(volatile __u64 *)&b->asked;
	if (before == now)
		return 0;
	used = before; /* from a number that the verifier does not know: it need not look at each that there may be */
	asm volatile("" : "+r"(used));
	idle = v->idle;
	longest = v->until - v->since;
	if (longest <= 0 || longest > idle) /* they are being written */
		longest = idle;
	for (int i = 0; i < ASKED && (!found || longest <= idle); i++) {
		if (bpf_map_pop_elem(&entered, &f))
			break;
		s = bpf_map_lookup_elem(&staying, &f);
		if (!s)
			continue;
		since = now - s->seen;
		if (since <= longest) {
			used++;
			bpf_map_push_elem(&entered, &f, FIRST_GOES);
			continue;
		}
		if (found)
			bpf_map_push_elem(&entered, &idlest, FIRST_GOES);
		idlest = f;
		longest = since;
		found = 1;
	}
	if (!found) {
		if (used - before == ASKED)
			b->asked = now;
		return 0;
	}
	if (longest <= idle)
		b->displaced++;
	return !bpf_map_delete_elem(&staying, &idlest);
}

/* enter a flow that is not known. */
static inline __u32 enter(const struct flow *f, struct staying *fresh, const struct versions *v, struct became *b)
{
	int failed = bpf_map_update_elem(&staying, f, fresh, IF_ABSENT); /* before Linux 6.4 that is all that is said */
	struct staying *known;

	if (failed == NO_ROOM && make_room(v, fresh->seen, b))
		failed = bpf_map_update_elem(&staying, f, fresh, IF_ABSENT);
	if (!failed) {
		bpf_map_push_elem(&entered, f, FIRST_GOES);
		b->kept++;
		return fresh->version;
	}
	known = bpf_map_lookup_elem(&staying, f); /* a packet on another core may have been faster */
	if (known)
		return known->version;
	b->unkept++;
	return fresh->version;
}

/* version_of a flow. */
static inline __u32 version_of(const struct flow *f, const struct versions *v, struct became *b)
{
	__u64 both = *(volatile __u64 *)&v->newest;
	__u32 newest = (__u32)both, before = both >> 32, here = way_of(0), to = newest;
	struct staying *known = bpf_map_lookup_elem(&staying, f), fresh = {};

	fresh.seen = bpf_ktime_get_coarse_ns();
	if (known && (__s64)(fresh.seen - known->seen) <= (__s64)v->idle) {
		if (known->seen != fresh.seen)
			known->seen = fresh.seen;
		if (likely(way_of(known->version)))
			return known->version;
		known->version = newest;
		b->moved++;
		return newest;
	}
	if (here)
		to = here;
	else if (fresh.seen < *(volatile __u64 *)&v->until)
		to = before;
	if (!way_of(to))
		to = newest;
	fresh.version = to;
	if (known) {
		known->version = to;
		known->seen = fresh.seen;
		return to;
	}
	if (to == newest && (!here || fresh.seen >= *(volatile __u64 *)&v->until)) /* where nothing is known, that is the version */
		return to;
	return enter(f, &fresh, v, b);
}

#endif
