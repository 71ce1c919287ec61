// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* For tests: bpf/passnat by a clock that the packet brings along. */
#define PASS_CLOCK(skb) ((__u64)(skb)->cb[1] << 32 | (skb)->cb[0])
#define PASS_RULES
#define PASS_NAT
#include "../include/firewall.h"
#include "../include/pass.h"

char licensed[] SEC("license") = "GPL";

SEC("tc")
int pass(struct __sk_buff *skb) { return go(skb); }
