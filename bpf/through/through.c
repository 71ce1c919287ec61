// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at an interface of a function leaves by the other, whatever it is, and before
 * the kernel of the function's namespace looks at it. */
#include "../include/onward.h"
#include "../include/passed.h"

char licensed[] SEC("license") = "GPL";

/* Index of the interface that packets leave by. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next SEC(".maps");

/* Where packets are the kernel's already: they come in at the far end of the other interface
 * within the same turn of the core, so that no queue is on the way. */
SEC("tc")
int through_skb(struct __sk_buff *skb)
{
	__u32 first = 0, *to = bpf_map_lookup_elem(&next, &first);

	if (!to) /* there always is */
		return TCX_DROP;
	count(skb);
	return onward(skb, *to);
}

/* In the driver, where packets are frames that the kernel has made nothing of yet: several are
 * sent on together. */
SEC("xdp.frags")
int through(struct xdp_md *xdp)
{
	__u32 first = 0, *to = bpf_map_lookup_elem(&next, &first);
	struct count *c = bpf_map_lookup_elem(&passed, &first);

	if (!to || !c) /* there always are */
		return XDP_DROP;
	c->packets++;
	c->bytes += bpf_xdp_get_buff_len(xdp);
	return bpf_redirect(*to, 0);
}
