/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Connections, for rules that ask for their state, and what the rules said about each, so that they are
 * asked once. The states are those of netfilter (nf_conntrack), which takes a connection as established when
 * packets were seen both ways, and one that it did not see begin as new. Of TCP, flags are looked at and
 * sequence numbers are not, as where nf_conntrack_tcp_be_liberal is set; SCTP is a protocol like any other. */
#ifndef NFCHAIN_FLOWS_H
#define NFCHAIN_FLOWS_H

#include "rules.h"

/* A connection, whichever way its packets go: the lower end is first. */
struct rules_connection {
	__u64 ends[2][2];
	__u16 ports[2];
	__u8 protocol, kind; /* kind: 1 of IPv6, 2 and 4 where there is no port */
	__u16 unused;
	__u32 whose; /* whose rules */
	__u32 id;	 /* of an echo, with which end asks and what */
};

struct rules_flow {
	__u64 last;			/* when a packet was last seen, in ns */
	__u64 answers[4];	/* of new and established packets, by direction; 0: not asked */
	__u8 open;			/* a packet that began it was accepted */
	__u8 opener, replied; /* the direction of that one, and whether one came the other way */
	__u8 seen;			/* of TCP, see SEEN_RESET */
	__u32 unused;
};

/* Those used last are kept; the loader gives the size. */
struct {
	__uint(type, 9);
	__uint(max_entries, 1);
	__type(key, struct rules_connection);
	__type(value, struct rules_flow);
} rules_flows SEC(".maps");

struct rules_tally {
	__u64 made, asked; /* flows that were entered in the table, packets about which rules were asked */
};

struct {
	__uint(type, 6);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rules_tally);
} rules_tallies SEC(".maps");

static long (*rules_enter)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;

enum { RULES_IF_ABSENT = 1 };

/* Answers carry which generation of the rules gave them: its lower bits, as many as there is room for. */
enum { RULES_ANSWER_BITS = 20, RULES_ANSWER = (1 << RULES_ANSWER_BITS) - 1 };

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16, TCP_URG = 32 };

/* What was seen of a TCP connection. */
enum {
	SEEN_FINISHED = 3, /* FIN from the lower end, 1, and from the higher, 2 */
	SEEN_RESET = 4,
	SEEN_REFUSED = 8, /* reset before it was answered: it is no more */
	SEEN_SYN = 16,	  /* as the first packet */
	SEEN_CROSSED = 32, /* SYN from both ends at the same time (RFC 9293 section 3.5) */
};

#define FLAGS(set) (1ULL << (set))

/* Combinations of flags, without PSH, that a TCP sends. */
static const __u64 rules_flags = FLAGS(TCP_SYN) | FLAGS(TCP_SYN | TCP_URG) | FLAGS(TCP_SYN | TCP_ACK) | FLAGS(TCP_RST) |
	FLAGS(TCP_RST | TCP_ACK) | FLAGS(TCP_FIN | TCP_ACK) | FLAGS(TCP_FIN | TCP_ACK | TCP_URG) | FLAGS(TCP_ACK) |
	FLAGS(TCP_ACK | TCP_URG);

enum { RULES_ICMP = 1, RULES_TCP = 6, RULES_UDP = 17, RULES_ICMPV6 = 58, RULES_SCTP = 132 };

/* rules_begins tells whether a packet can begin a connection. */
static inline int rules_begins(const struct rules_packet *p)
{
	__u8 flags = p->what & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN);

	switch (p->protocol) {
	case RULES_TCP: /* one that began before it was seen here, too */
		return flags == TCP_SYN || flags == TCP_ACK;
	case RULES_ICMP: /* echo, timestamp, information, address mask: requests */
		return p->what == 8 || p->what == 13 || p->what == 15 || p->what == 17;
	case RULES_ICMPV6: /* echo, node information: requests */
		return p->what == 128 || p->what == 139;
	}
	return 1;
}

/* rules_asks tells an exchange of ICMP apart from others of the same number: by what is asked, and by which
 * end. Types of answers are those of the questions with another last bit, but for IPv4's echo. */
static inline __u32 rules_asks(const struct rules_packet *p, __u8 from)
{
	__u32 what = p->what;

	if (p->protocol == RULES_ICMP && p->six == 0)
		what = what == 0 ? 8 : what & 1 || what == 8 ? what : what - 1;
	else if (p->protocol == RULES_ICMPV6 && p->six)
		what = what == 129 ? 128 : what == 140 ? 139 : what;
	else
		return p->id;
	return p->id | what << 16 | (__u32)(what == p->what ? from : !from) << 24;
}

#define SECONDS 1000000000ULL

/* rules_keeps is how long a connection stays without packets: as nf_conntrack does unless told. */
static inline __u64 rules_keeps(const struct rules_packet *p, const struct rules_flow *f)
{
	switch (p->protocol) {
	case RULES_TCP:
		if (f->seen & SEEN_RESET)
			return 10 * SECONDS;
		return f->seen & SEEN_FINISHED || !f->replied ? 120 * SECONDS : 432000 * SECONDS;
	case RULES_ICMP:
	case RULES_ICMPV6:
		return 30 * SECONDS;
	case RULES_UDP:
		return f->replied ? 120 * SECONDS : 30 * SECONDS;
	}
	return 600 * SECONDS;
}

/* rules_opens tells whether a packet asks for a TCP connection. */
static inline int rules_opens(const struct rules_packet *p)
{
	return p->protocol == RULES_TCP && (p->what & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

/* rules_over tells whether a connection is one no longer, or was none. Both ends may open it again when it
 * was ended, and the one that opened it also when it was reset. */
static inline int rules_over(const struct rules_packet *p, const struct rules_flow *f, __u8 direction, __u64 now)
{
	if (!f->open || f->seen & SEEN_REFUSED || (__s64)(now - f->last) > (__s64)rules_keeps(p, f))
		return 1;
	if (!rules_opens(p))
		return 0;
	return f->seen & SEEN_RESET ? f->opener == direction : (f->seen & SEEN_FINISHED) == SEEN_FINISHED;
}

/* rules_cut tells whether the ports are missing that a packet should have. */
static inline int rules_cut(const struct rules_packet *p)
{
	int has = p->protocol == RULES_TCP || p->protocol == RULES_UDP || p->protocol == RULES_SCTP;

	return has && (p->source_port < 0 || p->destination_port < 0);
}

/* rules_fits tells whether a TCP may send such a packet in a connection that is not over. */
static inline int rules_fits(const struct rules_packet *p, const struct rules_flow *f, __u8 direction)
{
	int asked = f->seen & SEEN_SYN && !f->replied, opener = direction == f->opener;

	if (p->what & TCP_SYN && p->what & TCP_ACK)
		return !opener || f->seen & SEEN_CROSSED;
	if (p->what & TCP_SYN)
		return opener || asked || f->seen & SEEN_CROSSED;
	return !(asked && opener) || p->what & TCP_RST;
}

/* rules_passes notes what a packet of TCP tells of its connection. */
static inline void rules_passes(const struct rules_packet *p, struct rules_flow *f, __u8 direction)
{
	if (p->what & TCP_RST)
		f->seen |= f->replied ? SEEN_RESET : SEEN_REFUSED;
	else if (p->what & TCP_FIN)
		f->seen |= 1 << (direction & 1);
	else if (rules_opens(p) && direction != f->opener)
		f->seen |= SEEN_CROSSED;
}

/* rules_state gives the state that a packet has by its connection, if one is known, and brings that up
 * to date. */
static inline __u8 rules_state(const struct rules_packet *p, struct rules_flow *f, __u8 direction, __u64 now)
{
	int tcp = p->protocol == RULES_TCP;

	if (rules_cut(p) || (tcp && !(rules_flags >> (p->what & (TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK | TCP_URG)) & 1)))
		return RULES_INVALID;
	if (!f || rules_over(p, f, direction, now)) {
		if (!rules_begins(p))
			return RULES_INVALID;
		if (f) {
			f->open = f->replied = 0;
			f->seen = rules_opens(p) ? SEEN_SYN : 0;
			f->opener = direction;
			f->last = now;
		}
		return RULES_NEW;
	}
	if (tcp && !rules_fits(p, f, direction))
		return RULES_INVALID;
	f->last = now;
	if (tcp)
		rules_passes(p, f, direction);
	if (direction != f->opener)
		f->replied = 1;
	return f->replied ? RULES_ESTABLISHED : RULES_NEW;
}

/* rules_connects gives the connection of a packet, and the direction: 1 if it comes from the higher end. */
static inline __u8 rules_connects(const struct rules_packet *p, __u32 whose, struct rules_connection *c)
{
	const __u64 *s = p->source, *d = p->destination;
	__s32 lower, higher;
	__u8 from = s[0] != d[0] ? s[0] > d[0] : s[1] != d[1] ? s[1] > d[1] : p->source_port > p->destination_port;

	c->ends[0][0] = from ? d[0] : s[0];
	c->ends[0][1] = from ? d[1] : s[1];
	c->ends[1][0] = from ? s[0] : d[0];
	c->ends[1][1] = from ? s[1] : d[1];
	lower = from ? p->destination_port : p->source_port;
	higher = from ? p->source_port : p->destination_port;
	c->ports[0] = lower;
	c->ports[1] = higher;
	c->protocol = p->protocol;
	c->kind = p->six | (lower < 0) << 1 | (higher < 0) << 2;
	c->unused = 0;
	c->whose = whose;
	c->id = rules_asks(p, from);
	return from;
}

/* rules_open tells whether a packet is of a connection that is open: for the packet that an error of ICMP
 * is about. */
rules_own int rules_open(const struct rules_packet *p, __u32 whose, __u64 now)
{
	struct rules_connection c;
	struct rules_flow *f;
	__u8 direction;

	if (!p)
		return 0;
	direction = rules_connects(p, whose, &c);
	f = bpf_map_lookup_elem(&rules_flows, &c);
	return f && !rules_over(p, f, direction, now);
}

/* rules_counts a packet about which rules were asked, or a flow that was entered. */
rules_own int rules_counts(__u32 entered)
{
	__u32 first = 0;
	struct rules_tally *tally = bpf_map_lookup_elem(&rules_tallies, &first);

	if (!tally)
		return RULES_BROKEN;
	if (entered)
		tally->made++;
	else
		tally->asked++;
	return 0;
}

/* rules_enters a connection that was not known, and whose first packet is accepted, with what the rules say of
 * that: those that are not take no places of others, as in netfilter. It has a stack of
 * its own, which the search for a rule is not on top of: Linux before 6.7 gives all of them 512 bytes. It is static
 * because older kernels take no key for a table from what they verify apart. */
static __attribute__((noinline)) int rules_enters(const struct rules_packet *p, const struct rules_connection *c, __u32 which, __u64 answer, __u64 now)
{
	struct rules_flow fresh = {};
	__u32 i;

	if (!p || !c)
		return RULES_BROKEN;
	fresh.last = now;
	fresh.opener = which >> 1;
	fresh.seen = rules_opens(p) ? SEEN_SYN : 0;
	fresh.open = 1;
#pragma unroll
	for (i = 0; i < 4; i++)
		fresh.answers[i] = i == which ? answer : 0;
	return rules_enter(&rules_flows, c, &fresh, RULES_IF_ABSENT) ? RULES_BROKEN : rules_counts(1);
}

/* rules_judge is rules_find for packets of connections. The state that p comes with counts, unless it is
 * RULES_NEW, which is what is to be found out. Generation is another when the rules are. */
rules_own __s32 rules_judge(struct rules_packet *p, __u32 base, __u32 whose, __u64 generation, __u64 now)
{
	struct rules_header *h = rules_at(base);
	struct rules_connection c;
	struct rules_flow *f;
	__u64 answer, which;
	__u32 found;
	__u8 direction;

	if (!p || !h)
		return RULES_BROKEN;
	generation <<= RULES_ANSWER_BITS;
	direction = rules_connects(p, whose, &c);
	f = bpf_map_lookup_elem(&rules_flows, &c);
	if (h->stateful && p->state == RULES_NEW)
		p->state = rules_state(p, f, direction, now);
	which = direction * 2 + p->state;
	asm volatile("" : "+r"(which));
	which &= 3;
	if (f && p->state <= RULES_ESTABLISHED) {
		answer = f->answers[which];
		if (answer && (answer ^ generation) >> RULES_ANSWER_BITS == 0)
			goto answered;
	}
	found = rules_find(p, base) + 1;
	if (!found || p->state > RULES_ESTABLISHED)
		return found - 1;
	if (rules_counts(0))
		return RULES_BROKEN;
	answer = generation | found;
	if (!f) {
		if ((found - 1) & 1)
			rules_enters(p, &c, which, answer, now);
		return found - 1;
	}
	f->answers[which] = answer;
answered:
	answer = (answer & RULES_ANSWER) - 1;
	if (!f->open && answer & 1)
		f->open = 1;
	return answer;
}

#endif
