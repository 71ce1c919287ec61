/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What programs that change packets use of the kernel's interface, beside kernel.h. */
#ifndef NFCHAIN_SKB_H
#define NFCHAIN_SKB_H

#include "kernel.h"

/* struct __sk_buff with what follows the fields that kernel.h has. */
struct skb_whole {
	struct __sk_buff first;
	__u32 napi_id, family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4], remote_port, local_port, data_meta;
	__u64 flow_keys, tstamp;
	__u32 wire_len, gso_segs;
	__u64 sk;
	__u32 gso_size;
};

enum { SKB_SUM_TOO = 1 }; /* of store(): what the device summed over the packet is brought up to date */

static long (*bpf_skb_store_bytes)(struct __sk_buff *skb, __u32 offset, const void *from, __u32 len, __u64 flags) = (void *)9;
static long (*bpf_skb_load_bytes)(const struct __sk_buff *skb, __u32 offset, void *to, __u32 len) = (void *)26;
static long (*bpf_clone_redirect)(struct __sk_buff *skb, __u32 ifindex, __u64 flags) = (void *)13;

/* Checksums are brought up to date by what was there and what is there now; where the size is 0, by their
 * difference. */
enum { SUM_OF_PSEUDO_HEADER = 1 << 4, SUM_MAY_BE_NONE = 1 << 5 };

static long (*bpf_l3_csum_replace)(struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 size) = (void *)10;
static long (*bpf_l4_csum_replace)(struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 flags) = (void *)11;
static __s64 (*bpf_csum_diff)(const void *from, __u32 from_size, const void *to, __u32 to_size, __u32 seed) = (void *)28;

#endif
