/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How ports and what puts headers on and takes them off tell each other which of several paths a frame is on, whose headers
 * are different. */
#ifndef NFCHAIN_HEADED_H
#define NFCHAIN_HEADED_H

#include "kernel.h"

/* Paths have numbers from 1 on; 0 is none. */
enum { PATHS = 256 };

/* A port says it in a tag outside of all others, with the number in its lower half: the interface that it sends by has no
 * other place in a frame, and puts it there before it is looked at. All that such a port sends has one. */
enum { TAG_TYPE = 0x0081, /* 802.1Q, as it is in memory */ TAG_MARK = 0xff };

static long (*bpf_skb_vlan_push)(struct __sk_buff *skb, __u16 type, __u16 tag) = (void *)18;

/* name the path of a packet to what puts headers on behind a port. */
static inline long name(struct __sk_buff *skb, __u32 path)
{
	return bpf_skb_vlan_push(skb, TAG_TYPE, TAG_MARK << 8 | (path & 0xff));
}

/* What the port that a frame comes back by is told, right before the frame. */
struct told {
	__u32 mark, number;
};

/* Tells it from what others leave there. */
#define TOLD_MARK 0x68736e6eU

#endif
