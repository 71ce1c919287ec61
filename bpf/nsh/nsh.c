// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* A function that asks for it gets every frame whole behind a Network Service Header (RFC 8300),
 * over Ethernet. What comes in by the function's interface is given the header there, and what
 * comes in by the port behind that loses it again, so that nobody else on the path knows of it. */
#include "../include/kernel.h"

char licensed[] SEC("license") = "GPL";

enum { MAP_BY_CORE = 6 };

static long (*bpf_xdp_adjust_head)(struct xdp_md *xdp, int delta) = (void *)44;

enum {
	ETHERNET = 14,
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
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct header);
} header SEC(".maps");

/* What may come back: frames of this service path, with a service index that they were given, or the
 * next one. An index is never taken out, nor the number before, because of frames that the function
 * has yet. */
struct path {
	__u32 number, before;
	__u32 index, unused; /* that frames are given now */
	__u64 given[4];      /* a bit for each service index that frames were ever given */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path);
} path SEC(".maps");

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

SEC("xdp.frags")
int push(struct xdp_md *xdp)
{
	__u32 first = 0, long_form;
	struct dealt *d = bpf_map_lookup_elem(&dealt, &first);
	struct header *h = bpf_map_lookup_elem(&header, &first);
	void *data, *end;

	if (!d || !h) /* there always are */
		return XDP_DROP;
	long_form = h->length == MOST;
	if (bpf_xdp_adjust_head(xdp, long_form ? -MOST : -LEAST)) {
		d->full++;
		return XDP_DROP;
	}
	data = (void *)(long)xdp->data;
	end = (void *)(long)xdp->data_end;
	if (data + LEAST > end) /* never */
		return XDP_DROP;
	__builtin_memcpy(data, h->bytes, LEAST);
	if (long_form) {
		if (data + MOST > end)
			return XDP_DROP;
		__builtin_memcpy(data + LEAST, h->bytes + LEAST, CONTEXT);
	}
	d->frames++;
	return XDP_PASS;
}

static inline int was_given(const struct path *p, __u32 index)
{
	__u32 word = index >> 6;

	asm volatile("" : "+r"(word)); /* the kernel is to see the bound, which the compiler knows */
	return index < 256 && p->given[word & 3] >> (index & 63) & 1;
}

SEC("xdp.frags")
int pop(struct xdp_md *xdp)
{
	__u8 *data = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end, *nsh = data + ETHERNET;
	__u32 first = 0, words, index, number, type, limit, kept;
	struct dealt *d = bpf_map_lookup_elem(&dealt, &first);
	struct path *p = bpf_map_lookup_elem(&path, &first);

	if (!d || !p)
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
	kept = !was_given(p, index + 1);
	if ((number != p->number && number != p->before) || (kept && !was_given(p, index))) {
		d->unknown++;
		return XDP_DROP;
	}
	if (bpf_xdp_adjust_head(xdp, ETHERNET + words * 4)) { /* no frame is in it */
		d->wrong++;
		return XDP_DROP;
	}
	d->frames++;
	d->kept += kept;
	return XDP_PASS;
}
