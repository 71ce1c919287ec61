// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* A function that asks for it gets every frame whole behind a Network Service Header (RFC 8300),
 * over Ethernet. What comes in by the function's interface is given the header there, and what
 * comes in by the port behind that loses it again, so that nobody else on the path knows of it. Where
 * there are several paths, the port that sends a frame says by a tag which one it is on, and is told by
 * what stands before the frame which one it came back on. */
#include "../include/kernel.h"
#include "../include/headed.h"

char licensed[] SEC("license") = "GPL";

enum { MAP_HASH = 1, MAP_BY_CORE = 6 };

static long (*bpf_xdp_adjust_head)(struct xdp_md *xdp, int delta) = (void *)44;
static long (*bpf_xdp_adjust_meta)(struct xdp_md *xdp, int delta) = (void *)54;

enum {
	ETHERNET = 14,
	ADDRESSES = 12,      /* of Ethernet */
	TAG = 4,
	TAGGED = ADDRESSES + TAG,
	NSH = 8,             /* base header and service path header */
	CONTEXT = 16,        /* metadata of type 1 */
	LEAST = ETHERNET + NSH,
	MOST = ETHERNET + NSH + CONTEXT,
	TYPE_NSH = 0x4f89,   /* 0x894f, as it is in memory */
	NEXT_ETHERNET = 3,
};

/* What is put before a frame: Ethernet and NSH, as long as length says. */
struct header {
	__u32 length;
	__u8 bytes[MOST];
	__u8 tagged; /* of the first: ports say by a tag which path a frame is on, and did so ever since it was set */
	__u8 older;  /* frames that come from now on are of other paths */
};

/* By the numbers that ports have of paths. The first is for what no port says a path of, and of paths without an entry. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PATHS);
	__type(key, __u32);
	__type(value, struct header);
} header SEC(".maps");

/* What may come back: frames with a service index that they were given on a service path, or the next
 * one. Paths and indexes are not taken out when they are given no more, because of frames that the function has yet. */
struct path {
	__u32 number;   /* that ports have of it; 0 where they have none */
	__u32 index;    /* that frames are given now */
	__u32 older, unused; /* frames are given none now */
	__u64 given[4]; /* a bit for each service index that frames were ever given */
};

enum { SERVICE_PATHS = 1024 };

/* By their service path identifiers. */
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, SERVICE_PATHS);
	__type(key, __u32);
	__type(value, struct path);
} paths SEC(".maps");

/* What became of frames. */
struct dealt {
	__u64 frames;  /* went on, with the header or without it */
	__u64 kept;    /* of these, the function left the service index as it was */
	__u64 plain;   /* dropped: there is no NSH */
	__u64 wrong;   /* dropped: the header is malformed, or what is in it is no Ethernet frame */
	__u64 unknown; /* dropped: another service path, or an index that no frame was given */
	__u64 expired; /* dropped: the service index or the hop limit has come to an end */
	__u64 full;    /* dropped: there was no room for the header */
};

struct {
	__uint(type, MAP_BY_CORE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dealt);
} dealt SEC(".maps");

/* put a header of a length before a frame from whose addresses on a tag was left out, if it had one. */
static inline int put(struct xdp_md *xdp, const struct header *h, const __u32 length, int tagged)
{
	void *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
	__u32 *to = data + length, *from = to - 1, a, b, c;

	if (tagged) {
		if (data + length + ADDRESSES > end) /* never: it was looked at before */
			return XDP_DROP;
		a = from[0];
		b = from[1];
		c = from[2];
		to[0] = a;
		to[1] = b;
		to[2] = c;
	}
	if (data + length > end)
		return XDP_DROP;
	__builtin_memcpy(data, h->bytes, length);
	return XDP_PASS;
}

SEC("xdp.frags")
int push(struct xdp_md *xdp)
{
	__u8 *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
	__u32 first = 0, number;
	struct dealt *d = bpf_map_lookup_elem(&dealt, &first);
	struct header *h = bpf_map_lookup_elem(&header, &first), *on;
	int tagged, verdict;

	if (!d || !h) /* there always are */
		return XDP_DROP;
	tagged = h->tagged && data + TAGGED <= end && *(__u16 *)(data + ADDRESSES) == TAG_TYPE && data[TAGGED - 2] == TAG_MARK;
	if (tagged) {
		number = data[TAGGED - 1];
		on = bpf_map_lookup_elem(&header, &number);
		if (on && on->length)
			h = on;
	}
	if (h->length == MOST) {
		if (bpf_xdp_adjust_head(xdp, tagged ? TAG - MOST : -MOST))
			goto full;
		verdict = put(xdp, h, MOST, tagged);
	} else {
		if (bpf_xdp_adjust_head(xdp, tagged ? TAG - LEAST : -LEAST))
			goto full;
		verdict = put(xdp, h, LEAST, tagged);
	}
	d->frames++;
	return verdict;
full:
	d->full++;
	return XDP_DROP;
}

static inline int was_given(const struct path *p, __u32 index)
{
	__u32 word = index >> 6;

	asm volatile("" : "+r"(word)); /* the kernel is to see the bound, which the compiler knows */
	return index < 256 && p->given[word & 3] >> (index & 63) & 1;
}

/* tell the port which path a frame is on, by the header that it came back with. Who takes it for another's is a port that
 * does not ask. */
static inline void tell(struct xdp_md *xdp, __u32 number)
{
	struct told *t;

	if (!number || bpf_xdp_adjust_meta(xdp, -(int)sizeof(*t)))
		return;
	t = (void *)(long)xdp->data_meta;
	if ((void *)(t + 1) > (void *)(long)xdp->data)
		return;
	t->mark = TOLD_MARK;
	t->number = number;
}

SEC("xdp.frags")
int pop(struct xdp_md *xdp)
{
	__u8 *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end, *nsh = data + ETHERNET;
	__u32 first = 0, words, index, number, type, limit, kept;
	struct dealt *d = bpf_map_lookup_elem(&dealt, &first);
	struct path *p;

	if (!d)
		return XDP_DROP;
	if (data + LEAST > end || *(__u16 *)(data + 12) != TYPE_NSH) {
		d->plain++;
		return XDP_DROP;
	}
	/* |Ver|O|U|    TTL    |   Length  |U|U|U|U|MD Type| Next Protocol | (RFC 8300 section 2.2) */
	limit = (nsh[0] & 0xf) << 2 | nsh[1] >> 6;
	words = nsh[1] & 0x3f;
	type = nsh[2] & 0xf;
	if (nsh[0] >> 6 || nsh[3] != NEXT_ETHERNET || words < NSH / 4 || (type != 2 && (type != 1 || words != (NSH + CONTEXT) / 4))) {
		d->wrong++;
		return XDP_DROP;
	}
	number = nsh[4] << 16 | nsh[5] << 8 | nsh[6];
	index = nsh[7];
	if (!index || limit == 1) {
		d->expired++;
		return XDP_DROP;
	}
	p = bpf_map_lookup_elem(&paths, &number);
	kept = p && !was_given(p, index + 1);
	if (!p || (kept && !was_given(p, index))) {
		d->unknown++;
		return XDP_DROP;
	}
	if (bpf_xdp_adjust_head(xdp, ETHERNET + words * 4)) { /* no frame is in it */
		d->wrong++;
		return XDP_DROP;
	}
	tell(xdp, p->number);
	d->frames++;
	d->kept += kept;
	return XDP_PASS;
}
