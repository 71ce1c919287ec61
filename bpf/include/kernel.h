/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What these programs use of the kernel's interface (linux/bpf.h), and no more,
 * so that they compile alike wherever clang does. */
#ifndef NFCHAIN_KERNEL_H
#define NFCHAIN_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;

#define SEC(name) __attribute__((section(name), used))
#define inline inline __attribute__((always_inline))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)

enum { BPF_MAP_TYPE_ARRAY = 2 };
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT };
enum { TCX_NEXT = -1, TCX_PASS = 0, TCX_DROP = 2 };

struct xdp_md {
	__u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

/* The first fields of struct __sk_buff; programs read no others. */
struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority,
		ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end;
};

/* An opaque lock in the value of a map; the kernel knows it by its name. */
struct bpf_spin_lock {
	__u32 val;
};

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static __u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static __u32 (*bpf_get_prandom_u32)(void) = (void *)7;
static __u32 (*bpf_get_smp_processor_id)(void) = (void *)8;
static long (*bpf_redirect)(__u32 ifindex, __u64 flags) = (void *)23;
static long (*bpf_skb_pull_data)(struct __sk_buff *skb, __u32 len) = (void *)39;
static long (*bpf_xdp_adjust_tail)(struct xdp_md *xdp, int delta) = (void *)65;
static __u64 (*bpf_xdp_get_buff_len)(struct xdp_md *xdp) = (void *)188;
static long (*bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;

#endif
