// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What leaves a function by an interface is labelled with the number of the node that it is to go
 * to, by its mark. The kernel takes marks from packets that leave a namespace, and leaves them their
 * index of traffic control: the port on the other side finds the label there. */
#include "../include/kernel.h"

char licensed[] SEC("license") = "GPL";

enum { RULES = 32 };

/* Packets that have this mark in the bits of the mask go to the node of that number; 0: there are
 * no more rules. */
struct rule {
	__u32 mark, mask, node;
};

volatile const struct rule rules[RULES];

SEC("tc")
int label(struct __sk_buff *skb)
{
	__u32 mark = skb->mark, node = 0;

#pragma unroll
	for (int i = 0; i < RULES; i++) {
		if (!rules[i].node)
			break;
		if ((mark & rules[i].mask) == rules[i].mark) {
			node = rules[i].node;
			break;
		}
	}
	skb->tc_index = node; /* also if that is none: another may have left something there */
	return TCX_NEXT;      /* to say that it passes would have the kernel write over the label */
}
