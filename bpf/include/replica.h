/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which of a function's replicas has a flow: what is in the table of the function. */
#ifndef NFCHAIN_REPLICA_H
#define NFCHAIN_REPLICA_H

#include "conversation.h"

enum { MAP_RECENT = 9 }; /* a hash of those used last */
enum { IF_ABSENT = 1 };

static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static __u64 (*bpf_ktime_get_coarse_ns)(void) = (void *)160;

/* A flow's replica, and when a packet was last seen, in ns of a clock with steps of a few
 * milliseconds: so that cores which share a flow seldom write. A function's ports have one table of flows together. */
struct stay {
	__u64 seen;
	__u32 replica, unused;
};

#endif
