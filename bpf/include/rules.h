/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The first of many rules that matches a packet. The tables are made by internal/resource/pass/rules, which
 * says how they work and searches them in the same way; a test holds the two to each other. */
#ifndef NFCHAIN_RULES_H
#define NFCHAIN_RULES_H

#include "kernel.h"

/* State of the connection that a packet belongs to. */
enum { RULES_NEW, RULES_ESTABLISHED, RULES_RELATED, RULES_INVALID, RULES_UNTRACKED };

/* What rules ask of a packet, in the host's byte order. */
struct rules_packet {
	__u64 source[2], destination[2];	 /* high and low half; an IPv4 address is in the low one */
	__s32 source_port, destination_port; /* -1: there is none */
	__u8 protocol, six, state;
	__u8 what; /* flags of TCP, type of ICMP; 0 elsewhere. For flows.h alone, as is */
	__u32 id;  /* of an echo of ICMP; 0 elsewhere */
	__u32 part, place; /* of a fragment the number of its packet, and which one it is: see RULES_FIRST. For the programs that read packets */
};

/* Of several fragments the first one, and those behind it. */
enum { RULES_WHOLE, RULES_FIRST, RULES_LATER };

struct rules_search {
	__u32 keys, depth, vectors;
};

/* Begins a table. Places are counted in bytes from here. */
struct rules_header {
	__u32 rules, blocks, summary, kinds, accepts, stateful, portless[2];
	struct rules_search searches[6]; /* source and destination of IPv4, of IPv6, ports */
	__u32 behind; /* some rule asks for what is behind IP: protocol, ports or state */
};

enum {
	RULES_DEPTH = 20,	 /* of the deepest tree */
	RULES_SUMMARY = 8,	 /* words, of the longest */
	RULES_BLOCK = 64,	 /* bytes; 512 rules */
	RULES_BROKEN = -1, /* the table leads out of its memory */
};

/* All tables of a program, one behind the other, in one value whose size the loader gives. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 128);
} rules_memory SEC(".maps");

/* The last place in it with the 128 bytes behind it that a header or a block may have. */
const volatile __u32 rules_last = 0;

/* Functions of their own are verified once each, whoever calls them; else the verifier would follow every
 * way through one search for each way through those before. */
#define rules_own __attribute__((noinline))

/* rules_at is a place in the memory, or none outside of it. */
static inline void *rules_at(__u64 place)
{
	__u32 first = 0;
	void *memory = bpf_map_lookup_elem(&rules_memory, &first);

	asm volatile("" : "+r"(place)); /* what is compared is what is used */
	return !memory || place > rules_last ? 0 : memory + place;
}

/* rules_less is 1 if a - borrow < b, and 0 if not. There is no branch, nor may the compiler make one: at a
 * tree's every level the verifier would follow both ways, and which one is taken is as good as random. */
static inline __u64 rules_less(__u64 a, __u64 b, __u64 borrow)
{
	__u64 less = (~a & b) | (~(a ^ b) & (a - b - borrow));

	asm volatile("" : "+r"(less));
	return less >> 63;
}

/* rules_lowest is the number of the lowest bit that is set. */
static inline __u32 rules_lowest(__u64 word)
{
	word = (word & -word) - 1;
	word -= word >> 1 & 0x5555555555555555;
	word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return word * 0x0101010101010101 >> 56;
}

/* rules_leaf gives the place of the vector of a leaf; a broken tree's is outside. */
static inline __u32 rules_leaf(__u32 base, const struct rules_search *s, __u64 at)
{
	__u32 *vector = rules_at((__u64)base + s->vectors + 4 * (at - (1ULL << (s->depth & 31))));

	return vector ? base + *vector : RULES_BROKEN;
}

/* rules_narrow goes down a tree of numbers of 32 bits. */
rules_own __u32 rules_narrow(__u32 base, const struct rules_search *s, __u32 n)
{
	__u64 at = 1, last = rules_last, place, difference;
	__u32 i, first = 0, *key;
	void *memory = bpf_map_lookup_elem(&rules_memory, &first);

	if (!s || !memory)
		return RULES_BROKEN;
	for (i = 0; i < RULES_DEPTH; i++) {
		if (i >= s->depth)
			break;
		place = (__u64)base + s->keys + 4 * at;
		asm volatile("" : "+r"(place));
		if (place > last)
			return RULES_BROKEN;
		key = memory + place;
		difference = (__u64)n - *key;
		asm volatile("" : "+r"(difference)); /* see rules_less */
		at = 2 * at + 1 - (difference >> 63);
	}
	return rules_leaf(base, s, at);
}

/* rules_wide goes down a tree of numbers of 128 bits. */
rules_own __u32 rules_wide(__u32 base, const struct rules_search *s, __u64 high, __u64 low)
{
	__u64 at = 1, last = rules_last, place, *key;
	__u32 i, first = 0;
	void *memory = bpf_map_lookup_elem(&rules_memory, &first);

	if (!s || !memory)
		return RULES_BROKEN;
	for (i = 0; i < RULES_DEPTH; i++) {
		if (i >= s->depth)
			break;
		place = (__u64)base + s->keys + 16 * at;
		asm volatile("" : "+r"(place));
		if (place > last)
			return RULES_BROKEN;
		key = memory + place;
		at = 2 * at + 1 - rules_less(high, key[0], rules_less(low, key[1], 0));
	}
	return rules_leaf(base, s, at);
}

enum { RULES_DIMENSIONS = 5 };

/* The vectors that were found, one of each dimension. */
struct rules_found {
	__u32 vectors[RULES_DIMENSIONS];
	__u32 base, summary, rules;
};

static inline __u32 rules_port(__u32 base, const struct rules_header *h, __u32 which, __s32 port)
{
	return port < 0 ? base + h->portless[which] : rules_narrow(base, &h->searches[4 + which], port);
}

/* rules_in finds the first bit that the vectors have in common in a block; 512 if there is none. */
rules_own __s32 rules_in(const struct rules_found *f, __u32 number)
{
	__u64 *blocks[RULES_DIMENSIONS], word;
	__u32 i, *place;

	if (!f)
		return RULES_BROKEN;
#pragma unroll
	for (i = 0; i < RULES_DIMENSIONS; i++) {
		place = rules_at((__u64)f->vectors[i] + 8 * (__u64)f->summary + 4 * (__u64)number);
		if (!place)
			return RULES_BROKEN;
		blocks[i] = rules_at((__u64)f->base + *place);
		if (!blocks[i])
			return RULES_BROKEN;
	}
#pragma unroll
	for (i = 0; i < RULES_BLOCK / 8; i++) {
		word = blocks[0][i] & blocks[1][i] & blocks[2][i] & blocks[3][i] & blocks[4][i];
		if (word)
			return i * 64 + rules_lowest(word);
	}
	return RULES_BLOCK * 8;
}

/* rules_common are the blocks, 64 of them, where each vector has a bit. */
rules_own __u64 rules_common(const struct rules_found *f, __u32 word)
{
	__u64 common = ~0ULL, *part;
	__u32 i;

	if (!f)
		return 0;
#pragma unroll
	for (i = 0; i < RULES_DIMENSIONS; i++) {
		part = rules_at((__u64)f->vectors[i] + 8 * (__u64)word);
		if (!part)
			return 0;
		common &= *part;
	}
	return common;
}

/* rules_first finds the first bit that the vectors have in common; as many as there are rules if there
 * is none. */
rules_own __s32 rules_first(const struct rules_found *f)
{
	__u32 s, b, number;
	__u64 common;
	__s32 bit;

	if (!f)
		return RULES_BROKEN;
	for (s = 0; s < RULES_SUMMARY; s++) {
		if (s >= f->summary)
			break;
		common = rules_common(f, s);
		for (b = 0; b < 64; b++) {
			if (!common)
				break;
			number = s * 64 + rules_lowest(common);
			common &= common - 1;
			bit = rules_in(f, number);
			if (bit != RULES_BLOCK * 8)
				return bit < 0 ? bit : (__s32)(number * RULES_BLOCK * 8) + bit;
		}
	}
	return f->rules;
}

/* rules_row gives the number of the first rule that matches, from 0, or of the policy, which stands behind
 * the last. Of is what is asked of a packet besides its addresses and ports, as one number. */
rules_own __s32 rules_row(const struct rules_packet *p, __u32 base, __u32 of)
{
	struct rules_found f = { .base = base };
	struct rules_header *h = rules_at(base);
	__u32 *kind;

	if (!p || !h)
		return RULES_BROKEN;
	kind = rules_at((__u64)base + h->kinds + 4 * (__u64)of);
	f.vectors[0] = kind ? base + *kind : RULES_BROKEN;
	if (p->six) {
		f.vectors[1] = rules_wide(base, &h->searches[2], p->source[0], p->source[1]);
		f.vectors[2] = rules_wide(base, &h->searches[3], p->destination[0], p->destination[1]);
	} else {
		f.vectors[1] = rules_narrow(base, &h->searches[0], p->source[1]);
		f.vectors[2] = rules_narrow(base, &h->searches[1], p->destination[1]);
	}
	f.vectors[3] = rules_port(base, h, 0, p->source_port);
	f.vectors[4] = rules_port(base, h, 1, p->destination_port);
	f.summary = h->summary;
	f.rules = h->rules;
	return rules_first(&f);
}

/* rules_find gives the number of the rule that rules_row finds, by the state of a packet's connection,
 * times two, and one if it accepts. Base is where the table begins. */
static inline __s32 rules_find(const struct rules_packet *p, __u32 base)
{
	struct rules_header *h = rules_at(base);
	__u64 *accepts;
	__s32 rule;

	if (!p || !h)
		return RULES_BROKEN;
	rule = rules_row(p, base, ((__u32)p->state * 2 + p->six) << 8 | p->protocol);
	if (rule < 0)
		return RULES_BROKEN;
	accepts = rules_at((__u64)base + h->accepts + 8 * (__u64)((__u32)rule / 64));
	if (!accepts)
		return RULES_BROKEN;
	return rule * 2 + (*accepts >> (rule & 63) & 1);
}

#endif
