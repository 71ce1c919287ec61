// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* The inline functions of a hop, at the ingress of the interface that its packets come by.
 * What goes on is left to the program behind it there, which knows the way. */
#define PASS_CLOCK(skb) bpf_ktime_get_ns()
#include "../include/pass.h"

char licensed[] SEC("license") = "GPL";

SEC("tc")
int pass(struct __sk_buff *skb) { return go(skb); }
