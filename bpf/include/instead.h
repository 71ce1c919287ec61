/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where a port's packets go in place of what the chain is to be. */
#ifndef NFCHAIN_INSTEAD_H
#define NFCHAIN_INSTEAD_H

#include "kernel.h"

/* Where packets go instead while the next node fails: index of a port, 0 for nowhere else. Who
 * watches over the nodes writes it; next is what the chain is to be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} instead SEC(".maps");

#endif
