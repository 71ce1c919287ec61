// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* Notes where cores are, at every tick of a clock. */
#include "../include/kernel.h"
#include "../include/place.h"

char licensed[] SEC("license") = "GPL";

static inline void took(__u32 number, __u64 ns) {}

#include "../include/turn.h"

enum { MAP_STACK_TRACE = 7, USER_STACK = 1 << 8, DEPTH = 127 };

static __u64 (*bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*bpf_get_current_comm)(void *to, __u32 size) = (void *)16;
static long (*bpf_get_stackid)(void *context, void *map, __u64 flags) = (void *)27;
static __u64 (*bpf_get_current_task)(void) = (void *)35;

struct nsproxy {
	struct net *net_ns;
} found_at_load;
struct task_struct {
	struct nsproxy *nsproxy;
} found_at_load;

struct frames {
	__u64 at[DEPTH];
};

struct {
	__uint(type, MAP_STACK_TRACE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct frames);
} stacks SEC(".maps");

/* What was found; a stack below 0 is none. */
struct sample {
	__s32 kernel, user;
	__u32 process, number; /* of the namespace, and one; 0 is none of the chain's */
	char command[16];
};

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 16384);
	__type(key, struct sample);
	__type(value, __u64);
} samples SEC(".maps");

__u64 taken, idle, lost;

/* of_task is the number of the namespace that a program runs in. */
static inline __u32 of_task(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct nsproxy *proxy = 0;
	struct net *net = 0;
	__u32 inum = 0, *number;

	if (get(proxy, task, nsproxy) || !proxy || get(net, proxy, net_ns) || !net || get(inum, net, ns.inum))
		return 0;
	number = bpf_map_lookup_elem(&namespaces, &inum);
	return number ? *number + 1 : 0;
}

SEC("perf_event")
int tick(void *context)
{
	__u32 first = 0;
	struct turn *t = bpf_map_lookup_elem(&turns, &first);
	int inside = t && t->inside;
	struct sample s = {};
	__u64 one = 1, *count;

	s.process = bpf_get_current_pid_tgid() >> 32;
	if (!s.process && !inside) {
		__sync_fetch_and_add(&idle, 1);
		return 0;
	}
	__sync_fetch_and_add(&taken, 1);
	s.number = inside ? t->number : of_task();
	bpf_get_current_comm(s.command, sizeof(s.command));
	s.kernel = bpf_get_stackid(context, &stacks, 0);
	s.user = inside ? -1 : bpf_get_stackid(context, &stacks, USER_STACK);
	count = bpf_map_lookup_elem(&samples, &s);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&samples, &s, &one, 1 /* unless another core was first */)) {
		count = bpf_map_lookup_elem(&samples, &s);
		if (count)
			__sync_fetch_and_add(count, 1);
		else
			__sync_fetch_and_add(&lost, 1);
	}
	return 0;
}
