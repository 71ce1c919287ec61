// Package trace looks at a live chain while packets pass: what each hop took in and
// gave on, what it dropped and why, and how long packets took to it. It sends marked
// packets of its own if asked, and knows those at every interface by a signature in
// their payload; of others it has the interfaces' counters. Its programs sit at the
// kernel's tracepoints, so that they see every wiring whose packets the stack handles,
// and go with their descriptors, however this process ends. It changes no chain.
package trace

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/trial"
)

// Chain is what is looked at.
type Chain struct {
	Name, Wiring string
	// Nodes in path order, both ends included.
	Nodes []Node
	// ByTime tells that packets may come to nodes in another order than that: who explains a flow tells them by when they did.
	ByTime bool
	// Between is the namespace of what the wiring has between nodes, empty where it has
	// none: packets can end there too.
	Between string
	// Ports of that are the other ends of nodes' interfaces, by their names.
	Ports map[string]resource.Interface
	// Failing are functions that fail.
	Failing []Failing
	// Address to which packets are sent, and Server where they arrive: absent, the same.
	Address, Server netip.Addr
	// Path is how packets come to take these nodes, where there are several paths.
	Path string
	// Unmet says of each rule that could have given them another path why it did not.
	Unmet []string
	// Taps are namespaces where copies of packets end, by their names in the chain.
	Taps map[string]string
	// Probes is the signature of packets that are sent through functions to see whether they live, and end in the
	// forwarder: they are no drops. 0 where there are none.
	Probes uint64
	// Counted gives what each node's function has counted by now, and under [WiringHop] those
	// without a node; nil for nothing.
	Counted func(context.Context) (map[string]Counted, error)
}

// Failing is a function that fails, as are all replicas of it.
type Failing struct {
	Function string
	// Why it fails, and what its file says of packets meanwhile.
	Why string
	// Blocks tells that these end before it.
	Blocks bool
}

// Counted is what a function itself counts.
type Counted struct {
	Rules []RuleCount
	Steps []StepCount
	// Losses are packets that the function's program dropped, by why.
	Losses []Loss
}

// Loss is how many packets a function dropped for one reason.
type Loss struct {
	Cause   string
	Packets uint64
}

// Node is an endpoint or a function.
type Node struct {
	Name, Kind, Namespace string
	// Of is the function that the node is a replica of, one of several; "" for all others.
	Of string
	// Aside tells that there are ways past it.
	Aside bool
	// OneWay tells that what goes from the last end to the first does not come by it.
	OneWay bool
	// Interfaces are the chain's there, in path order.
	Interfaces []string
	// Arrivals are where the kernel tells of what comes in by one of them, if not there.
	Arrivals map[string]resource.Interface
	// Hands tells that programs hand packets on from one interface to the other, of which the
	// kernel tells nothing: what came there is what came to the nodes beside it, but where it is Handed, and
	// what left it is what came to the next one.
	Hands bool
	// Handed are those of them by which packets come in that the kernel tells of nowhere, because a
	// forwarder hands them to the node.
	Handed map[string]bool
	// PassesOn tells that a program takes packets there by sockets, whoever they are for, and passes them on.
	PassesOn bool
}

// Options are how to look.
type Options struct {
	// Send is how many packets to send; with none, only others' are looked at.
	Send int
	// Rate of sending, packets per second; 0 is as fast as a socket takes them.
	Rate float64
	// Payload is the bytes behind the UDP header, at least [MinPayload].
	Payload int
	// For is how long to look where nothing is sent.
	For time.Duration
	// Patience is how long after the last packet that arrived or was dropped the rest
	// are waited for.
	Patience time.Duration
	// Softirq splits the time of softirqs by namespace, which slows packets down.
	Softirq bool
	// TTL of the packets sent; 0 is the system's.
	TTL int
	// CodePoint of the packets sent (RFC 2474).
	CodePoint uint8
}

// Run looks at a chain: for as long as asked, or until the packets sent have all
// arrived, been dropped or been waited for. When ctx ends, what was seen until then
// comes back.
func Run(ctx context.Context, c Chain, o Options) (Report, error) {
	return watch(ctx, c, o, func() (load, error) { return newSender(c, o) })
}

// load is packets of our own, or none.
type load interface {
	// mark is their signature, 0 if there are none.
	mark() uint32
	// run sends them, and returns when nothing more is to be seen.
	run(context.Context, *probe)
	// tell what was sent.
	tell(*Report)
	close()
}

// watch a chain while a load, which begin makes, runs.
func watch(ctx context.Context, c Chain, o Options, begin func() (load, error)) (Report, error) {
	v, err := open(c)
	if err != nil {
		return Report{}, err
	}
	defer v.close()
	s, err := begin()
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	p, err := newProbe(v, o, s.mark(), c.Probes)
	if err != nil {
		return Report{}, err
	}
	defer p.close()
	before, err := v.read(context.WithoutCancel(ctx), c)
	if err != nil {
		return Report{}, err
	}
	began := time.Now()
	s.run(ctx, p)
	took := time.Since(began)
	after, err := v.read(context.WithoutCancel(ctx), c)
	if err != nil {
		return Report{}, err
	}
	seen, err := p.read()
	if err != nil {
		return Report{}, fmt.Errorf("read what was seen: %w", err)
	}
	r := Report{SchemaVersion: trial.SchemaVersion, Chain: c.Name, Wiring: c.Wiring, Path: c.Path, DurationS: took.Seconds()}
	s.tell(&r)
	r.fill(v, seen, before, after)
	return r, nil
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
