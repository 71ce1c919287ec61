// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on to the next node of the chain. The port alone says which
 * that is, so that no header is looked at, and none changed: addresses may mean what they
 * like, and a frame of any kind is as good as another. Each port has this program with maps
 * of its own. */
#include "../include/ended.h"
#include "../include/whither.h"

char licensed[] SEC("license") = "GPL";

SEC("tc")
int steer(struct __sk_buff *skb)
{
	count(skb);
	return onward_or_end(skb, whither());
}
