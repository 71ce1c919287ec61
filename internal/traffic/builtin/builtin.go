// Package builtin is the generator and meter that nfchain brings itself: a packet
// source and a packet sink in the kernel. The source is an XDP program run in
// live-frame mode, which stamps each packet with its number and the time at which it
// was due; the sink is one on the far interface, which counts, and bins the one-way
// times. So one stream gives forwarding rate, loss, latency, its variation, order and
// duplicates, and the source's own error.
package builtin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is the built-in generator and meter.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "builtin" }

// Requires implements traffic.Tool. Without root, or where BPF is refused otherwise, packet
// sockets do the work.
func (Tool) Requires() []string { return []string{feature.NetAdmin} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.UDP} }

var _ traffic.Mixer = Tool{}

// Mix implements traffic.Mixer.
func (Tool) Mix(genome string) ([]int, error) { return parseGenome(genome) }

// Ceiling implements traffic.Framer: what the self-test finds, of which each way has half
// where both are sent by one core.
func (Tool) Ceiling(ctx context.Context, c trial.Condition) (float64, error) {
	address := netip.MustParseAddr("192.0.2.2")
	if c.IPVersion == 6 {
		address = netip.MustParseAddr("2001:db8::2")
	}
	c.Pattern, c.Burst = "", 0 // which need a rate, and are sent as fast as others
	l, err := loadTo(address, c, 0)
	if err != nil {
		return 0, err
	}
	limits, err := selfTested(ctx, l)
	if c.Bidirectional && coreOf(c.Affinity, 1) == l.core {
		limits.ceiling /= 2
	}
	return limits.ceiling, err
}

// Prepares implements traffic.Preparing: before the first load of a kind it finds out what it can send and count itself.
func (Tool) Prepares() {}

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	s, err := run(ctx, job)
	if err != nil {
		return s, fmt.Errorf("builtin: %w", err)
	}
	return s, nil
}

func run(ctx context.Context, job traffic.Job) (none traffic.Sample, err error) {
	l, e, err := loadOf(job)
	if err != nil {
		return none, err
	}
	if err := l.ask(ctx, job.Asked); err != nil {
		return none, err
	}
	l.steps = stepsOf(l.duration)
	lanes, err := openLanes(e, l, job.Condition)
	defer closeLanes(lanes)
	if err != nil {
		return none, err
	}
	l.way = lanes[0].sender.way
	limits, err := selfTested(ctx, l)
	if err != nil {
		return none, fmt.Errorf("self-test: %w", err)
	}
	ctx, cancel := traffic.Deadline(ctx, l.lasts())
	defer cancel()
	if job.Begins != nil {
		job.Begins()
	}
	outcomes, err := runLanes(ctx, lanes)
	if err != nil {
		return none, err
	}
	s, err := sample(outcomes)
	if err != nil {
		return none, err
	}
	if job.Condition.Harm != "" {
		outage(&s, outcomes)
	}
	limits.judge(&s, outcomes)
	if remark := l.way.remark(); remark != "" {
		s.Warnings = append(s.Warnings, remark)
	}
	return s, nil
}

// loadOf a condition, and the ends it goes between.
func loadOf(job traffic.Job) (l load, e ends, err error) {
	c := job.Condition
	server, err := netns.Open(job.ServerNetns)
	if err != nil {
		return l, e, err
	}
	defer server.Close()
	e = ends{from: job.ClientNetns, to: job.ServerNetns, spare: job.SpareEast, spareBack: job.SpareWest}
	if e.address, err = job.To(server, c.IPVersion); err != nil {
		return l, e, err
	}
	e.server = job.Own()
	l, err = loadTo(e.address, c, job.FirstPort)
	l.held = job.Held
	return l, e, err
}

// loadTo an address, as the condition has it.
func loadTo(address netip.Addr, c trial.Condition, port int) (load, error) {
	l := load{headers: headers{to: address, vlan: c.VLAN, signature: rand.Uint32()}, port: port, drain: drainLimit}
	err := l.shaped(c)
	return l, err
}

// shaped by a condition: the frames, and when they are due.
func (l *load) shaped(c trial.Condition) (err error) {
	l.pace = pace{pps: c.OfferedPps, pattern: c.Pattern, burst: uint64(max(c.Burst, 1)), duration: time.Duration(c.DurationS * 1e9)}
	if l.duration == 0 {
		l.duration = endless
	}
	l.flows, l.core = max(c.Flows, 1), coreOf(c.Affinity, 0)
	l.variety = varietyOf(c.FlowsBy)
	if l.sizes, err = l.sizesOf(c); err != nil {
		return err
	}
	if c.OfferedBps > 0 {
		l.pps = c.OfferedBps / 8 / mean(l.sizes)
	}
	if l.pps == 0 && (c.Pattern == poisson || c.Burst > 1) {
		return errors.New("bursts and patterns of sending need a rate; give one")
	}
	return nil
}

// sizesOf the frames of a condition, in turn.
func (l load) sizesOf(c trial.Condition) ([]int, error) {
	switch {
	case c.IMIX != "":
		return parseGenome(c.IMIX)
	case c.FrameSize > 0:
		return []int{c.FrameSize}, nil
	case c.PayloadSize > 0:
		return []int{int(c.PayloadSize) + l.transport() + udpHeader + fcs}, nil
	}
	return []int{l.smallest()}, nil
}

func mean(sizes []int) float64 {
	sum := 0
	for _, s := range sizes {
		sum += s
	}
	return float64(sum) / float64(len(sizes))
}

// coreOf the generator of a lane, the second of which is the one back: those that the
// affinity names in turn, or for its end, else the last that are allowed, since what is
// not bound begins at the first.
func coreOf(affinity string, lane int) int {
	if server := traffic.ServerAffinity(affinity); lane > 0 && server != affinity {
		return traffic.Cores(server)[0]
	}
	if cores := traffic.Cores(affinity); len(cores) > 0 {
		return cores[lane%len(cores)]
	}
	cores := traffic.Allowed()
	return cores[max(0, len(cores)-1-lane)]
}
