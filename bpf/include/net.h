/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What these programs read of the kernel's own structures of networks. */
#ifndef NFCHAIN_NET_H
#define NFCHAIN_NET_H

#include "kernel.h"

enum { MAP_HASH = 1, MAP_PERF_EVENT_ARRAY = 4, MAP_PERCPU_HASH = 5, MAP_PERCPU_ARRAY = 6 };

static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)2;
static long (*bpf_probe_read_kernel)(void *to, __u32 size, const void *from) = (void *)113;

/* What is read of the kernel's own structures; where it lies there is found when the
 * programs are loaded. */
#define found_at_load __attribute__((preserve_access_index))
struct ns_common {
	__u32 inum;
} found_at_load;
struct net {
	struct ns_common ns;
} found_at_load;
struct net_of {
	struct net *net;
};
struct net_device {
	int ifindex;
	struct net_of nd_net;
} found_at_load;
struct sock_common {
	struct net_of skc_net;
} found_at_load;
struct sock {
	struct sock_common __sk_common;
} found_at_load;
struct dst_entry {
	struct net_device *dev;
} found_at_load;
struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
	unsigned int len;
	__u16 network_header;
	unsigned int tail; /* from the head on, on machines of 64 bits */
	unsigned char *head, *data;
} found_at_load;

#define get(to, from, field) bpf_probe_read_kernel(&(to), sizeof(to), &(from)->field)

static inline __u32 inode(struct net_of *of)
{
	struct net *net;
	__u32 number = 0;

	if (!bpf_probe_read_kernel(&net, sizeof(net), of) && net)
		get(number, net, ns.inum);
	return number;
}

#endif
