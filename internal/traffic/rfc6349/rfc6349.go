// Package rfc6349 tests TCP by the method of RFC 6349: the baseline round-trip time
// (§3.1) and the bottleneck's bandwidth (§3.2) first, then a transfer, and from
// them the three metrics of §4: transfer time ratio, efficiency and buffer delay.
// Both sides are this binary, run again inside the chain's ends; what the sender
// sent again and its round-trip times are the kernel's own (TCP_INFO).
package rfc6349

import (
	"context"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// The lengths of what goes before the transfer, and of what follows it.
const (
	baselineFor = time.Second
	blastFor    = 2 * time.Second
	drainFor    = 5 * time.Second
)

// shortest transfer that the RFC wants, which is to be longer than this (§5).
const shortest = 30

// Tool is the built-in test of TCP.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "rfc6349" }

// Redirects implements traffic.Redirected.
func (Tool) Redirects() {}

// Requires implements traffic.Tool: nothing but this binary.
func (Tool) Requires() []string { return nil }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.RFC6349} }

// settings are a trial as both sides' command lines carry it.
type settings struct {
	// Address of the server and its port.
	Address netip.AddrPort `json:"address"`
	// Connections of the transfer.
	Connections int           `json:"connections"`
	Duration    time.Duration `json:"duration_ns"`
	// Write is the bytes of one write.
	Write int `json:"write_bytes"`
	// Blast measures the bottleneck's bandwidth, where it is not known.
	Blast bool `json:"blast"`
}

// defaultWrite is the bytes of one write where nobody says.
const defaultWrite = 128 << 10

// at is where the server of a job listens.
func (s settings) at(job traffic.Job) settings {
	s.Address = netip.AddrPortFrom(job.Listen(), uint16(job.ListenPort()))
	return s
}

func settingsOf(job traffic.Job) settings {
	c := job.Condition
	s := settings{
		Address: netip.AddrPortFrom(job.Address, uint16(job.FirstPort)), Connections: c.Flows, Write: defaultWrite,
		Duration: time.Duration(c.DurationS * float64(time.Second)), Blast: c.OfferedBps == 0,
	}
	if c.PayloadSize > 0 {
		s.Write = int(c.PayloadSize)
	}
	return s
}

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	c := job.Condition
	ctx, cancel := traffic.Deadline(ctx, c.DurationS+(baselineFor+blastFor+drainFor).Seconds())
	defer cancel()
	var sent sentReport
	var received receivedReport
	raw, err := job.Sides(ctx, Command, settingsOf(job).at(job), settingsOf(job), &sent, &received)
	if err != nil {
		return traffic.Sample{}, err
	}
	s, err := judge(c, !job.Address.Is4(), sent, received)
	s.Raw = raw
	return s, err
}
