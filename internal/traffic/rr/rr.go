// Package rr measures transactions, a request and its response: over one TCP
// connection a flow (tcp_rr), over UDP (udp_rr), and with a connection made and
// closed for each (tcp_crr). Every transaction's time goes into a histogram. The
// loop is closed: a flow has one transaction under way, so a slow path gets fewer
// of them. Both sides are this binary, run again inside the chain's ends, with one
// locked thread a flow.
package rr

import (
	"context"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is the built-in measurement of transactions.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "rr" }

// Redirects implements traffic.Redirected.
func (Tool) Redirects() {}

// Requires implements traffic.Tool: nothing but this binary.
func (Tool) Requires() []string { return nil }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.TCPRR, trial.UDPRR, trial.TCPCRR} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	var sent sentReport
	var served servedReport
	s := settingsOf(job)
	raw, err := job.Sides(ctx, Command, s.at(job), s, &sent, &served)
	if err != nil {
		return traffic.Sample{}, err
	}
	sample, err := sent.sample(s, served)
	sample.Raw = raw
	return sample, err
}

// at is where the server of a job listens.
func (s settings) at(job traffic.Job) settings {
	s.Address = netip.AddrPortFrom(job.Listen(), uint16(job.ListenPort()))
	s.Cores = traffic.Cores(traffic.ServerAffinity(job.Condition.Affinity))
	return s
}

// settingsOf is a job as both sides are told of it.
func settingsOf(job traffic.Job) settings {
	c := job.Condition
	return settings{
		Protocol: c.Protocol, Address: netip.AddrPortFrom(job.Address, uint16(job.FirstPort)), Flows: c.Flows,
		Request: max(1, int(c.RequestSize)), Response: max(1, int(c.ResponseSize)),
		Duration: time.Duration(c.DurationS * float64(time.Second)), Cores: traffic.Cores(c.Affinity), Busy: c.BusyLoop,
	}
}
