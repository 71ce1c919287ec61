// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* The inline functions of a hop, translations of addresses among them, and maybe firewalls; see bpf/pass. */
#define PASS_CLOCK(skb) bpf_ktime_get_ns()
#define PASS_RULES
#define PASS_NAT
#include "../include/firewall.h"
#include "../include/pass.h"

char licensed[] SEC("license") = "GPL";

SEC("tc")
int pass(struct __sk_buff *skb) { return go(skb); }
