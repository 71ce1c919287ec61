/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Inline functions: steps that every packet of a hop goes through, in one program.
 *
 * The steps are constants when the kernel verifies the program, so it throws away what no
 * step does, and what is left is a straight line. Headers are read once before the first
 * step and written once behind the last; counters of all steps are found by one look-up.
 *
 * Who includes this says what time it is: PASS_CLOCK(skb), in ns. Who includes firewall.h before and
 * defines PASS_RULES has firewalls too; they are not in every pass, since the kernel verifies and keeps their
 * functions also where no step calls them. Who defines PASS_NAT has translations, which bring tables; rules
 * behind one are asked about the packet that it made. */
#ifndef NFCHAIN_PASS_H
#define NFCHAIN_PASS_H

#include "packet.h"

#ifndef PASS_RULES
struct rules_packet {
};
#endif

enum {
	STEPS = 32,
	TAPS = 8,
	MAP_ARRAY = 2, MAP_COUNTS = 6, MAP_FLOWS = 9, /* array, array by core, hash of those last used */
	IF_ABSENT = 1,
};

/* What a step does. */
enum act {
	ACT_END,   /* there are no more */
	ACT_COUNT,
	ACT_MARK,
	ACT_DSCP,
	ACT_DROP,
	ACT_LIMIT,
	ACT_RULES,
	ACT_MIRROR,
	ACT_NAT,
};

/* Whose bucket of tokens a packet is charged to. */
enum per {
	PER_CHAIN,
	PER_FLOW,
	PER_SOURCE,
	PER_DESTINATION,
};

struct step {
	enum act act;
	__u32 slot; /* of its counters and its memory, which no other step has */
	union {
		struct {
			__u32 value, mask;
		} mark;
		struct {
			__u64 code;
		} dscp;
		struct {
			__u64 every, below, dice; /* one of so many; else where what is drawn is below */
		} drop;
		struct {
			__u32 factor, shift; /* a byte's time at the rate, 2^-shift of TICKS */
			__u64 burst;         /* in TICKS */
			__u8 per, bits4, bits6;
		} limit;
		struct {
			__u64 unused;
			__u32 whose, aside; /* whose connections they are; aside: packets pass, and tell of theirs */
		} rules;
		struct {
			__u32 tap, every;       /* which one gets a copy of one packet in so many */
			__u16 port;             /* source or destination, as in the packet; 0: any */
			__u8 version, protocol; /* 0: any */
			__u32 ends;             /* not 0: the tap asks for addresses */
		} mirror;
		struct {
			__u32 first, rules; /* of the rules, and how many */
			__u32 whose, here;  /* whose connections they are; which pass this is, odd where packets open those that are translated */
			__u64 digest;       /* of what the rules say */
		} nat;
	};
};

enum { TICK_BITS = 6 }; /* 64 ticks are a ns: a byte at 1 Tbit/s is half a tick */

enum needs { NEEDS_CLOCK = 1, NEEDS_FLOW = 2, NEEDS_MARK = 4, NEEDS_RULES = 8 };

volatile const struct step steps[STEPS];
volatile const __u32 needs; /* of any step */
volatile const __u32 taps[TAPS]; /* interfaces that copies leave by */

struct tally {
	__u64 packets, bytes; /* bytes from the Ethernet header on, without FCS */
};

/* What a core has counted. What a step that drops saw is what came to the pass, less what
 * steps before it dropped. */
struct counts {
	struct tally came;        /* to the pass */
	struct tally other;       /* no IP: went on untouched */
	struct tally malformed;   /* dropped before the first step */
	struct tally unwritten;   /* dropped behind the last, because the kernel had no memory for what was to be written */
	struct tally steps[STEPS]; /* counted, marked, dropped: what the step is for */
};

struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counted SEC(".maps");

/* What a step remembers from packet to packet, on a cache line of its own. */
struct memory {
	__u64 value;
	__u64 lost;    /* copies that no tap took, packets of no connection, redirects of one */
	__u64 full;    /* packets whose connection could not be made */
	__u64 copying; /* ns that cores spent on copies, by the share of them that was timed */
	__u64 unused[4];
};

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, STEPS);
	__type(key, __u32);
	__type(value, struct memory);
} memories SEC(".maps");

/* Buckets of flows and prefixes; those not used for longest make room for new ones. */
struct {
	__uint(type, MAP_FLOWS);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, __u64);
} buckets SEC(".maps");

/* How many were made. */
struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} buckets_made SEC(".maps");

static long (*update)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;

static inline void tally(struct tally *t, struct packet *p)
{
	t->packets += p->segments;
	t->bytes += p->bytes;
}

/* mix is SplitMix64's output function on one step of its state. */
static inline __u64 mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* picked tells whether a step drops this packet: by its number alone, counted from 1. */
static __attribute__((noinline)) int picked(__u32 i)
{
	struct memory *m;
	__u32 slot;
	__u64 n;

	if (i >= STEPS)
		return 0;
	slot = steps[i].slot;
	m = bpf_map_lookup_elem(&memories, &slot);
	if (!m)
		return 0;
	n = __sync_fetch_and_add(&m->value, 1) + 1;
	if (steps[i].drop.every)
		return n % steps[i].drop.every == 0;
	return mix(steps[i].drop.dice + mix(n) * 2 + 1) >> 11 < steps[i].drop.below;
}

enum { TRIES = 8 };

/* charge a bucket with a packet: 1 if it is empty. A bucket is the time at which it will be
 * full again (a generic cell rate algorithm), so that one word is all of it. What is left
 * need not be as much as the packet, which is charged whole: packets that are larger than
 * the bucket pass too, and the rate holds. */
static inline int charge(__u64 *bucket, __u64 now, __u64 cost, __u64 burst)
{
	for (int i = 0; i < TRIES; i++) {
		__u64 full = *(volatile __u64 *)bucket, from = (__s64)(full - now) > 0 ? full : now;

		if (from - now >= burst)
			return 1;
		if (__sync_val_compare_and_swap(bucket, full, from + cost) == full)
			return 0;
	}
	__sync_fetch_and_add(bucket, cost); /* other cores were always faster */
	return 0;
}

/* keep the first bits of an address. */
static inline void keep(__u32 *address, __s32 bits)
{
#pragma unroll
	for (int i = 0; i < 4; i++, bits -= 32)
		if (bits <= 0)
			address[i] = 0;
		else if (bits < 32)
			address[i] &= __builtin_bswap32(~0U << (32 - bits));
}

/* bucket_of finds the bucket of a packet, or makes a full one. */
static inline __u64 *bucket_of(__u32 i, const struct flow *of, __u64 now)
{
	__u32 per = steps[i].limit.per, first = 0;
	struct flow f = *of;
	__u64 *found, *made;

	f.slot = steps[i].slot;
	if (per != PER_FLOW) {
		__s32 bits = f.version == 4 ? steps[i].limit.bits4 : steps[i].limit.bits6;

		f.protocol = f.ports[0] = f.ports[1] = 0;
		keep(f.source, per == PER_SOURCE ? bits : 0);
		keep(f.destination, per == PER_DESTINATION ? bits : 0);
	}
	found = bpf_map_lookup_elem(&buckets, &f);
	if (found)
		return found;
	if (!update(&buckets, &f, &now, IF_ABSENT)) {
		made = bpf_map_lookup_elem(&buckets_made, &first);
		if (made)
			++*made;
	}
	return bpf_map_lookup_elem(&buckets, &f);
}

/* limited tells whether a packet is over a step's limit. One for which the kernel gives no
 * bucket is not. */
static __attribute__((noinline)) int limited(__u32 i, __u32 bytes, const struct flow *f, __u64 ns)
{
	__u64 now = ns << TICK_BITS, *bucket;
	__u32 slot;

	if (i >= STEPS)
		return 0;
	slot = steps[i].slot;
	if (steps[i].limit.per == PER_CHAIN)
		bucket = bpf_map_lookup_elem(&memories, &slot);
	else
		bucket = f ? bucket_of(i, f, now) : 0;
	if (!bucket)
		return 0;
	return charge(bucket, now, (__u64)bytes * steps[i].limit.factor >> steps[i].limit.shift, steps[i].limit.burst);
}

#ifdef PASS_RULES
/* What each rule of each firewall decided, and each policy behind them. */
struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} rules_counted SEC(".maps");

/* Which area of the memory has the rules that are asked: the first entry. Others are written into an area that nobody
 * reads, and then this. What is behind it is for those who write; the loader gives the size. */
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} rules_current SEC(".maps");

/* The rules of a step. */
struct asked {
	__u32 base, first; /* of the table, and its first counter */
	__u64 digest;      /* of what the rules say and whether they are asked */
};

/* By the areas of the memory, and in each by slots; the loader gives the size. */
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, STEPS);
	__type(key, __u32);
	__type(value, struct asked);
} rules_asked SEC(".maps");

/* ask reads a packet for the rules of all steps, which are in one area. */
static inline void ask(struct __sk_buff *skb, struct packet *p, struct rules_packet *r)
{
	__u32 first = 0, *current = bpf_map_lookup_elem(&rules_current, &first);

	p->asked = current ? *(volatile __u32 *)current : 0; /* once: it may change meanwhile */
	rules_read(skb, r, p->at, 0);
}

/* denied tells whether a step's rules drop a packet. */
static __attribute__((noinline)) int denied(struct __sk_buff *skb, __u32 i, struct packet *p, struct rules_packet *r, __u64 now)
{
	struct asked *asked;
	struct tally *t;
	__s32 answer;
	__u32 number;
	__u8 state;

	if (i >= STEPS)
		return 0;
	number = p->asked * STEPS + steps[i].slot;
	asked = bpf_map_lookup_elem(&rules_asked, &number);
	if (!asked) /* there always are */
		return 1;
	state = r->state;
	if (unlikely(r->place == RULES_LATER) && rules_stateful(asked->base)) {
		answer = part_went(r, steps[i].rules.whose, asked->digest, now);
		if (answer >= 0)
			goto answered;
	}
	if (unlikely(state == RULES_BEYOND)) {
		if (!steps[i].rules.aside && rules_behind(asked->base))
			return 1;
		r->state = RULES_INVALID;
	}
	if (state == RULES_ERROR)
		r->state = rules_relates(skb, r, steps[i].rules.whose, now);
	answer = rules_judge(r, asked->base, steps[i].rules.whose, asked->digest, now);
	r->state = state; /* another firewall has connections of its own */
	if (answer < 0)
		return 1;
	if (unlikely(r->place == RULES_FIRST) && answer & 1 && rules_stateful(asked->base))
		part_goes(r, steps[i].rules.whose, asked->digest, answer, now);
answered:
	if (steps[i].rules.aside)
		return 0;
	number = asked->first + (answer >> 1);
	t = bpf_map_lookup_elem(&rules_counted, &number);
	if (t)
		tally(t, p);
	return !(answer & 1);
}

/* reread is for the rules behind what changed a packet. */
static inline void reread(struct __sk_buff *skb, struct packet *p, struct rules_packet *r)
{
	if (needs & NEEDS_RULES)
		rules_read(skb, r, p->at, 0);
}
#else
static inline int denied(struct __sk_buff *skb, __u32 i, struct packet *p, struct rules_packet *r, __u64 now) { return 0; }

static inline void reread(struct __sk_buff *skb, struct packet *p, struct rules_packet *r) {}
#endif

#include "mirror.h"

#ifdef PASS_NAT
#include "nat.h"
#else
enum { NAT_LEFT, NAT_STRAY, NAT_UNWRITTEN };

static inline int translated(struct __sk_buff *skb, __u32 i, struct packet *p, struct flow *f, __u64 now) { return NAT_LEFT; }
#endif

/* take one step: 1 if it drops the packet. What steps do to the packet itself is done when
 * all are taken, once. */
static inline int take(struct __sk_buff *skb, __u32 act, __u32 i, struct packet *p, struct flow *f, struct rules_packet *r, __u64 now, struct counts *c)
{
	int drops = 0;

	switch (act) {
	case ACT_MARK:
		p->mark = (p->mark & ~steps[i].mark.mask) | steps[i].mark.value;
		break;
	case ACT_DSCP:
		p->tos = steps[i].dscp.code << 2 | (p->tos & 3);
		break;
	case ACT_DROP:
		if (!picked(i))
			return 0;
		drops = 1;
		break;
	case ACT_LIMIT:
		if (!limited(i, p->bytes, f, now))
			return 0;
		drops = 1;
		break;
	case ACT_RULES:
		if (!denied(skb, i, p, r, now))
			return 0;
		drops = 1;
		break;
	case ACT_MIRROR:
		if (!copied(skb, i, p, f))
			return 0;
		break;
	case ACT_NAT:
		switch (translated(skb, i, p, f, now)) {
		case NAT_LEFT:
			return 0;
		case NAT_STRAY: /* counted there */
			return 1;
		case NAT_UNWRITTEN:
			tally(&c->unwritten, p);
			return 1;
		default:
			reread(skb, p, r);
			break;
		}
		break;
	default:
		break;
	}
	tally(&c->steps[steps[i].slot], p);
	return drops;
}

/* go takes all steps: TCX_NEXT if the packet goes on. */
static inline int go(struct __sk_buff *skb)
{
	__u32 first = 0;
	struct counts *c = bpf_map_lookup_elem(&counted, &first);
	struct packet p;
	struct rules_packet r = {};
	struct flow f;
	__u64 now = 0;
	int what;

	if (!c)
		return TCX_NEXT;
	what = read_packet(skb, &p);
	if (what == READ_IP)
		apart(skb, &p);
	tally(&c->came, &p);
	if (unlikely(what != READ_IP)) {
		tally(what == READ_OTHER ? &c->other : &c->malformed, &p);
		return what == READ_OTHER ? TCX_NEXT : TCX_DROP;
	}
	if (needs & NEEDS_CLOCK)
		now = PASS_CLOCK(skb);
	if (needs & NEEDS_FLOW)
		read_flow(skb, &p, &f);
	if (needs & NEEDS_MARK)
		p.mark = skb->mark;
#ifdef PASS_RULES
	if (needs & NEEDS_RULES)
		ask(skb, &p, &r);
#endif
#pragma unroll
	for (__u32 i = 0; i < STEPS; i++) {
		__u32 act = steps[i].act;

		if (act == ACT_END)
			break;
		if (take(skb, act, i, &p, &f, &r, now, c))
			return TCX_DROP;
	}
	if (needs & NEEDS_MARK)
		skb->mark = p.mark;
	if (rewritten(skb, &p)) {
		tally(&c->unwritten, &p);
		return TCX_DROP;
	}
	return TCX_NEXT;
}

#endif
