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
	"runtime"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is the built-in generator and meter.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "builtin" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{feature.Root, feature.BPFXDP} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.UDP} }

// MakesFrames implements traffic.Framer.
func (Tool) MakesFrames() {}

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	l, err := loadOf(job)
	if err != nil {
		return traffic.Sample{}, err
	}
	a, err := openLane(ends{job.ClientNetns, job.ServerNetns, job.Address}, l, false)
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("builtin: %w", err)
	}
	defer a.close()
	if err := a.run(ctx); err != nil {
		return traffic.Sample{}, fmt.Errorf("builtin: %w", err)
	}
	o, err := a.outcome()
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("builtin: %w", err)
	}
	s, err := sample([]outcome{o})
	if err != nil {
		return s, fmt.Errorf("builtin: %w", err)
	}
	return s, nil
}

// loadOf a condition.
func loadOf(job traffic.Job) (load, error) {
	c := job.Condition
	l := load{
		headers: headers{to: job.Address, vlan: c.VLAN, signature: rand.Uint32()},
		pace:    pace{pattern: c.Pattern, burst: uint64(max(c.Burst, 1)), duration: time.Duration(c.DurationS * 1e9)},
		flows:   max(c.Flows, 1), port: job.FirstPort, core: coreOf(c.Affinity),
	}
	sizes, err := l.sizesOf(c)
	if err != nil {
		return l, err
	}
	l.sizes = sizes
	l.pps = c.OfferedPps
	if c.OfferedBps > 0 {
		l.pps = c.OfferedBps / 8 / mean(l.sizes)
	}
	if l.pps == 0 && (c.Pattern == poisson || c.Burst > 1) {
		return l, errors.New("builtin: a pattern of sending needs a rate; give one")
	}
	return l, nil
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

// coreOf the generator: the first that the affinity names, else the last there is,
// since what is not bound begins at the first.
func coreOf(affinity string) int {
	if cores := traffic.Cores(affinity); len(cores) > 0 {
		return cores[0]
	}
	return runtime.NumCPU() - 1
}
