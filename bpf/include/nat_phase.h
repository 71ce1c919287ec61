/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* How far connections of TCP are, for a NAT: the states of RFC 7857 section 2.1, which are those of RFC 6146
 * section 3.5.2.2. Each of a connection's two entries has it as it is for who sends the packets of its way. */
#ifndef NFCHAIN_NAT_PHASE_H
#define NFCHAIN_NAT_PHASE_H

#include "nat_packet.h"

enum { NAT_FIN = 1, NAT_SYN = 2, NAT_RST = 4, NAT_ACK = 16 };

enum {
	NAT_OPEN,  /* also what an earlier version knows, which does not ask, and all that is not TCP */
	NAT_ASKING, /* who sends this way, and nobody answered */
	NAT_ASKED,
	NAT_ENDS,  /* who sends this way has sent all, the other has not */
	NAT_ENDED,
	NAT_OVER,  /* both have, or the connection was refused */
	NAT_RESET, /* by either */
};

/* What an entry has of it stands between the bits that tell its pass: that is none where no packet came. Of an earlier
 * version's entry the bit is set that those which note phases leave out. */
enum { NAT_PHASE_AT = 3, NAT_PHASE = 7 << NAT_PHASE_AT, NAT_CAME = 4, NAT_EARLIER = 2, NAT_PLACE = ~0xfe };

static inline __u32 nat_phase(__u32 here) { return here & NAT_EARLIER ? NAT_OPEN : (here & NAT_PHASE) >> NAT_PHASE_AT; }

/* nat_in gives an entry's pass with another phase. */
static inline __u32 nat_in(__u32 here, __u32 phase)
{
	__u32 came = here & (NAT_CAME | NAT_EARLIER) ? NAT_CAME : 0;

	return (here & NAT_PLACE) | came | phase << NAT_PHASE_AT;
}

/* nat_other gives the phase as it is for the other end. */
static inline __u32 nat_other(__u32 phase)
{
	switch (phase) {
	case NAT_ASKING:
		return NAT_ASKED;
	case NAT_ASKED:
		return NAT_ASKING;
	case NAT_ENDS:
		return NAT_ENDED;
	case NAT_ENDED:
		return NAT_ENDS;
	}
	return phase;
}

/* nat_asks tells whether a packet asks for a connection. */
static inline int nat_asks(const struct nat_packet *x)
{
	return (x->flags & (NAT_FIN | NAT_SYN | NAT_RST | NAT_ACK)) == NAT_SYN;
}

/* nat_answers tells whether a packet grants a connection. */
static inline int nat_answers(const struct nat_packet *x)
{
	return (x->flags & (NAT_FIN | NAT_SYN | NAT_RST | NAT_ACK)) == (NAT_SYN | NAT_ACK);
}

/* nat_then gives the phase behind a packet of a connection. Sequence numbers are not looked at, so that a reset may be forged
 * or late: any other packet undoes it, if one comes while the connection is known, and it keeps what it becomes then (RFC 7857
 * section 2.2, RFC 6146 section 3.5.2.2); a refusal is undone by who grants the connection all the same. Where an end that had
 * sent all, or whose other had, asks for a connection, that is the next one, of which nobody has sent a FIN. */
static inline __u32 nat_then(__u32 phase, const struct nat_packet *x)
{
	if (x->flags & NAT_RST)
		return phase == NAT_ASKED || phase == NAT_OVER ? NAT_OVER : NAT_RESET;
	if (nat_asks(x) && (phase == NAT_RESET || phase == NAT_ENDS || phase == NAT_ENDED))
		return NAT_ASKING;
	if (phase == NAT_RESET || phase == NAT_ASKED || (phase == NAT_OVER && nat_answers(x)))
		phase = NAT_OPEN;
	if (x->flags & NAT_FIN)
		return phase == NAT_OPEN ? NAT_ENDS : phase == NAT_ENDED ? NAT_OVER : phase;
	return phase;
}

/* nat_lasts tells whether a connection in a phase may be silent for as long as an established one. */
static inline int nat_lasts(__u32 phase) { return phase == NAT_OPEN || phase == NAT_ENDS || phase == NAT_ENDED; }

#endif
