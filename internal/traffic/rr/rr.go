// Package rr measures transactions, a request and its response: over one TCP
// connection a flow (tcp_rr), over UDP (udp_rr), and with a connection made and
// closed for each (tcp_crr). Every transaction's time goes into a histogram. The
// loop is closed: a flow has one transaction under way, so a slow path gets fewer
// of them. Both sides are this binary, run again inside the chain's ends, with one
// locked thread a flow; where the load has a URL, datagrams go to whoever listens there
// and gives them back (RFC 862).
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
	var raw []trial.ToolOutput
	var err error
	if s.Echo {
		raw, err = job.Alone(ctx, Command, s, &sent)
	} else {
		raw, err = job.Sides(ctx, Command, s.at(job), s, &sent, &served)
	}
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
	s := settings{
		Protocol: c.Protocol, Address: netip.AddrPortFrom(job.Address, uint16(job.FirstPort)), Flows: c.Flows,
		Request: max(1, int(c.RequestSize)), Response: max(1, int(c.ResponseSize)),
		Duration: time.Duration(c.DurationS * float64(time.Second)), Cores: traffic.Cores(c.Affinity), Busy: c.BusyLoop,
	}
	if job.Site.IsValid() {
		s.Address, s.Echo, s.Response = job.Site, true, s.Request
	}
	return s
}
