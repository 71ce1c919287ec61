// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on by the path that its flow is on, both ways. At the ports behind a
 * chain's ends, where flows begin, the first packet of one is held to rules, which say the path
 * (RFC 7665's classifier); it is remembered then, in a table that all of the chain's ports have
 * together. Ports between functions from which paths lead to different ones look there. A path may lead to a function
 * with replicas: one of them has the flow. Where ways part by marks, all of that is one path: what is on it goes on by
 * the program behind this one at the port. */
#include "../include/ended.h"
#include "../include/headed.h"
#include "../include/opens.h"
#include "../include/seats.h"
#include "../include/rules.h"

char licensed[] SEC("license") = "GPL";

enum { IN_ANY_CASE = 0 };

/* In the place of a port: what is on the path goes on by the program behind this one. */
#define BEHIND BY_DEVICE

/* Where a path leads from a port: the index of another, or replicas or the program behind this one in its place, 0 for
 * nowhere. Check tells paths apart
 * that have had the same number. Older is when, in s, the path ceased to be one that flows are given; 0 for
 * those that they are. */
struct way {
	__u32 port, check, older;
};

/* By the numbers of paths, from 1; 0 is where all flows go that are on none of these, at a port between functions that
 * has one way but for older paths. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PATHS);
	__type(key, __u32);
	__type(value, struct way);
} ways SEC(".maps");

/* Where packets of a path go instead while the next node fails: index of a port, replicas, or NOWHERE; 0 for
 * nowhere else. Who watches over the nodes writes it; ways are what the chain is to be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PATHS);
	__type(key, __u32);
	__type(value, struct way);
} detours SEC(".maps");

/* Where paths led whose numbers others have now, until no end gives them any more. Their detours stay, unless others come in their place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PATHS);
	__type(key, __u32);
	__type(value, struct way);
} former SEC(".maps");

/* A flow's path, the rule that gave it, of which generation of rules, and when a packet was last
 * seen, in ns of a clock with steps of a few milliseconds: so that cores which share a flow seldom
 * write. */
struct member {
	__u64 seen;
	__u32 path, check, rule, generation;
};

/* The loader gives the size. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct member);
} members SEC(".maps");

/* What became of packets whose flow was on no path that leads on. */
struct became {
	__u64 fresh;   /* it was not known, and is from then on */
	__u64 moved;   /* its path is gone: it is on another from then on */
	__u64 unkept;  /* there was no room for it */
	__u64 unknown; /* between functions: on the way that the port has for such */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct became);
} became SEC(".maps");

/* Which area of the memory has the rules that count: the first entry. Others are written into an area that nobody reads,
 * and then this. What is behind it is for those who write; the loader gives the size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} current SEC(".maps");

/* Bytes of an area; the loader gives it. */
const volatile __u32 rules_area = 0;

/* Begins the rules; places are counted in bytes from here. */
struct choice {
	__u32 table;      /* in which the first rule that matches is found, as rules.h says */
	__u32 rows;       /* that it has */
	__u32 targets;    /* of each row, and behind them of what matches none */
	__u32 codes;      /* 64 numbers of 16 bits, by code point of differentiated services */
	__u32 tags;       /* 4096 such numbers, by VLAN */
	__u32 untagged;   /* the number of what has no tag */
	__u32 sides[2];   /* the number by the end that the flow comes from; the three together tell kinds of packets apart */
	__u32 first;      /* of the counters */
	__u32 generation; /* of the rules; never 0 */
	__u64 idle;       /* ns after which a flow of earlier rules is over */
};

struct target {
	__u32 path, check; /* path 0: packets end here */
	__u32 rule;        /* its counter, from 1 */
	__u32 unused;
};

/* Counters of rules: first those of flows that earlier rules gave their path. */
struct tally {
	__u64 packets, bytes;
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

/* Which end flows come from at the port: 0 the first, 1 the second. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} side SEC(".maps");

/* What a port between functions does with flows that no path leads on from there: they go the usual
 * way, and where flows begin says what path they are on. A function that translates addresses makes
 * flows that nobody knows: behind it all are on the usual path. One with a program of its own may open
 * some. Packets without a flow go the other path, if it leads on. */
struct habit {
	__u32 usual, check, learns, opens;
	__u32 other, other_check;
	__u32 headed, unused; /* the function before says by its frames which path they are on */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct habit);
} habit SEC(".maps");

/* on to a port, or to one of the replicas in its place; or to the program behind this one, which counts what comes to it. A function of its
 * own is verified once, whichever way leads there. */
__attribute__((noinline)) int on(struct __sk_buff *skb, __u32 port, __u32 path, struct flow *f)
{
	if (!f)
		return TCX_DROP;
	if (port == BEHIND)
		return TCX_NEXT;
	if (skb->tc_index) /* no label is to be taken for one of a node's behind it */
		skb->tc_index = 0;
	count(skb);
	if (unlikely(is_shared(port))) {
		struct flow own = *f; /* what is a caller's is no key to Linux 6.1 */

		port = replica_of(AMONG - port, &own);
	}
	if (unlikely(port & BY_DEVICE) && port != NOWHERE && name(skb, path))
		return TCX_DROP;
	return onward_or_end(skb, port);
}

static __attribute__((noinline)) __u32 formerly(__u32 path, __u32 check)
{
	struct way *w = bpf_map_lookup_elem(&former, &path);

	return w && w->check == check ? w->port : 0;
}

static inline __u32 port_of(__u32 path, __u32 check)
{
	struct way *w = bpf_map_lookup_elem(&ways, &path), *d = bpf_map_lookup_elem(&detours, &path);
	__u32 port, other;

	if (!w || !d)
		return 0;
	port = likely(w->check == check) ? w->port : formerly(path, check);
	if (!port)
		return 0;
	other = *(volatile __u32 *)&d->port; /* once: it may change meanwhile */
	return unlikely(other && d->check == check) ? other : port;
}

static inline void tally(const struct choice *c, __u32 rule, struct __sk_buff *skb)
{
	__u32 at = c->first + rule;
	struct tally *t = bpf_map_lookup_elem(&tallies, &at);

	if (!t)
		return;
	t->packets++;
	t->bytes += skb->len;
}

/* kind_of a packet: what rules may ask of it besides addresses, ports and protocol, as one number. */
static inline __u32 kind_of(struct __sk_buff *skb, const struct packet *p, const struct choice *c, __u32 base, __u32 from)
{
	__u16 *code = rules_at((__u64)base + c->codes + 2 * (p->came >> 2)), *tag;
	__u32 kind = c->sides[from & 1];

	if (code)
		kind += *code;
	if (!skb->vlan_present)
		return kind + c->untagged;
	tag = rules_at((__u64)base + c->tags + 2 * (skb->vlan_tci & 0xfff));
	return tag ? kind + *tag : kind;
}

static inline __u64 two(__u32 high, __u32 low) { return (__u64)__builtin_bswap32(high) << 32 | __builtin_bswap32(low); }

/* choose the row of the first rule that a flow matches. */
rules_own __s32 choose(const struct flow *f, __u32 base, __u32 kind)
{
	struct choice *c = rules_at(base);
	struct rules_packet r = {};

	if (!f || !c)
		return RULES_BROKEN;
	r.protocol = f->protocol;
	r.six = f->version == 6;
	r.source_port = r.destination_port = -1;
	if (f->ports[0] | f->ports[1]) {
		r.source_port = network(f->ports[0]);
		r.destination_port = network(f->ports[1]);
	}
	if (r.six) {
		r.source[0] = two(f->source[0], f->source[1]);
		r.source[1] = two(f->source[2], f->source[3]);
		r.destination[0] = two(f->destination[0], f->destination[1]);
		r.destination[1] = two(f->destination[2], f->destination[3]);
	} else {
		r.source[1] = __builtin_bswap32(f->source[0]);
		r.destination[1] = __builtin_bswap32(f->destination[0]);
	}
	return rules_row(&r, base + c->table, (kind * 2 + r.six) << 8 | r.protocol);
}

static inline struct target *target_of(const struct choice *c, __u32 base, __s32 row)
{
	return row < 0 ? 0 : rules_at((__u64)base + c->targets + sizeof(struct target) * (__u64)(__u32)row);
}

/* begin a flow, or let it go on, on the path of a target, and tell the port that this leads to. Of one that is known, over
 * tells that it had ended. */
static inline __u32 begin(const struct flow *f, const struct target *t, struct member *m, const struct member *known, int over, struct became *b)
{
	__u32 port;

	if (!t->path)
		return 0;
	if (known && over)
		b->fresh++;
	else if (known)
		b->moved++;
	m->path = t->path;
	m->check = t->check;
	m->rule = t->rule;
	if (known)
		bpf_map_update_elem(&members, f, m, IN_ANY_CASE);
	else if (!bpf_map_update_elem(&members, f, m, IF_ABSENT))
		b->fresh++;
	else {
		known = bpf_map_lookup_elem(&members, f); /* a packet on another core may have been faster */
		port = known ? port_of(known->path, known->check) : 0;
		if (port) {
			m->path = known->path;
			return port;
		}
		b->unkept++;
	}
	return port_of(m->path, m->check);
}

SEC("tc")
int enter(struct __sk_buff *skb)
{
	__u32 first = 0, base, port, from, *at = bpf_map_lookup_elem(&current, &first), *end = bpf_map_lookup_elem(&side, &first);
	struct became *b = bpf_map_lookup_elem(&became, &first);
	struct member *known, fresh = {};
	struct choice *c;
	struct target *t;
	struct packet p;
	struct flow f, both;
	int over = 0;
	__s32 row;

	if (!at || !end || !b) /* there always are */
		return TCX_DROP;
	from = *end;
	base = *(volatile __u32 *)at * rules_area; /* once: it may change meanwhile */
	c = rules_at(base);
	if (!c)
		return TCX_DROP;
	if (unlikely(read_packet(skb, &p) != READ_IP)) { /* all that has no flow goes one way */
		t = target_of(c, base, c->rows);
		if (!t)
			return TCX_DROP;
		tally(c, t->rule, skb);
		__builtin_memset(&both, 0, sizeof(both));
		fresh.path = t->path;
		port = port_of(t->path, t->check);
		goto found;
	}
	if (unlikely(read_conversation(skb, &p, &f)))
		from = !from;
	both = f;
	order(&both);
	fresh.seen = bpf_ktime_get_coarse_ns();
	fresh.generation = c->generation;
	known = bpf_map_lookup_elem(&members, &both);
	if (likely(known)) {
		int same = known->generation == c->generation;

		if (likely(same || (__s64)(fresh.seen - known->seen) <= (__s64)c->idle)) {
			port = port_of(known->path, known->check);
			if (likely(port)) {
				if (known->seen != fresh.seen)
					known->seen = fresh.seen;
				tally(c, same ? known->rule : 0, skb);
				fresh.path = known->path;
				goto found;
			}
		} else
			over = 1;
	}
	row = choose(&f, base, kind_of(skb, &p, c, base, from));
	if (row == (__s32)c->rows && opens(skb, &p) != OPENS) { /* no rule has it; one may as an answer, to what was forgotten or not seen */
		turn_round(&f);
		row = choose(&f, base, kind_of(skb, &p, c, base, !from));
	}
	t = target_of(c, base, row);
	if (!t)
		return TCX_DROP;
	tally(c, t->rule, skb);
	port = begin(&both, t, &fresh, known, over, b);
found:
	return on(skb, port, fresh.path, &both);
}

/* told is the number of the path that a frame came back on from the function before, by its header; 0 if it came without. */
static inline __u32 told(struct __sk_buff *skb)
{
	struct told *t = (void *)(long)((struct skb_whole *)skb)->data_meta;

	if ((void *)(t + 1) > (void *)(long)skb->data || t->mark != TOLD_MARK)
		return 0;
	return t->number & (PATHS - 1);
}

/* way_of a path, if it leads on from here. */
static inline struct way *way_of(__u32 path)
{
	struct way *w = path ? bpf_map_lookup_elem(&ways, &path) : 0;

	return w && w->port ? w : 0;
}

SEC("tc")
int between(struct __sk_buff *skb)
{
	__u32 first = 0, port, path, check, number = 0;
	struct became *b = bpf_map_lookup_elem(&became, &first);
	struct habit *h = bpf_map_lookup_elem(&habit, &first);
	struct member *known, fresh = {};
	struct way *named = 0;
	struct packet p;
	struct flow f;

	if (!b || !h) /* there always are */
		return TCX_DROP;
	path = h->usual;
	check = h->check;
	if (h->headed) { /* before anything is moved in the packet */
		number = told(skb);
		named = way_of(number);
	}
	if (named) { /* what the header says counts, whatever the function made of the packet */
		path = number;
		check = named->check;
	}
	if (unlikely(read_packet(skb, &p) != READ_IP)) {
		__builtin_memset(&f, 0, sizeof(f));
		port = h->other && !named ? port_of(h->other, h->other_check) : 0;
		if (port)
			path = h->other;
		else
			port = port_of(path, check);
		goto found;
	}
	read_conversation(skb, &p, &f);
	order(&f);
	fresh.seen = bpf_ktime_get_coarse_ns();
	known = bpf_map_lookup_elem(&members, &f);
	if (likely(known)) {
		port = port_of(known->path, known->check);
		if (likely(port)) {
			if (known->seen != fresh.seen)
				known->seen = fresh.seen;
			if (!named || known->path == number) /* which may be a former path of that number */
				path = known->path;
			else
				port = port_of(path, check);
			goto found;
		}
	}
	fresh.path = path;
	fresh.check = check;
	port = port_of(path, check);
	if (unlikely(of_one_link(&f))) /* a function's own */
		goto found;
	if (!h->learns && (known || !h->opens || opens(skb, &p) == GOES_ON)) { /* it was under way when rules came or its path went, or came by another one */
		b->unknown += !named;
		goto found;
	}
	if (bpf_map_update_elem(&members, &f, &fresh, known ? IN_ANY_CASE : IF_ABSENT))
		b->unkept++;
	else if (known)
		b->moved++;
	else if (h->learns || named)
		b->fresh++;
	else
		b->unknown++;
found:
	return on(skb, port, path, &f);
}
