// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* Looks on where packets pass and where they end; changes nothing. */
#include "../include/kernel.h"
#include "../include/place.h"
#include "../include/probe.h"
#include "../include/skb.h"
#include "../include/stamp.h"

char licensed[] SEC("license") = "GPL";

volatile const __u32 signature; /* 0: there are no packets of our own */
volatile const __u64 probes; /* signature of packets that look whether functions live, of which the upper half stays while a chain is edited and goes on being watched; 0: there are none */
volatile const __u32 between; /* inode of the namespace in which those end, which is no drop; 0: there is none */
volatile const __u32 stride = 1; /* the time of every so manieth packet is kept */
volatile const __u32 samples = 1; /* so many of a point */

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, struct point);
	__type(value, __u32); /* its number */
} points SEC(".maps");

struct amount {
	__u64 packets, bytes;
};

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32); /* a point's number */
	__type(value, struct amount);
} passed SEC(".maps");

/* How long packets took to a point, ns and one, by point and packet; 0 is none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} times SEC(".maps");

/* Why and where packets end. */
struct cause {
	__u32 netns, ifindex, reason, own;
	__u64 location;
};

struct {
	__uint(type, MAP_PERCPU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct cause);
	__type(value, struct amount);
} drops SEC(".maps");

/* What XDP lost, which no packet tells of. */
enum { XDP_EXCEPTION, XDP_SENDING, XDP_REDIRECTING };
struct frame_cause {
	__u32 netns, ifindex, kind;
	__s32 detail; /* the program's verdict, or the error */
};

struct {
	__uint(type, MAP_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct frame_cause);
	__type(value, struct amount);
} frames SEC(".maps");

__u64 uncounted; /* ends for which no room was left */

struct mark {
	__u32 signature, sequence, due;
	__u16 due_high;
};

enum { MARK = 14 }; /* bytes of a mark */

enum { NSH_FRAME = 3 }; /* its next protocol: Ethernet */

/* Protocols by their numbers (IANA), and behind how much of them the mark is, as internal/trace/flow.go writes them: behind
 * a request of DCCP, behind the header of SCTP, a chunk that asks for an association and the head of a parameter, and
 * behind 8 bytes of others, as the headers of UDP and of echos of ICMP are long. TCP tells the length of its header: in the upper
 * half of that byte, in words. */
enum { IS_TCP = 6, IS_DCCP = 33, IS_SCTP = 132 };
enum { TCP_OFFSET = 12, DCCP_REQUEST = 20, SCTP_REQUEST = 12 + 20 + 4, OTHER = 8 };

/* behind is how much of a protocol is before the mark, given the byte where TCP tells that. */
static inline __u32 behind(__u8 protocol, __u8 offset)
{
	switch (protocol) {
	case IS_TCP:
		return (offset >> 4) * 4;
	case IS_DCCP:
		return DCCP_REQUEST;
	case IS_SCTP:
		return SCTP_REQUEST;
	}
	return OTHER;
}

/* read the mark of a packet whose IP header is there, and which ends there: what is behind
 * that is left of another packet. */
static inline int mark_at(const unsigned char *ip, const unsigned char *end, struct mark *m)
{
	unsigned char head[10], offset = 0;
	const unsigned char *payload;
	__u8 protocol;

	if (bpf_probe_read_kernel(head, sizeof(head), ip))
		return 0;
	if (!(head[0] >> 6) && head[3] == NSH_FRAME) { /* a frame is behind a header of RFC 8300 */
		ip += (head[1] & 0x3f) * 4 + ETHERNET;
		if (bpf_probe_read_kernel(head, sizeof(head), ip))
			return 0;
	}
	if (head[0] >> 4 != 4 && head[0] >> 4 != 6)
		return 0;
	protocol = head[0] >> 4 == 4 ? head[9] : head[6];
	payload = ip + (head[0] >> 4 == 4 ? (head[0] & 15) * 4 : IPV6);
	if (protocol == IS_TCP && bpf_probe_read_kernel(&offset, 1, payload + TCP_OFFSET))
		return 0;
	payload += behind(protocol, offset);
	if (payload + MARK > end || bpf_probe_read_kernel(m, MARK, payload))
		return 0;
	return m->signature == signature;
}

/* marked looks where an IP header may be: where the stack has seen one, and where the
 * data of a packet begins that comes from a driver. */
static inline int marked(const unsigned char *network, const unsigned char *data, const unsigned char *end, struct mark *m)
{
	return mark_at(network, end, m) || (data != network && mark_at(data, end, m));
}

/* mine tells whether a packet is one of ours. */
static inline int mine(struct sk_buff *skb, struct mark *m)
{
	unsigned char *head, *data;
	unsigned int tail;
	__u16 network;

	if (!signature || get(head, skb, head) || get(network, skb, network_header) || get(data, skb, data) || get(tail, skb, tail))
		return 0;
	return marked(head + network, data, head + tail, m);
}

/* probes_life tells whether a packet is one of those, which somebody expects to end. What they carry is at the end. */
static inline int probes_life(struct sk_buff *skb)
{
	unsigned char *head;
	unsigned int tail;
	__u64 carried; /* the first of it */

	if (!probes || get(head, skb, head) || get(tail, skb, tail))
		return 0;
	return !bpf_probe_read_kernel(&carried, sizeof(carried), head + tail - sizeof(struct probe)) && carried >> 32 == probes >> 32;
}

static inline void count(struct amount *a, __u32 packets, __u32 bytes)
{
	a->packets += packets;
	a->bytes += bytes;
}

/* note that a packet of ours passes a point. */
static inline void note(__u32 number, const struct mark *m, __u32 length)
{
	struct amount *a = bpf_map_lookup_elem(&passed, &number);
	__u64 took, *time;
	__u32 slot;

	if (!a)
		return;
	count(a, 1, length);
	slot = m->sequence / stride;
	if (m->sequence % stride || slot >= samples)
		return;
	slot += number * samples;
	time = bpf_map_lookup_elem(&times, &slot);
	took = (bpf_ktime_get_ns() - (m->due | (__u64)m->due_high << 32)) & STAMP_CLOCK;
	if (time && !*time)
		*time = took + 1;
}

static inline void pass(struct sk_buff *skb, struct net_device *dev, __u32 out)
{
	struct point p = {.out = out};
	struct mark m = {};
	__u32 *number;

	if (!marked(skb->head + skb->network_header, skb->data, skb->head + skb->tail, &m))
		return;
	stands(dev, &p);
	number = bpf_map_lookup_elem(&points, &p);
	if (number)
		note(*number, &m, skb->len);
}

SEC("tp_btf/netif_receive_skb")
int receive(__u64 *args)
{
	struct sk_buff *skb = (void *)args[0];

	pass(skb, skb->dev, 0);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int transmit(__u64 *args)
{
	pass((void *)args[0], (void *)args[1], 1);
	return 0;
}

volatile const __u32 point; /* number of the one that a packet socket is at */

enum { PACKET_OUTGOING = 4 };

/* carried_by a frame that a packet socket is shown: its mark. */
static inline int carried_by(struct __sk_buff *skb, struct mark *m)
{
	__u32 at = ETHERNET;
	__u8 head[10], offset = 0, protocol;

	if (bpf_skb_load_bytes(skb, at, head, sizeof(head)))
		return 0;
	at += head[0] >> 4 == 4 ? (head[0] & 15) * 4 : IPV6;
	protocol = head[0] >> 4 == 4 ? head[9] : head[6];
	if (head[0] >> 4 != 4 && head[0] >> 4 != 6)
		return 0;
	if (protocol == IS_TCP && bpf_skb_load_bytes(skb, at + TCP_OFFSET, &offset, 1))
		return 0;
	at += behind(protocol, offset);
	return !bpf_skb_load_bytes(skb, at, m, MARK) && m->signature == signature;
}

/* What comes in where a forwarder hands packets to a node: the kernel tells of it at packet sockets
 * alone. They take no copy. */
SEC("socket")
int shown(struct __sk_buff *skb)
{
	struct mark m = {};

	if (skb->pkt_type != PACKET_OUTGOING && carried_by(skb, &m))
		note(point, &m, skb->len - ETHERNET);
	return 0;
}

/* known tells whether a place is in the chain. */
static inline int known(struct point *p) { return p->netns && bpf_map_lookup_elem(&namespaces, &p->netns); }

/* place finds where a packet is. Its device is the first to tell; where there is none,
 * or something else is kept in its stead, its socket or its route knows. */
static inline void place(struct sk_buff *skb, struct sock *receiver, struct point *p)
{
	struct net_device *dev = 0;
	struct sock *sk = receiver;
	unsigned long route = 0;

	get(dev, skb, dev);
	at(dev, p);
	if (known(p))
		return;
	p->ifindex = 0;
	if (!sk)
		get(sk, skb, sk);
	if (sk)
		p->netns = inode(&sk->__sk_common.skc_net);
	if (known(p))
		return;
	get(route, skb, _skb_refdst);
	route &= ~7UL;
	if (route && !get(dev, (struct dst_entry *)route, dev))
		at(dev, p);
}

static inline void drop(struct sk_buff *skb, __u64 location, __u32 reason, struct sock *receiver)
{
	struct amount *a, none = {};
	struct cause c = {.reason = reason, .location = location};
	struct point p = {};
	struct mark m = {};
	__u32 length;

	c.own = mine(skb, &m);
	place(skb, receiver, &p);
	if (!c.own && (!known(&p) || (p.netns == between && probes_life(skb))))
		return;
	c.netns = p.netns;
	c.ifindex = p.ifindex;
	a = bpf_map_lookup_elem(&drops, &c);
	if (!a) {
		bpf_map_update_elem(&drops, &c, &none, 0);
		a = bpf_map_lookup_elem(&drops, &c);
	}
	if (!a) {
		__sync_fetch_and_add(&uncounted, 1);
		return;
	}
	get(length, skb, len);
	count(a, 1, length);
}

/* Newer kernels tell the socket that the packet was meant for. */
SEC("raw_tp/kfree_skb")
int ended_at_socket(__u64 *args)
{
	drop((void *)args[0], args[1], args[2], (void *)args[3]);
	return 0;
}

SEC("raw_tp/kfree_skb")
int ended(__u64 *args)
{
	drop((void *)args[0], args[1], args[2], 0);
	return 0;
}

static inline void lost(struct net_device *dev, __u32 kind, __s32 detail, __u32 packets)
{
	struct frame_cause c = {.kind = kind, .detail = detail};
	struct amount *a, none = {};
	struct point p = {};

	if (!packets)
		return; /* as nearly always */
	at(dev, &p);
	if (!known(&p))
		return;
	c.netns = p.netns;
	c.ifindex = p.ifindex;
	a = bpf_map_lookup_elem(&frames, &c);
	if (!a) {
		bpf_map_update_elem(&frames, &c, &none, 0);
		a = bpf_map_lookup_elem(&frames, &c);
	}
	if (a)
		count(a, packets, 0);
	else
		__sync_fetch_and_add(&uncounted, packets);
}

SEC("raw_tp/xdp_exception")
int frame_exception(__u64 *args)
{
	lost((void *)args[0], XDP_EXCEPTION, args[2], 1);
	return 0;
}

SEC("raw_tp/xdp_bulk_tx")
int frames_back(__u64 *args)
{
	lost((void *)args[0], XDP_SENDING, args[3], args[2]);
	return 0;
}

SEC("raw_tp/xdp_devmap_xmit")
int frames_on(__u64 *args)
{
	lost((void *)args[1], XDP_SENDING, args[4], args[3]);
	return 0;
}

SEC("raw_tp/xdp_redirect_err")
int frame_nowhere(__u64 *args)
{
	lost((void *)args[0], XDP_REDIRECTING, args[3], 1);
	return 0;
}

/* The time of softirqs by namespace. */
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32); /* the namespace's number, and one */
	__type(value, __u64);
} spent SEC(".maps");

static inline void took(__u32 number, __u64 ns)
{
	__u64 *sum = bpf_map_lookup_elem(&spent, &number);

	if (sum)
		*sum += ns;
}

#include "../include/turn.h"
