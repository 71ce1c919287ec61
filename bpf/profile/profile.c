// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* Tells with each sample of a core whom it was working for. Changes nothing. Of a packet
 * only its device is noted; whose that is, is found when a sample is taken, which is
 * rarer by far. */
#include "../include/net.h"

char licensed[] SEC("license") = "GPL";

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */
#define THIS_CORE 0xffffffffULL

struct nsproxy {
	struct net *net_ns;
} found_at_load;
struct task_struct {
	unsigned int flags;
	struct nsproxy *nsproxy;
} found_at_load;

static long (*bpf_perf_event_output)(void *ctx, void *map, __u64 flags, void *data, __u64 size) = (void *)25;
static struct task_struct *(*bpf_get_current_task_btf)(void) = (void *)158;

/* What a core is at. */
struct turn {
	__u64 device; /* struct net_device whose packets it has; 0 for none */
	__u32 softirq, polling; /* it is in one; a thread of the kernel polls a device */
};

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct turn);
} turns SEC(".maps");

static inline struct turn *turn(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&turns, &first);
}

SEC("tp_btf/softirq_entry")
int softirq_begins(__u64 *args)
{
	struct turn *t = turn();

	if (t) {
		t->softirq = 1;
		t->device = 0;
		t->polling = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int softirq_ends(__u64 *args)
{
	struct turn *t = turn();

	if (t) {
		t->softirq = 0;
		t->device = 0;
		t->polling = 0;
	}
	return 0;
}

SEC("tp_btf/napi_poll")
int poll_ends(__u64 *args)
{
	struct turn *t = turn();

	if (t) {
		t->device = 0;
		t->polling = 0;
	}
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int receive(__u64 *args)
{
	struct turn *t = turn();

	if (!t)
		return 0;
	/* Threads of the kernel poll too. What a program's own thread receives, into a
	 * device of its making, counts for the program. */
	if (!t->softirq && !t->polling)
		t->polling = !!(bpf_get_current_task_btf()->flags & KERNEL_THREAD);
	if (t->softirq || t->polling)
		t->device = (__u64)((struct sk_buff *)args[0])->dev;
	return 0;
}

/* Whom a sample is of; package profile reads it by these offsets. */
struct whom {
	__u32 task;    /* the network namespace of the thread, by its inode */
	__u32 device;  /* that of the device whose packets the core has; 0 for none */
	__u32 softirq; /* the core was in one, or polled a device */
	__u32 index;   /* of that device in its namespace */
};

struct {
	__uint(type, MAP_PERF_EVENT_ARRAY); /* as many as there are cores */
	__type(key, __u32);
	__type(value, __u32);
} samples SEC(".maps");

__u64 missed; /* samples that could not be told */

SEC("perf_event")
int sample(void *ctx)
{
	struct nsproxy *proxy = bpf_get_current_task_btf()->nsproxy;
	struct whom w = {};
	struct net *net = 0;
	struct turn *t = turn();

	if (proxy && !get(net, proxy, net_ns) && net)
		get(w.task, net, ns.inum);
	if (t && (t->softirq || t->polling)) {
		w.softirq = 1;
		if (t->device) {
			w.device = inode(&((struct net_device *)t->device)->nd_net);
			get(w.index, (struct net_device *)t->device, ifindex);
		}
	}
	if (bpf_perf_event_output(ctx, &samples, THIS_CORE, &w, sizeof(w)))
		__sync_fetch_and_add(&missed, 1);
	return 0; /* the sample has been told */
}
