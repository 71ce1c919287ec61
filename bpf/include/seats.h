/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Several functions with replicas, to which a program may lead: each has a seat there, by whose number it is led to in the
 * place of a port. */
#ifndef NFCHAIN_SEATS_H
#define NFCHAIN_SEATS_H

#include "among.h"

#define __array(name, value) typeof(value) *name[]

enum { MAP_OF_MAPS = 12 }; /* an array of others */

/* Tables of flows of the functions, by their seats. */
struct {
	__uint(type, MAP_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, MAP_RECENT);
		__uint(max_entries, 1);
		__uint(key_size, sizeof(struct flow));
		__uint(value_size, sizeof(struct stay));
	});
} tables SEC(".maps");

/* replica_of a seat that a flow goes to: the port that it is behind. */
static __attribute__((noinline)) __u32 replica_of(__u32 seat, struct flow *f)
{
	void *flows = bpf_map_lookup_elem(&tables, &seat);

	return flows && f ? among(flows, seat, f) : 0;
}

#endif
