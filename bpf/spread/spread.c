// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
//go:build ignore

/* What comes in at a port goes on to one of several replicas of a function, and what is of
 * one flow, both ways, to the same one. A flow that is not known goes where its headers fall;
 * it is remembered then, in a table that all ports which face the function have together, so
 * that a replica more or less changes nothing for it. Where the table has no room, headers
 * alone decide: no packet is lost for it. While a replica fails its flows go to others, and stay
 * there. A port may face another function, and have replicas where that one is led past. */
#include "../include/ended.h"
#include "../include/whither.h"
#include "../include/among.h"

char licensed[] SEC("license") = "GPL";

/* The loader gives the size, and the name by which other ports' programs find it. */
struct {
	__uint(type, MAP_RECENT);
	__uint(max_entries, 1);
	__type(key, struct flow);
	__type(value, struct stay);
} flows SEC(".maps");

SEC("tc")
int spread(struct __sk_buff *skb)
{
	__u32 to;
	struct packet p;
	struct flow f;

	count(skb);
	to = whither();
	if (unlikely(to != AMONG))
		return onward_or_end(skb, to);
	if (unlikely(read_packet(skb, &p) != READ_IP))
		__builtin_memset(&f, 0, sizeof(f));
	else {
		read_conversation(skb, &p, &f);
		order(&f);
	}
	return onward_or_end(skb, among(&flows, 0, &f));
}
