/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where packets are: the namespace and the interface. */
#ifndef NFCHAIN_PLACE_H
#define NFCHAIN_PLACE_H

#include "net.h"

/* A place that packets pass. */
struct point {
	__u32 netns, ifindex, out;
};

/* The chain's namespaces, by their inode. */
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32); /* its number */
} namespaces SEC(".maps");

static inline void at(struct net_device *dev, struct point *p)
{
	if (!dev)
		return;
	p->netns = inode(&dev->nd_net);
	get(p->ifindex, dev, ifindex);
}

/* stands is at() for programs to which the kernel vouches for what they are given. */
static inline void stands(struct net_device *dev, struct point *p)
{
	p->netns = dev->nd_net.net->ns.inum;
	p->ifindex = dev->ifindex;
}

#endif
