/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What a NAT makes of messages of ICMP about packets, a part of nat.h. */
#ifndef NFCHAIN_NAT_ERROR_H
#define NFCHAIN_NAT_ERROR_H

/* nat_error translates an error of ICMP about a packet of a connection: who sent that is to know it again
 * (RFC 5508 section 4). The error itself comes from and goes to what the connection's packets do. What redirects a
 * connection is dropped where that is translated: who sent the packet knows neither the destination that it
 * names nor, maybe, the gateway. */
static __attribute__((noinline)) int nat_error(struct __sk_buff *skb, struct nat_work *w, __u32 i, int redirects, __u64 now)
{
	struct nat_packet *x = &w->inner, *error = &w->outer;
	struct nat_flow *e;
	int hides;

	if (i >= STEPS)
		return NAT_STRAY;
	if (nat_read(skb, x, error->transport + error->quotes) != NAT_FLOW || x->part == NAT_LATER || x->flow.version != error->flow.version ||
	    !nat_same_address(x->flow.source, error->flow.destination))
		return nat_stray(w, i);
	x->flow.slot = steps[i].nat.whose;
	nat_answer(&w->key, &x->flow);
	e = bpf_map_lookup_elem(&nat_flows, &w->key);
	if (!e || nat_idle(e, &w->key, now))
		return nat_stray(w, i);
	w->entry.becomes = e->becomes;
	if (nat_same(&w->entry.becomes, &w->key))
		return NAT_LEFT;
	if (redirects)
		return NAT_STRAY;
	w->becomes = error->flow;
	hides = !nat_same_address(w->key.source, w->entry.becomes.source);
#pragma unroll
	for (int n = 0; n < 4; n++) {
		if (hides)
			w->becomes.source[n] = w->entry.becomes.source[n];
		w->becomes.destination[n] = w->entry.becomes.destination[n];
	}
	nat_answer(&w->key, &w->entry.becomes);
	if (!nat_quote(skb, x, &w->key, error->sum) || nat_write(skb, error, &w->becomes) == NAT_UNWRITTEN)
		return NAT_UNWRITTEN;
	return NAT_DONE;
}

#endif
