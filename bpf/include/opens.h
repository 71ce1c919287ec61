/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which packets are the first ones of their flows. */
#ifndef NFCHAIN_OPENS_H
#define NFCHAIN_OPENS_H

#include "packet.h"

enum { SYN = 2, ACK = 16, FLAGS_AT = 13 };
enum { GOES_ON = 0, MAY_OPEN = 1, OPENS = 2 };

/* opens tells whether a packet is the first of its flow: of TCP just what asks for a connection, of others
 * any may be. */
__attribute__((noinline)) int opens(struct __sk_buff *skb, struct packet *p)
{
	struct transport t;
	__u8 flags;

	if (!p)
		return MAY_OPEN;
	find_transport(skb, p, &t);
	if (t.protocol != TCP_PROTOCOL || !t.known || t.fragment || bpf_skb_load_bytes(skb, t.at + FLAGS_AT, &flags, 1))
		return MAY_OPEN;
	return (flags & (SYN | ACK)) == SYN ? OPENS : GOES_ON;
}

#endif
