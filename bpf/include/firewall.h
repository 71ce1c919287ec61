/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What rules ask of a packet, read from it as nf_tables reads it: ports are known of the first fragment
 * alone, and headers that are cut off are not there. Fragments are not put together: where a connection's
 * state is asked for, those behind the first are invalid, unless it is known what became of that (parts.h). */
#ifndef NFCHAIN_FIREWALL_H
#define NFCHAIN_FIREWALL_H

#include "flows.h"
#include "parts.h"
#include "skb.h"

/* Behind NOTHING is none (RFC 8200 section 4.7). */
enum { RULES_NO_PROTOCOL = 255, RULES_NOTHING = 59, RULES_EXTENSIONS = 8 };

/* States that are no answer: of an error of ICMP, which is that of the packet it is about. Its id is where
 * that begins. */
enum { RULES_ERROR = 5 };

/* Of a packet with more extensions than are looked behind: nobody knows what rules would say of its transport. Where they
 * ask for that it is dropped, as on much of the Internet (RFC 7045 section 2.1, RFC 9098 section 4), so that nothing gets by
 * behind a long chain; to others it is invalid. */
enum { RULES_BEYOND = 6 };

static inline __u16 rules_16(const void *at) { return __builtin_bswap16(*(__u16 *)at); }
static inline __u32 rules_32(const void *at) { return __builtin_bswap32(*(__u32 *)at); }

/* Where the header of the transport begins, the packet ends, and whether it is the first of several fragments. */
struct rules_place {
	__u32 at, end, first;
};

/* rules_behind tells whether any rule of a table asks for what is behind IP. */
static inline int rules_behind(__u32 base)
{
	struct rules_header *h = rules_at(base);

	return !h || h->behind;
}

/* rules_stateful tells whether any asks for the state of a connection. */
static inline int rules_stateful(__u32 base)
{
	struct rules_header *h = rules_at(base);

	return h && h->stateful;
}

static inline int rules_extends(__u8 protocol)
{
	return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 || protocol == 60;
}

/* rules_skip goes behind the extensions of IPv6; 0 if no header of a transport is there to be read. */
rules_own int rules_skip(struct __sk_buff *skb, struct rules_packet *r, struct rules_place *t)
{
	__u16 h[2];
	__u8 *b = (void *)h, i;

	if (!r || !t)
		return 0;
	for (i = 0; i < RULES_EXTENSIONS; i++) {
		__u32 size = r->protocol == 44 ? 4 : 2;

		if (!rules_extends(r->protocol))
			return r->protocol != RULES_NOTHING;
		h[0] = h[1] = 0;
		if (t->at + size > t->end || (size == 4 ? bpf_skb_load_bytes(skb, t->at, h, 4) : bpf_skb_load_bytes(skb, t->at, h, 2))) {
			r->protocol = RULES_NO_PROTOCOL;
			return 0;
		}
		if (size == 4) {
			if (rules_16(h + 1) & ~6)
				bpf_skb_load_bytes(skb, t->at + 4, &r->part, 4);
			t->at += 8;
			if (rules_16(h + 1) & ~7) { /* not the first fragment */
				r->place = RULES_LATER;
				r->protocol = rules_extends(b[0]) ? RULES_NO_PROTOCOL : b[0];
				return 0;
			}
			t->first = rules_16(h + 1) & 1;
			r->place = t->first ? RULES_FIRST : RULES_WHOLE;
		} else
			t->at += r->protocol == 51 ? (b[1] + 2) * 4 : (b[1] + 1) * 8;
		r->protocol = b[0];
	}
	if (!rules_extends(r->protocol))
		return r->protocol != RULES_NOTHING;
	r->protocol = RULES_NO_PROTOCOL;
	r->state = RULES_BEYOND;
	return 0;
}

/* rules_ends notes where a packet ends by its length, which what the kernel merged to more than a header can tell does not
 * have (BIG TCP). What an error quotes ends with that. */
static inline void rules_ends(struct __sk_buff *skb, struct rules_place *t, __u32 from, __u32 length)
{
	if (!t->end)
		t->end = length || !((struct skb_whole *)skb)->gso_size ? from + length : skb->len;
}

/* rules_address4 and rules_address6 read the fixed headers; 0 if no header of a transport follows. */
static inline int rules_address4(struct __sk_buff *skb, struct rules_packet *r, struct rules_place *t)
{
	__u32 h[5], total;
	__u8 *b = (void *)h;

	if (bpf_skb_load_bytes(skb, t->at, h, sizeof(h)))
		return 0;
	total = rules_16(b + 2);
	rules_ends(skb, t, t->at, total);
	t->at += (b[0] & 15) * 4;
	r->protocol = b[9];
	r->source[1] = rules_32(h + 3);
	r->destination[1] = rules_32(h + 4);
	t->first = rules_16(b + 6) & 0x2000;
	if (!(rules_16(b + 6) & 0x3fff))
		return 1;
	r->part = rules_16(b + 4);
	r->place = rules_16(b + 6) & 0x1fff ? RULES_LATER : RULES_FIRST;
	return r->place == RULES_FIRST;
}

static inline int rules_address6(struct __sk_buff *skb, struct rules_packet *r, struct rules_place *t)
{
	__u64 h[5];
	__u8 *b = (void *)h;
	__u32 length;

	if (bpf_skb_load_bytes(skb, t->at, h, sizeof(h)))
		return 0;
	length = rules_16(b + 4);
	t->at += 40;
	rules_ends(skb, t, t->at, length);
	r->six = 1;
	r->protocol = b[6];
	r->source[0] = __builtin_bswap64(h[1]);
	r->source[1] = __builtin_bswap64(h[2]);
	r->destination[0] = __builtin_bswap64(h[3]);
	r->destination[1] = __builtin_bswap64(h[4]);
	return rules_skip(skb, r, t);
}

/* rules_ports reads as much of the transport as there is. What cannot be is invalid: a header that is cut off, and lengths
 * in it that are too short or lead out of the packet, but for UDP's in a fragment, which is that of all. */
static inline void rules_ports(struct __sk_buff *skb, struct rules_packet *r, const struct rules_place *t)
{
	__u32 whole = r->protocol == RULES_TCP ? 20 : r->protocol == RULES_UDP ? 8 : 12, length = 0;
	__u16 h[7] = {}; /* as far as TCP's flags */
	__u8 *b = (void *)h;

	if (t->at + whole <= t->end && !(r->protocol == RULES_TCP ? bpf_skb_load_bytes(skb, t->at, h, 14) : bpf_skb_load_bytes(skb, t->at, h, 8))) {
		r->source_port = rules_16(h);
		r->destination_port = rules_16(h + 1);
		if (r->protocol == RULES_TCP) {
			r->what = b[13];
			length = (b[12] >> 4) * 4;
		} else if (r->protocol == RULES_UDP)
			length = rules_16(h + 2);
		if (r->protocol != RULES_SCTP && (length < whole || (t->at + length > t->end && (r->protocol != RULES_UDP || !t->first))))
			r->state = RULES_INVALID;
		return;
	}
	r->state = RULES_INVALID;
	if (t->at + 2 <= t->end && !bpf_skb_load_bytes(skb, t->at, h, 2))
		r->source_port = rules_16(h);
	if (t->at + 4 <= t->end && !bpf_skb_load_bytes(skb, t->at + 2, h, 2))
		r->destination_port = rules_16(h);
}

/* rules_message reads a header of ICMP. */
static inline void rules_message(struct __sk_buff *skb, struct rules_packet *r, const struct rules_place *t)
{
	__u16 h[4];
	__u8 type;

	r->state = RULES_INVALID;
	if (t->at + 8 > t->end || bpf_skb_load_bytes(skb, t->at, h, sizeof(h)))
		return;
	r->state = RULES_NEW;
	type = r->what = *(__u8 *)h;
	r->id = rules_16(h + 2);
	if (r->six ? type < 128 : type == 3 || type == 4 || type == 5 || type == 11 || type == 12) {
		r->state = RULES_ERROR;
		r->id = t->at + 8;
	}
	if (r->six && ((type >= 130 && type <= 136) || type == 143)) /* of neighbours and groups */
		r->state = RULES_UNTRACKED;
}

/* rules_read reads the packet that begins somewhere in a frame, or the one that is quoted there; 0 if no header of a
 * transport is there. */
rules_own int rules_read(struct __sk_buff *skb, struct rules_packet *r, __u32 at, int quoted)
{
	struct rules_place t = { .at = at, .end = quoted ? skb->len : 0 };
	__u8 version = 0;
	int more;

	if (!r)
		return 0;
	__builtin_memset(r, 0, sizeof(*r));
	r->protocol = RULES_NO_PROTOCOL;
	r->source_port = r->destination_port = -1;
	r->state = RULES_INVALID;
	bpf_skb_load_bytes(skb, at, &version, 1);
	if (version >> 4 == 4)
		more = rules_address4(skb, r, &t);
	else
		more = version >> 4 == 6 && rules_address6(skb, r, &t);
	if (!more)
		return 0;
	r->state = RULES_NEW;
	if (r->protocol == RULES_TCP || r->protocol == RULES_UDP || r->protocol == RULES_SCTP)
		rules_ports(skb, r, &t);
	else if (r->protocol == (r->six ? RULES_ICMPV6 : RULES_ICMP))
		rules_message(skb, r, &t);
	return 1;
}

/* rules_relates gives the state of an error of ICMP: who sent what it is about must be who gets it. */
rules_own __u8 rules_relates(struct __sk_buff *skb, const struct rules_packet *error, __u32 whose, __u64 now)
{
	struct rules_packet about = {};

	if (!error)
		return RULES_INVALID;
	if (!rules_read(skb, &about, error->id, 1))
		return RULES_INVALID;
	if (about.six != error->six || about.source[0] != error->destination[0] || about.source[1] != error->destination[1])
		return RULES_INVALID;
	return rules_open(&about, whose, now) ? RULES_RELATED : RULES_INVALID;
}

#endif
