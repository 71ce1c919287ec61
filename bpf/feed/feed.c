// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What lets XDP frames onto devices that would not take them. */
#include "../include/kernel.h"

char licensed[] SEC("license") = "GPL";

volatile const __u32 device; /* index of the interface that feed() sends from */

/* pass lets everything pass: a veth takes XDP frames from its peer only where one of its
 * own has a program. */
SEC("xdp.frags")
int pass(struct xdp_md *xdp) { return XDP_PASS; }

/* feed sends what comes off a helper veth from a device that takes no XDP frames. */
SEC("tcx/ingress")
int feed(struct __sk_buff *skb) { return bpf_redirect(device, 0); }
