/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a measured packet carries, behind its UDP header: 18 bytes, so that an
 * Ethernet frame of 64 bytes holds them. Numbers are in the host's byte order: who
 * sends and who receives share a clock, and so a host. */
#ifndef NFCHAIN_STAMP_H
#define NFCHAIN_STAMP_H

#include "kernel.h"

enum {
	STAMP_SIGNATURE = 0, /* u32: this run's; what lacks it is a stranger */
	STAMP_SEQUENCE = 4,  /* u32: the low bits of the packet's number in its stream */
	STAMP_DUE = 8,       /* u32: the low bits of when it was due, in ns of CLOCK_MONOTONIC */
	STAMP_DUE_HIGH = 12, /* u16: the next 16 bits of that */
	STAMP_FLAGS = 14,    /* u16 */
	STAMP_CHECK = 16,    /* u16: brings the sum of the stamp to 0xffff (RFC 1071) */
	STAMP_SIZE = 18,
};

/* In STAMP_FLAGS: the frame is the tagged one (RFC 2544 section 26.2). */
#define STAMP_TAG 0x8000

/* 2^48 ns, after which the time a packet was due begins again: 78 hours. */
#define STAMP_CLOCK ((1ULL << 48) - 1)

/* Headers of the packets. */
enum {
	ETHERNET = 14,
	VLAN_TAG = 4,
	IPV4 = 20,
	IPV6 = 40,
	UDP = 8,
};

/* fold a sum of words to the 16 bits of ones' complement arithmetic: both halves are
 * added up in the upper one, with what is carried from the lower one. */
static inline __u32 fold(__u64 sum)
{
	__u32 half;

	sum += sum << 32 | sum >> 32;
	half = sum >> 32;
	half += half << 16 | half >> 16;
	return half >> 16;
}

static inline __u16 network(__u16 v) { return __builtin_bswap16(v); }

#endif
