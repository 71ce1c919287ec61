// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* A packet source: run in live-frame mode, each run either sends one packet that is
 * due or drops its frame. Frames are recycled, and the stack leaves in them what it
 * likes: every packet's header is written anew. */
#include "../include/kernel.h"
#include "../include/stamp.h"
#include "../include/bucket.h"
#include "../include/moment.h"

char licensed[] SEC("license") = "GPL";

enum {
	SHAPES = 64,          /* positions of an IMIX genome */
	HEADER = 72,          /* the longest is 66: Ethernet, VLAN tag, IPv6, UDP */
	EXPONENTIAL_BITS = 12,
	EXPONENTIALS = 1 << EXPONENTIAL_BITS,
	SPIN = 24,            /* readings of the clock before a frame is given up */
	PORTS = 1 << 14,      /* flows that differ in their source port alone */
	TARGETS = 1 << 8,     /* addresses that packets go to */
};

/* Constants of a run, set before the program is loaded. */
volatile const __u32 device;    /* index of the interface to send from */
volatile const __u32 signature;
volatile const __u32 ipv6;      /* else IPv4 */
volatile const __u32 tagged;    /* with a VLAN tag */
volatile const __u32 paced;     /* else as fast as it goes: each is due when it is sent */
volatile const __u32 poisson;   /* else periodic */
volatile const __u32 stamped = 1; /* else bare: for measuring what stamps cost */
volatile const __u32 flows = 1;
volatile const __u32 by_ports;     /* flows differ in their ports */
volatile const __u32 by_addresses; /* flows differ in their source address, and go to the targets in turn */
volatile const __u32 first_source; /* low 32 bits of the first source address, in the host's byte order */
volatile const __u32 targets = 1;  /* a power of two */
volatile const __u32 shapes = 1;
volatile const __u32 longest;   /* length of the frames as the run has them */
volatile const __u32 batch = 1; /* frames that the kernel sends at once */
volatile const __u32 source_port, server_port;
volatile const __u64 duration;  /* ns of the load */
volatile const __u64 grace;     /* ns after it in which late packets are still sent */
volatile const __u64 burst = 1;
volatile const __u64 gap;       /* ns from one burst to the next */
volatile const __u32 gap_part;  /* and 2^-32 ns */
volatile const __u64 limit;     /* packets of the load; 0: those that are due in its time */
volatile const __u64 change;    /* ns after the start from which the gap is another; 0: it stays */
volatile const __u64 then_gap;
volatile const __u32 then_gap_part;
volatile const __u64 overdue;   /* ns after the change in which late packets of before are still sent */
volatile const __u64 tag;       /* ns after the start; the first packet due from then on is tagged; 0: none */
volatile const __u64 scale;     /* of the steps that packets are counted by; 0: there are none */
volatile const __u64 unit;      /* of time, 2^unit ns, in which scale divides it */

/* A header as it is written, with zeroes where it varies. */
struct shape {
	__u32 length;     /* of the frame, FCS not counted */
	__u32 sum;        /* ones' complement sum of what does not vary: of the header in IPv4, of UDP in IPv6 */
	__u8 header[HEADER] __attribute__((aligned(8)));
};

struct shape templates[SHAPES];
__u32 target[TARGETS]; /* low 32 bits of where packets go, as the header has them */
__u32 exponentials[EXPONENTIALS + 1]; /* quantiles of Exp(1), times 2^16 */

/* What has happened. */
struct progress {
	__u64 start, stop;      /* when the load began and will have ended, ns */
	__u64 last;             /* when the last packet was sent */
	__u64 due;              /* of the next packet */
	__u64 due_part;
	__u64 left;             /* of the burst */
	__u64 sent, sent_bytes; /* bytes count the FCS */
	__u64 idle;             /* frames dropped because nothing was due */
	__u64 late_max;
	__u64 random;
	__u32 flow, position;
	__u32 slot, pending;    /* place in the batch, and how many it holds */
	__u64 turn;             /* number of the first packet after the change */
	__u32 done, turned, tagged, unused;
};

struct progress state;
__u32 quit; /* set from outside: send no more */
__u64 origin; /* when to begin, and from where steps count, ns */

__u64 lateness[BUCKETS]; /* of what was sent, ns after it was due */
__u64 sent_in[MOMENTS];  /* what was sent, by when it was due */

static inline __u32 draw(void)
{
	__u64 x = state.random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	state.random = x;
	return x >> 16;
}

/* A draw from Exp(1), times 2^16: by inversion, linear between the quantiles. The
 * last cell has no upper end; there the distribution begins anew. */
static inline __u64 exponential(void)
{
	__u64 sum = 0;

	for (int i = 0; i < 8; i++) {
		__u32 r = draw(), cell = r & (EXPONENTIALS - 1), part = r >> EXPONENTIAL_BITS & 0xffff;
		__u64 low = exponentials[cell];

		if (cell == EXPONENTIALS - 1) {
			sum += low;
			continue;
		}
		return sum + low + ((exponentials[cell + 1] - low) * part >> 16);
	}
	return sum;
}

/* The next packet's time. */
static inline void advance(void)
{
	if (state.left > 1) {
		state.left--;
		return;
	}
	state.left = burst;
	if (poisson) {
		/* ns with 8 bits behind the point, times 2^16 */
		__u64 mean = gap << 8 | gap_part >> 24;
		__u64 part = state.due_part + mean * exponential();

		state.due += part >> 24;
		state.due_part = part & 0xffffff;
		return;
	}
	int turned = change && state.turned;
	__u64 part = state.due_part + (turned ? then_gap_part : gap_part);

	state.due += (turned ? then_gap : gap) + (part >> 32);
	state.due_part = part & 0xffffffff;
}

/* copy a header by the largest words that there are; the compiler would take bytes. */
static inline void copy(void *to, void *from, int length)
{
	int i = 0;

#pragma unroll
	for (; i + 8 <= length; i += 8)
		*(__u64 *)(to + i) = *(__u64 *)(from + i);
	if (length & 4) {
		*(__u32 *)(to + i) = *(__u32 *)(from + i);
		i += 4;
	}
	if (length & 2)
		*(__u16 *)(to + i) = *(__u16 *)(from + i);
}

/* address a packet by its flow; gives what that adds to a checksum of the addresses. */
static inline __u64 address(void *ip, __u32 f)
{
	__u32 from = __builtin_bswap32(first_source + f), to = target[f & (targets - 1) & (TARGETS - 1)];

	*(__u32 *)(ip + (ipv6 ? 20 : 12)) = from;
	*(__u32 *)(ip + (ipv6 ? 36 : 16)) = to;
	return (__u64)from + to;
}

/* stamp a packet. */
static inline void stamp(void *at, __u64 due, __u32 flags)
{
	__u32 number = state.sent;

	*(__u32 *)(at + STAMP_SIGNATURE) = signature;
	*(__u32 *)(at + STAMP_SEQUENCE) = number;
	*(__u32 *)(at + STAMP_DUE) = due;
	*(__u16 *)(at + STAMP_DUE_HIGH) = due >> 32;
	*(__u16 *)(at + STAMP_FLAGS) = flags;
	*(__u16 *)(at + STAMP_CHECK) = ~fold((__u64)signature + number + (__u32)due + (__u16)(due >> 32) + flags);
}

/* write a packet, if the frame holds it. The stamp adds nothing to the checksum of UDP,
 * since it has one of its own. */
static inline int write(void *data, void *end, struct shape *s, __u64 due, __u32 flags)
{
	const __u32 network_at = ETHERNET + (tagged ? VLAN_TAG : 0), at = network_at + (ipv6 ? IPV6 : IPV4);
	__u32 f = state.flow, place = by_ports ? f : 0;
	__u16 from = network(source_port + place % PORTS), to = network(server_port + place / PORTS);
	void *udp = data + at;
	__u64 sum = s->sum;

	if (data + at + UDP + STAMP_SIZE > end)
		return 0;
	if (ipv6 && tagged)
		copy(data, s->header, ETHERNET + VLAN_TAG + IPV6 + UDP);
	else if (ipv6)
		copy(data, s->header, ETHERNET + IPV6 + UDP);
	else if (tagged)
		copy(data, s->header, ETHERNET + VLAN_TAG + IPV4 + UDP);
	else
		copy(data, s->header, ETHERNET + IPV4 + UDP);
	if (by_addresses)
		sum += address(data + network_at, f);
	*(__u16 *)udp = from;
	*(__u16 *)(udp + 2) = to;
	if (ipv6) {
		__u16 check = ~fold(sum + from + to);

		*(__u16 *)(udp + 6) = check ? check : 0xffff;
	} else if (by_addresses)
		*(__u16 *)(data + network_at + 10) = ~fold(sum);
	stamp(udp + UDP, due, flags);
	if (++f >= flows)
		f = 0;
	state.flow = f;
	return 1;
}

/* begin starts the load's clock with the first frame. */
static inline void begin(__u64 now)
{
	state.start = now;
	state.stop = now + duration;
	state.due = now;
	state.left = burst;
}

/* wait gives the time at which the next packet may go, or one before it is due. A frame
 * is not held up while others of its batch wait to be sent. */
static inline __u64 wait(__u64 now, __u64 due)
{
	if (state.pending)
		return now;
	for (int i = 0; i < SPIN && now < due; i++)
		now = bpf_ktime_get_ns();
	return now;
}

/* turn to the other gap when it is time. What was due before, and could not be sent in
 * time, is given up at once, so that it does not come on top of what is due then. */
static inline void turn(__u64 now)
{
	__u64 at = state.start + change;

	if (!change || state.turned || (state.due < at && now < at + overdue))
		return;
	state.turned = 1;
	state.turn = state.sent;
	state.due = at;
	state.due_part = 0;
	state.left = burst;
}

/* over tells whether the load has ended. What was due by then and can no longer be sent
 * is counted outside, from the time that the next packet was due. */
static inline int over(__u64 now)
{
	int ended = quit || (limit && state.sent >= limit);

	if (ended)
		state.stop = now;
	if ((paced && !ended ? state.due : now) < state.stop && now < state.stop + grace)
		return 0;
	state.done = 1;
	return 1;
}

/* tagging tells whether the packet that is due is the one to tag. */
static inline int tagging(__u64 due)
{
	if (!tag || state.tagged || due - state.start < tag)
		return 0;
	state.tagged = 1;
	return 1;
}

/* counted adds a packet up that was sent. */
static inline void counted(__u64 now, __u64 due)
{
	__u32 late;

	if (scale) {
		__u64 m = moment(due, origin, scale, unit);

		if (m < MOMENTS)
			sent_in[m]++;
	}
	if (!paced)
		return;
	late = bucket(now - due);
	if (late < BUCKETS)
		lateness[late]++;
	if (now - due > state.late_max)
		state.late_max = now - due;
	advance();
}

SEC("xdp")
int source(struct xdp_md *xdp)
{
	__u64 now, due;
	__u32 position = state.position;
	struct shape *s;

	if (state.done)
		return XDP_DROP;
	if (++state.slot >= batch) {
		state.slot = 0;
		state.pending = 0;
	}
	now = bpf_ktime_get_ns();
	if (unlikely(!state.start)) {
		if (now < origin)
			return XDP_DROP;
		begin(now);
	}
	turn(now);
	if (over(now))
		return XDP_DROP;
	due = now;
	if (paced) {
		due = state.due;
		if (now < due) {
			now = wait(now, due);
			if (now < due) {
				state.idle++;
				return XDP_DROP;
			}
		}
	}
	if (position >= SHAPES)
		return XDP_ABORTED;
	s = &templates[position];
	if (shapes > 1) {
		if (s->length < longest && bpf_xdp_adjust_tail(xdp, (int)s->length - (int)longest))
			return XDP_ABORTED;
		state.position = position + 1 < shapes ? position + 1 : 0;
	}
	if (stamped && !write((void *)(long)xdp->data, (void *)(long)xdp->data_end, s, due, tagging(due) ? STAMP_TAG : 0))
		return XDP_ABORTED;
	state.sent++;
	state.sent_bytes += s->length + 4;
	state.last = now;
	state.pending = 1;
	counted(now, due);
	return bpf_redirect(device, 0);
}
