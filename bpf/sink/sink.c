// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* A packet sink: takes the packets that carry this run's signature off an interface,
 * counts them, and bins their one-way times; strangers pass. */
#include "../include/kernel.h"
#include "../include/stamp.h"
#include "../include/bucket.h"
#include "../include/moment.h"

char licensed[] SEC("license") = "GPL";

enum {
	WORD_BITS = 17,
	WORDS = 1 << WORD_BITS, /* of 32 packets each: what is remembered of a stream */
	GAP_BITS = 13,
	GAPS = 1 << GAP_BITS,
};

volatile const __u32 signature;
volatile const __u32 flows = 1;   /* of which packets come in turn; 1 counts none apart */
volatile const __u32 locked;      /* packets of a stream may come on several cores at once */
volatile const __u32 binned = 1;  /* else only counted: for measuring what bins cost */

volatile const __u64 scale;       /* of the steps that packets are counted by; 0: there are none */
volatile const __u64 unit;        /* of time, 2^unit ns, in which scale divides it */
__u64 origin;                     /* from where those count, ns */

/* What a core has counted in a step of the trial. */
struct part {
	__u64 came;      /* first copies that were due in it */
	__u64 sum, high; /* of their one-way times, ns */
	__u64 arrived;   /* first copies that arrived in it */
};

/* What a core has counted. */
struct count {
	__u64 packets, bytes;       /* bytes count the FCS */
	__u64 payload;              /* bytes behind the UDP headers of first copies */
	__u64 first, last;          /* when packets came, ns */
	__u64 damaged;              /* came with a sum that is not theirs, and are counted nowhere else */
	__u64 early;                /* came before they were due: a clock that is not one */
	__u64 low, high, sum;       /* of the one-way times, ns; low is one more, so that 0 is none */
	__u64 tag;                  /* one-way time of the tagged frame, and one more; 0: it did not come */
	__s64 step_low, step_high;  /* of the differences between neighbours */
	__u64 latency[BUCKETS];
	__u64 up[BUCKETS], down[BUCKETS]; /* differences by sign */
	struct part parts[MOMENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct count);
} counts SEC(".maps");

/* A step over packets that had not come yet. */
struct gap {
	__u64 start;   /* the first of them */
	__u64 arrival; /* which packet made the step, by its place among those that came */
};

/* The order of a stream (RFC 4737): numbers are widened to 64 bits. */
struct order {
	struct bpf_spin_lock lock;
	__u32 begun;
	__u64 first;      /* the smallest number seen */
	__u64 next;       /* one more than the largest (NextExp) */
	__u64 arrivals;   /* first copies */
	__u64 duplicates;
	__u64 reordered;
	__u64 extent;     /* the largest (section 4.2) */
	__u64 unknown;    /* reordered, by an extent that is not remembered */
	__u64 stale;      /* too late to tell a first copy from a second */
	__u64 previous, previous_delay; /* the one that came before */
	__u32 flow;       /* that it was of */
	__u32 unused;
	__u64 came;       /* when the latest first copy did, ns */
	__u64 silence;    /* the longest time between two of them, ns */
	__u64 lost_base, lost;  /* the last 32 forgotten numbers of which some had not come, and which, by bit */
	__u64 gaps_seen;
	struct gap gaps[GAPS];
	__u64 words[WORDS]; /* lap of the window in the upper half, packets seen in the lower */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct order);
} orders SEC(".maps");

/* First copies by flow. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} flow_counts SEC(".maps");

__u64 strangers;

struct packet {
	__u32 sequence;
	__u64 due;
	__u64 sum; /* of all that checksums are of; 0xffff when it is folded */
	__u32 payload;
	int tagged;
};

/* The words of the header of IPv4, which has a checksum of its own; UDP goes without. */
static inline __u64 sum_ipv4(void *ip)
{
	__u32 *w = ip;

	return (__u64)w[0] + w[1] + w[2] + w[3] + w[4];
}

/* The words of the pseudo-header of IPv6 and of the header of UDP. What they add up to
 * with the payload is checked, of which all but the stamp is nothing, and the stamp adds
 * nothing. */
static inline __u64 sum_ipv6(void *ip)
{
	__u32 *w = ip, *udp = ip + IPV6;
	__u64 sum = (__u64)udp[0] + udp[1] + *(__u16 *)((void *)udp + 4) + network(17);

#pragma unroll
	for (int i = 2; i < 10; i++)
		sum += w[i];
	return sum;
}

static inline __u64 sum_stamp(void *stamp)
{
	__u32 *w = stamp;

	return (__u64)w[0] + w[1] + w[2] + w[3] + *(__u16 *)(stamp + STAMP_CHECK);
}

/* read a packet; 0 if it is a stranger's. */
static inline int parse(void *data, void *end, struct packet *p)
{
	void *ip = data + ETHERNET, *stamp;
	__u16 type;

	if (ip > end)
		return 0;
	type = *(__u16 *)(ip - 2);
	if (type == 0x0081 || type == 0xa888) { /* 802.1Q, 802.1ad */
		ip += VLAN_TAG;
		if (ip > end)
			return 0;
		type = *(__u16 *)(ip - 2);
	}
	if (type == 0x0008) {
		if (ip + IPV4 > end || *(__u8 *)ip != 0x45 || *(__u8 *)(ip + 9) != 17)
			return 0;
		stamp = ip + IPV4 + UDP;
	} else if (type == 0xdd86) {
		if (ip + IPV6 > end || *(__u8 *)(ip + 6) != 17)
			return 0;
		stamp = ip + IPV6 + UDP;
	} else
		return 0;
	if (stamp + STAMP_SIZE > end || *(__u32 *)(stamp + STAMP_SIGNATURE) != signature)
		return 0;
	p->sequence = *(__u32 *)(stamp + STAMP_SEQUENCE);
	p->due = *(__u32 *)(stamp + STAMP_DUE) | (__u64) * (__u16 *)(stamp + STAMP_DUE_HIGH) << 32;
	p->tagged = *(__u16 *)(stamp + STAMP_FLAGS) & STAMP_TAG;
	p->payload = network(*(__u16 *)(stamp - 4)) - UDP;
	p->sum = (type == 0x0008 ? sum_ipv4(ip) : sum_ipv6(ip)) + sum_stamp(stamp);
	return 1;
}

/* late_by looks up how many packets came between the one that stepped over this number
 * and now; 0 if that is no longer known. */
static inline __u64 late_by(struct order *o, __u64 number)
{
	__u64 seen = o->gaps_seen, low, high;

	low = seen > GAPS ? seen - GAPS : 0;
	high = seen;
	for (int i = 0; i <= GAP_BITS && low < high; i++) { /* the first gap behind the number */
		__u64 middle = (low + high) >> 1;

		if (o->gaps[middle & (GAPS - 1)].start > number)
			high = middle;
		else
			low = middle + 1;
	}
	if (high == 0 || seen - high >= GAPS)
		return 0;
	return o->arrivals - o->gaps[(high - 1) & (GAPS - 1)].arrival;
}

/* forget what a word of the window held a lap ago, but for the last numbers that had not
 * come by now. */
static inline void forget(struct order *o, __u64 number, __u64 had, __u64 lap)
{
	__u64 base = (number & ~31ULL) - ((__u64)WORDS << 5);
	__u32 missing = had >> 32 == lap - 1 ? ~(__u32)had : ~0U;

	if (base < 1ULL << 32 || !missing || base < o->lost_base)
		return;
	o->lost_base = base;
	o->lost = missing;
}

/* seen tells whether a packet came before, and remembers it: 0 new, 1 seen, 2 forgotten. */
static inline int seen(struct order *o, __u64 number)
{
	__u64 lap = (number >> (5 + WORD_BITS)) + 1;
	__u64 *word = &o->words[(number >> 5) & (WORDS - 1)], had = *word;
	__u64 bit = 1ULL << (number & 31);

	if (had >> 32 > lap)
		return 2;
	if (had >> 32 < lap) {
		forget(o, number, had, lap);
		had = lap << 32;
	}
	if (had & bit)
		return 1;
	*word = had | bit;
	return 0;
}

/* widen gives a number its upper bits, by the largest seen. Numbers begin at 2^32, so
 * that what comes after the first packet seen, and is numbered before it, has one too;
 * the first packet stepped over all of those. */
static inline __u64 widen(struct order *o, __u32 sequence)
{
	if (unlikely(!o->begun)) {
		o->begun = 1;
		o->first = o->next = (1ULL << 32) + sequence;
		o->gaps[0].start = o->gaps[0].arrival = 0;
		o->gaps_seen = 1;
	}
	return o->next + (__s64)(__s32)(sequence - (__u32)o->next);
}

enum { ADJACENT = 1, FIRST_COPY = 2 };

/* The flow after another: packets take them in turn, so that a number tells the flow. */
static inline __u32 after(__u32 flow) { return flow + 1 < flows ? flow + 1 : 0; }

/* heard notes that a first copy came. Cores may be a little behind each other. */
static inline void heard(struct order *o, __u64 now)
{
	if (unlikely(now <= o->came))
		return;
	if (o->came && now - o->came > o->silence)
		o->silence = now - o->came;
	o->came = now;
}

/* place a packet in the order of its stream. */
static inline int place(struct order *o, __u32 sequence, __u64 now, __u64 delay, __u64 *previous_delay, __u32 *flow)
{
	__u64 number = widen(o, sequence);
	int what = FIRST_COPY, before = seen(o, number);

	if (before) {
		if (before == 1)
			o->duplicates++;
		else
			o->stale++;
		return 0;
	}
	if (number < o->first)
		o->first = number;
	if (likely(number >= o->next)) {
		if (number > o->next) {
			struct gap *g = &o->gaps[o->gaps_seen++ & (GAPS - 1)];

			g->start = o->next;
			g->arrival = o->arrivals;
		}
		o->next = number + 1;
	} else {
		__u64 extent = late_by(o, number);

		o->reordered++;
		if (!extent)
			o->unknown++;
		if (extent > o->extent)
			o->extent = extent;
	}
	if (o->arrivals && number == o->previous + 1)
		what |= ADJACENT;
	if (flows > 1)
		*flow = o->flow = what & ADJACENT ? after(o->flow) : (number - (1ULL << 32)) % flows;
	heard(o, now);
	*previous_delay = o->previous_delay;
	o->previous = number;
	o->previous_delay = delay;
	o->arrivals++;
	return what;
}

static inline void add(__u64 *buckets, __u64 value)
{
	__u32 b = bucket(value);

	if (b < BUCKETS)
		buckets[b]++;
}

/* step counts the difference between neighbours (IPDV). */
static inline void step(struct count *c, __s64 difference)
{
	if (difference < c->step_low)
		c->step_low = difference;
	if (difference > c->step_high)
		c->step_high = difference;
	if (difference < 0)
		add(c->down, -difference);
	else
		add(c->up, difference);
}

/* part counts a first copy by step: by when it was due, and by when it came. */
static inline void part(struct count *c, __u64 due, __u64 now, __u64 delay)
{
	__u64 m = moment(due, origin, scale, unit);

	if (m < MOMENTS) {
		struct part *p = &c->parts[m];

		p->came++;
		p->sum += delay;
		if (delay > p->high)
			p->high = delay;
	}
	m = moment(now, origin, scale, unit);
	if (m < MOMENTS)
		c->parts[m].arrived++;
}

/* belongs counts a first copy by its flow. */
static inline void belongs(__u32 flow)
{
	__u64 *n = bpf_map_lookup_elem(&flow_counts, &flow);

	if (n && locked)
		__sync_fetch_and_add(n, 1);
	else if (n)
		++*n;
}

/* take counts a packet if it is one of ours. */
static inline int take(void *data, void *end, __u32 length)
{
	struct packet p;
	struct count *c;
	struct order *o;
	__u64 now, delay, before = 0;
	__u32 key, flow = 0;
	int what;

	if (!parse(data, end, &p))
		return 0;
	now = bpf_ktime_get_ns();
	key = bpf_get_smp_processor_id();
	c = bpf_map_lookup_elem(&counts, &key);
	if (!c)
		return 0;
	if (unlikely(binned && fold(p.sum) != 0xffff)) {
		c->damaged++;
		return 1;
	}
	c->packets++;
	c->bytes += length + 4;
	if (!c->first)
		c->first = now;
	c->last = now;
	if (!binned)
		return 1;
	key = 0;
	o = bpf_map_lookup_elem(&orders, &key);
	if (!o)
		return 0;
	delay = (now - p.due) & STAMP_CLOCK;
	if (delay >> 47) { /* less than nothing */
		c->early++;
		delay = 0;
	}
	if (locked)
		bpf_spin_lock(&o->lock);
	what = place(o, p.sequence, now, delay, &before, &flow);
	if (locked)
		bpf_spin_unlock(&o->lock);
	if (!(what & FIRST_COPY))
		return 1;
	if (flows > 1)
		belongs(flow);
	c->payload += p.payload;
	if (delay > c->high)
		c->high = delay;
	if (delay < c->low - 1)
		c->low = delay + 1;
	c->sum += delay;
	add(c->latency, delay);
	if (p.tagged)
		c->tag = delay + 1;
	if (scale)
		part(c, p.due, now, delay);
	if (what & ADJACENT)
		step(c, delay - before);
	return 1;
}

/* Packets may be in several parts (frags), as those of a large MTU are; the first holds the
 * headers. */
SEC("xdp.frags")
int sink(struct xdp_md *xdp)
{
	void *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;

	if (take(data, end, bpf_xdp_get_buff_len(xdp)))
		return XDP_DROP;
	strangers++;
	return XDP_PASS;
}

SEC("tcx/ingress")
int sink_skb(struct __sk_buff *skb)
{
	bpf_skb_pull_data(skb, ETHERNET + VLAN_TAG + IPV6 + UDP + STAMP_SIZE < skb->len ? ETHERNET + VLAN_TAG + IPV6 + UDP + STAMP_SIZE : skb->len);
	if (take((void *)(long)skb->data, (void *)(long)skb->data_end, skb->len))
		return TCX_DROP;
	strangers++;
	return TCX_NEXT;
}
