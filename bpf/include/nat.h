/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Translation of addresses and ports (RFC 2663's NAPT), a part of pass.h.
 *
 * Every connection has two entries, one for each way that its packets go: as what they come,
 * and as what they go on. A rule is asked once a connection, by the packet that opens it.
 * Connections that no rule is for are known too: an answer is to be told from what opens one.
 * Both passes of a hop use the same table. It has as many entries as the loader says; those
 * not used for longest make room for new ones. */
#ifndef NFCHAIN_NAT_H
#define NFCHAIN_NAT_H

#include "nat_phase.h"
#include "nat_write.h"

enum {
	NAT_RULES = 8,  /* of a step, at most */
	NAT_TRIES = 16, /* for a port that no other connection has */
};

enum { NAT_DESTINATION, NAT_SOURCE };     /* of a rule's kind */
enum { NAT_BY_TURNS, NAT_BY_HASH };       /* how a rule's targets are shared out */

/* How long a connection is known without packets: of TCP RFC 5382 REQ-5, one that is established and one that nobody has
 * answered yet or that was closed; of ICMP's questions RFC 5508 REQ-2, of others RFC 4787 REQ-5; each and the second that the
 * last packet may have come after it was noted. Fragments are known for as long as Linux waits for all of them. */
#define NAT_SECOND 1000000000ULL
#define NAT_KEEPS_TCP (7441 * NAT_SECOND)
#define NAT_KEEPS_TRANSITORY (241 * NAT_SECOND)
#define NAT_KEEPS_ECHO (61 * NAT_SECOND)
#define NAT_KEEPS_OTHER (301 * NAT_SECOND)
#define NAT_KEEPS_PART (30 * NAT_SECOND)

/* An entry: as what packets of a flow go on. */
struct nat_flow {
	__u64 last; /* when one was seen, in ns, to a second */
	struct flow becomes;
	__u32 here; /* the pass that packets of it came to last, as its step has it, and the phase of TCP: see nat_phase.h */
};

struct {
	__uint(type, MAP_FLOWS);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct nat_flow);
} nat_flows SEC(".maps");

/* What first fragments became, by the number of their packet, which stands where a flow has its ports. */
struct {
	__uint(type, MAP_FLOWS);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct nat_flow);
} nat_parts SEC(".maps");

/* Where packets are taken that are sent to an address, or which one they are to come from. */
struct nat_rule {
	__u64 turn;                    /* connections so far */
	__u8 version, protocol, kind, by; /* protocol 0: any */
	__u16 first, last;             /* ports that packets are sent to, in the host's order; last 0: any */
	__u16 port, unused;            /* that this becomes, as in the packet; 0: it stays */
	__u32 ring, length;            /* part of the ring that has its targets */
	__u32 address[4];              /* that packets are sent to */
	__u32 fill;
};

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nat_rule);
} nat_rules SEC(".maps");

/* Targets of rules, in the order in which they are taken, and as often as they weigh. */
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} nat_ring SEC(".maps");

struct nat_target {
	__u32 address[4];
	__u64 taken; /* connections */
};

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nat_target);
} nat_targets SEC(".maps");

/* How many entries were made. */
struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} nat_made SEC(".maps");

/* What a core works with, which is too much for a stack. */
struct nat_work {
	struct nat_packet outer, inner;
	struct flow becomes, key;
	struct nat_flow entry;
	__u32 here, unused;
};

struct {
	__uint(type, MAP_COUNTS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nat_work);
} nat_works SEC(".maps");

static inline int nat_idle(const struct nat_flow *e, const struct flow *f, __u64 now)
{
	__u64 keeps = f->echo ? NAT_KEEPS_ECHO : NAT_KEEPS_OTHER;

	if (f->protocol == TCP_PROTOCOL)
		keeps = nat_lasts(nat_phase(e->here)) ? NAT_KEEPS_TCP : NAT_KEEPS_TRANSITORY;
	return (__s64)(now - e->last) > (__s64)keeps;
}

/* nat_past tells of a connection that it is one no longer for a packet: that opens it anew where both ends had closed it. */
static inline int nat_past(const struct nat_flow *e, const struct nat_packet *x, __u64 now)
{
	return nat_idle(e, &x->flow, now) || (nat_asks(x) && nat_phase(e->here) == NAT_OVER);
}

/* nat_hash is of the address and the port that a flow comes from, and if all is of interest, of the rest. */
static inline __u64 nat_hash(const struct flow *f, int all)
{
	__u64 h = mix((__u64)f->source[0] << 32 | f->source[1]);

	h = mix(h ^ ((__u64)f->source[2] << 32 | f->source[3]));
	h = mix(h ^ f->ports[0]);
	if (!all)
		return h;
	h = mix(h ^ ((__u64)f->destination[0] << 32 | f->destination[1]));
	h = mix(h ^ ((__u64)f->destination[2] << 32 | f->destination[3]));
	return mix(h ^ ((__u64)f->protocol << 16 | f->ports[1]));
}

/* nat_port draws one in the place of another: a well-known one for such a one (RFC 4787 REQ-3). */
static inline __u16 nat_port(const struct flow *f, __u64 drawn)
{
	__u16 port = network(f->ports[0]);

	if (f->echo)
		return network(drawn & 0xffff);
	if (port < 512)
		return network(1 + drawn % 511);
	if (port < 1024)
		return network(600 + drawn % 424);
	return network(1024 + drawn % 64512);
}

/* nat_for tells whether a rule is for a flow. */
static inline int nat_for(const struct nat_rule *r, const struct flow *f)
{
	__u16 port = network(f->ports[1]);

	if (r->version != f->version)
		return 0;
	if (r->kind == NAT_SOURCE)
		return 1;
	if (r->protocol && r->protocol != f->protocol)
		return 0;
	if (r->last && (!nat_ported(f) || port < r->first || port > r->last))
		return 0;
	return nat_same_address(r->address, f->destination);
}

/* nat_pick gives the target of a rule for a flow: none where the rule has none. */
static inline struct nat_target *nat_pick(struct nat_rule *r, const struct flow *f)
{
	__u64 pick = 0;
	__u32 place, *number;

	if (r->length > 1)
		pick = (r->by == NAT_BY_HASH ? nat_hash(f, 0) : __sync_fetch_and_add(&r->turn, 1)) % r->length;
	place = r->ring + pick;
	number = bpf_map_lookup_elem(&nat_ring, &place);
	if (!number)
		return 0;
	place = *number;
	return bpf_map_lookup_elem(&nat_targets, &place);
}

/* nat_apply has a rule say what a connection becomes, unless one of its kind did; said is which did. */
static __attribute__((noinline)) int nat_apply(struct nat_work *w, __u32 number, __u32 said)
{
	struct nat_rule *r = bpf_map_lookup_elem(&nat_rules, &number);
	struct nat_target *t;
	__u32 *to;

	if (!r || said & (r->kind == NAT_SOURCE ? 2 : 1) || !nat_for(r, &w->outer.flow))
		return 0;
	t = nat_pick(r, &w->outer.flow);
	if (!t)
		return 0;
	to = r->kind == NAT_SOURCE ? w->becomes.source : w->becomes.destination;
#pragma unroll
	for (int i = 0; i < 4; i++)
		to[i] = t->address[i];
	if (r->kind == NAT_DESTINATION && r->port)
		w->becomes.ports[1] = r->port;
	__sync_fetch_and_add(&t->taken, 1);
	return r->kind == NAT_SOURCE ? 2 : 1;
}

/* nat_own tells whether an address is one that connections are given as their source. */
static __attribute__((noinline)) int nat_own(const struct nat_work *w, __u32 number)
{
	struct nat_rule *r = bpf_map_lookup_elem(&nat_rules, &number);
	struct nat_target *t;
	__u32 *target;
	__u32 place;

	if (!r || r->kind != NAT_SOURCE || r->version != w->outer.flow.version)
		return 0;
	place = r->ring;
	target = bpf_map_lookup_elem(&nat_ring, &place);
	if (!target)
		return 0;
	place = *target;
	t = bpf_map_lookup_elem(&nat_targets, &place);
	return t && nat_same_address(t->address, w->outer.flow.destination);
}

/* nat_opens tells whether packets of this way open connections that are translated. */
static inline int nat_opens(__u32 i) { return steps[i].nat.here & 1; }

/* nat_stray is what becomes of a packet that is of no connection and cannot open one: it is dropped if it is
 * to an address that only connections give a meaning. */
static inline int nat_stray(const struct nat_work *w, __u32 i)
{
	if (nat_opens(i))
		return NAT_LEFT;
	for (__u32 n = 0; n < NAT_RULES && n < steps[i].nat.rules; n++)
		if (nat_own(w, steps[i].nat.first + n))
			return NAT_STRAY;
	return NAT_LEFT;
}

static inline void nat_count(void)
{
	__u32 first = 0;
	__u64 *made = bpf_map_lookup_elem(&nat_made, &first);

	if (made)
		++*made;
}

/* nat_claim makes the entries of a connection: as what it is to go on if answers to that are nobody else's,
 * and else with another port. Answers that are this connection's already, from another core or from before
 * its own entry had to make room, are as good as new. */
static __attribute__((noinline)) int nat_claim(struct nat_work *w, __u64 now)
{
	const struct flow *f = &w->outer.flow;
	__u32 phase = f->protocol == TCP_PROTOCOL ? NAT_ASKING : NAT_OPEN;
	__u64 hash = nat_hash(f, 1);
	struct nat_flow *other;

	nat_answer(&w->entry.becomes, f);
	w->entry.last = now;
	w->entry.here = nat_in(0, nat_other(phase));
	for (__u32 n = 0; n < NAT_TRIES; n++) {
		nat_answer(&w->key, &w->becomes);
		if (!update(&nat_flows, &w->key, &w->entry, IF_ABSENT)) {
			nat_count();
			goto claimed;
		}
		other = bpf_map_lookup_elem(&nat_flows, &w->key);
		if (other && (nat_same(&other->becomes, &w->entry.becomes) || nat_idle(other, f, now))) {
			update(&nat_flows, &w->key, &w->entry, 0);
			goto claimed;
		}
		if (!nat_ported(f) && !f->echo)
			return 0;
		w->becomes.ports[0] = nat_port(f, mix(hash + n));
	}
	return 0;
claimed:
	w->entry.becomes = w->becomes;
	w->entry.here = nat_in(w->here, phase);
	if (!update(&nat_flows, f, &w->entry, IF_ABSENT)) {
		nat_count();
		return 1;
	}
	other = bpf_map_lookup_elem(&nat_flows, f);
	if (other && !nat_past(other, &w->outer, now))
		w->becomes = other->becomes; /* another core was faster */
	else
		update(&nat_flows, f, &w->entry, 0);
	return 1;
}

/* nat_elsewhere tells of a packet that another pass of the same way made it what it is. While a chain is
 * changed, packets may come by two that have this NAT. */
static __attribute__((noinline)) int nat_elsewhere(struct nat_work *w, __u64 now)
{
	struct nat_flow *e;

	nat_answer(&w->key, &w->outer.flow);
	e = bpf_map_lookup_elem(&nat_flows, &w->key);
	if (!e || nat_idle(e, &w->key, now))
		return 0;
	nat_answer(&w->key, &e->becomes);
	e = bpf_map_lookup_elem(&nat_flows, &w->key);
	if (!e || nat_past(e, &w->outer, now) || !nat_same(&e->becomes, &w->outer.flow))
		return 0;
	return e->here & (NAT_CAME | NAT_EARLIER) && (e->here ^ w->here) & NAT_PLACE && !((e->here ^ w->here) & 1);
}

/* nat_open makes the connection that a packet opens; what it becomes is in w. */
static inline int nat_open(struct nat_work *w, __u32 i, __u64 now)
{
	__u32 said = 0;

	w->becomes = w->outer.flow;
	if (nat_elsewhere(w, now))
		return NAT_DONE;
	if (w->outer.flow.echo == NAT_ANSWERS)
		return nat_opens(i) ? NAT_STRAY : nat_stray(w, i);
	if (!nat_opens(i) && nat_stray(w, i) == NAT_STRAY)
		return NAT_STRAY;
	if (nat_opens(i))
		for (__u32 n = 0; n < NAT_RULES && n < steps[i].nat.rules; n++)
			said |= nat_apply(w, steps[i].nat.first + n, said);
	return nat_claim(w, now) ? NAT_DONE : NAT_FULL;
}

/* nat_seen keeps a connection of which a packet came: once a second, which is enough, and where that has brought it to
 * another phase, which the other entry is told too. If that says meanwhile that the other end has sent all as well, of which
 * another core had the packet, then both have. Where the entry for answers had to make room, because none came, it is
 * made again. */
static __attribute__((noinline)) void nat_seen(struct nat_work *w, struct nat_flow *e, __u64 now)
{
	__u32 was = e->here, phase = nat_phase(was), before = phase, its;
	struct nat_flow *other;
	int turns;

	if (w->outer.flow.protocol == TCP_PROTOCOL)
		phase = nat_then(phase, &w->outer);
	turns = phase != before || was & NAT_EARLIER; /* the other entry may have what an earlier version did not see end */
	w->entry.here = nat_in(w->here, phase);
	if (was != w->entry.here)
		e->here = w->entry.here;
	if (!turns && (__s64)(now - e->last) < (__s64)NAT_SECOND)
		return;
	e->last = now;
	nat_answer(&w->key, &w->becomes);
	nat_answer(&w->entry.becomes, &w->outer.flow);
	w->entry.last = now;
	w->entry.here = nat_in(0, nat_other(phase));
	other = bpf_map_lookup_elem(&nat_flows, &w->key);
	if (other && nat_same(&other->becomes, &w->entry.becomes)) {
		other->last = now;
		if (!turns)
			return;
		its = nat_phase(other->here);
		if (phase == NAT_ENDS && phase != before && (its == NAT_ENDS || its == NAT_OVER)) {
			phase = NAT_OVER;
			e->here = nat_in(w->here, phase);
		}
		other->here = nat_in(other->here, nat_other(phase));
	} else if (!other && !update(&nat_flows, &w->key, &w->entry, IF_ABSENT))
		nat_count();
}

/* nat_part finds what the fragments of a packet become, which the first one says. */
static inline int nat_part(struct nat_work *w, __u64 now)
{
	struct nat_packet *x = &w->outer;
	struct nat_flow *e;

	w->key = x->flow;
	w->key.protocol = w->key.echo = 0;
	w->key.ports[0] = x->id;
	w->key.ports[1] = x->id >> 16;
	if (x->part == NAT_FIRST) {
		w->entry.becomes = w->becomes;
		w->entry.last = now;
		w->entry.here = 0;
		update(&nat_parts, &w->key, &w->entry, 0); /* of one that finds no room the others are strays */
		return NAT_DONE;
	}
	e = bpf_map_lookup_elem(&nat_parts, &w->key);
	if (!e || (__s64)(now - e->last) > (__s64)NAT_KEEPS_PART)
		return NAT_STRAY;
	w->becomes = e->becomes;
	w->becomes.ports[0] = w->becomes.ports[1] = 0; /* they are in the first */
	return NAT_DONE;
}

/* nat_find finds what a packet becomes. */
static inline int nat_find(struct nat_work *w, __u32 i, __u64 now)
{
	struct nat_packet *x = &w->outer;
	struct nat_flow *e;
	int what;

	if (x->part == NAT_LATER)
		return nat_part(w, now);
	e = bpf_map_lookup_elem(&nat_flows, &x->flow);
	if (e && !nat_past(e, x, now)) {
		w->becomes = e->becomes;
		nat_seen(w, e, now);
	} else {
		what = nat_open(w, i, now);
		if (what != NAT_DONE)
			return what;
	}
	return x->part == NAT_FIRST ? nat_part(w, now) : NAT_DONE;
}

#include "nat_error.h"

/* nat_take translates a packet. It is verified once, whatever the steps; else the verifier would follow every
 * way through the steps behind it for each way through it. */
__attribute__((noinline)) int nat_take(struct __sk_buff *skb, __u32 i, __u32 at, __u64 now)
{
	__u32 first = 0, slot;
	struct nat_work *w = bpf_map_lookup_elem(&nat_works, &first);
	struct memory *m;
	int what;

	if (i >= STEPS || !w)
		return NAT_STRAY;
	slot = steps[i].slot;
	w->here = steps[i].nat.here;
	what = nat_read(skb, &w->outer, at);
	w->outer.flow.slot = steps[i].nat.whose;
	if (what == NAT_OTHER || (what != NAT_CUT && nat_of_link(&w->outer.flow)))
		return NAT_LEFT;
	if (what == NAT_CUT || w->outer.cut)
		what = NAT_STRAY;
	else if (what == NAT_ERROR || what == NAT_REDIRECT)
		what = nat_error(skb, w, i, what == NAT_REDIRECT, now);
	else {
		what = nat_find(w, i, now);
		if (what == NAT_DONE)
			what = nat_write(skb, &w->outer, &w->becomes);
	}
	m = bpf_map_lookup_elem(&memories, &slot);
	if (what == NAT_STRAY && m)
		__sync_fetch_and_add(&m->lost, 1);
	else if (what == NAT_FULL && m)
		__sync_fetch_and_add(&m->full, 1);
	return what == NAT_FULL ? NAT_STRAY : what;
}

/* translated is nat_take for a step: what steps behind it know of the packet is what it has become. */
static __attribute__((noinline)) int translated(struct __sk_buff *skb, __u32 i, struct packet *p, struct flow *f, __u64 now)
{
	__u16 sum = 0;
	int what;

	if (!p || !f)
		return NAT_STRAY;
	what = nat_take(skb, i, p->at, now);
	if (what != NAT_DONE)
		return what;
	if (p->version == 4 && !bpf_skb_load_bytes(skb, p->at + 10, &sum, 2))
		p->sum = sum;
	if (needs & NEEDS_FLOW)
		read_flow(skb, p, f);
	return what;
}

#endif
