/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Copies of packets, for taps: the part of pass.h that makes them, which says what steps and memories are. */
#ifndef NFCHAIN_MIRROR_H
#define NFCHAIN_MIRROR_H

/* Addresses of one family, as they stand in packets: IPv4's are in the first word. Bits that the mask has not are any. */
struct prefix {
	__u32 address[4], mask[4];
};

/* Where what a tap gets comes from and goes to. The family is the step's. */
struct ends {
	struct prefix source, destination;
};

volatile const struct ends copies[TAPS];

static inline int within(const __u32 *address, volatile const struct prefix *p)
{
#pragma unroll
	for (int i = 0; i < 4; i++)
		if ((address[i] & p->mask[i]) != p->address[i])
			return 0;
	return 1;
}

/* stays tells of a packet that it is sent to its link alone, or to many there. */
static inline int stays(struct __sk_buff *skb, const struct packet *p)
{
	__u8 first = 0;

	bpf_skb_load_bytes(skb, p->at + (p->version == 4 ? 16 : 24), &first, 1);
	return p->version == 4 ? first >= 0xe0 : (first & 0xfe) == 0xfe;
}

enum { TIMED = 16 }; /* of so many copies one is timed, since looking at a clock costs too */

/* clone a packet to a tap: not 0 where that takes none. */
static inline long clone(struct __sk_buff *skb, __u32 tap, struct memory *m)
{
	__u64 began;
	long failed;

	if (bpf_get_prandom_u32() % TIMED)
		return bpf_clone_redirect(skb, tap, 0);
	began = PASS_CLOCK(skb);
	failed = bpf_clone_redirect(skb, tap, 0);
	__sync_fetch_and_add(&m->copying, (PASS_CLOCK(skb) - began) * TIMED);
	return failed;
}

/* copied tells whether a tap got a copy of a packet, as the steps before made it. What becomes of the copy is
 * nothing to the packet. */
static __attribute__((noinline)) int copied(struct __sk_buff *skb, __u32 i, struct packet *p, const struct flow *f)
{
	__u32 slot, tap;
	struct memory *m;

	if (i >= STEPS || !p || !f)
		return 0;
	slot = steps[i].slot;
	tap = steps[i].mirror.tap;
	m = bpf_map_lookup_elem(&memories, &slot);
	if (!m || tap >= TAPS)
		return 0;
	if (stays(skb, p) || (steps[i].mirror.version && steps[i].mirror.version != p->version))
		return 0;
	if (steps[i].mirror.protocol && steps[i].mirror.protocol != f->protocol)
		return 0;
	if (steps[i].mirror.port && steps[i].mirror.port != f->ports[0] && steps[i].mirror.port != f->ports[1])
		return 0;
	if (steps[i].mirror.ends && !(within(f->source, &copies[tap].source) && within(f->destination, &copies[tap].destination)))
		return 0;
	if (steps[i].mirror.every > 1 && (__sync_fetch_and_add(&m->value, 1) + 1) % steps[i].mirror.every)
		return 0;
	if (rewritten(skb, p) || clone(skb, taps[tap], m)) {
		__sync_fetch_and_add(&m->lost, 1);
		return 0;
	}
	return 1;
}

#endif
