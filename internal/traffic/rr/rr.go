// Package rr measures transactions, a request and its response: over one TCP
// connection a flow (tcp_rr), over UDP (udp_rr), and with a connection made and
// closed for each (tcp_crr). Every transaction's time goes into a histogram. The
// loop is closed: a flow has one transaction under way, so a slow path gets fewer
// of them. Both sides are this binary, run again inside the chain's ends, with one
// locked thread a flow.
package rr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is the built-in measurement of transactions.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "rr" }

// Requires implements traffic.Tool: nothing but this binary.
func (Tool) Requires() []string { return nil }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.TCPRR, trial.UDPRR, trial.TCPCRR} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	if err := job.PortsFree(); err != nil {
		return traffic.Sample{}, err
	}
	s := settingsOf(job)
	args, err := s.args("server")
	if err != nil {
		return traffic.Sample{}, err
	}
	server, err := job.StartServer(ctx, traffic.Bound(job.Condition.Affinity, args)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer server.Kill()
	ready := func() bool { return bytes.Contains(server.Stderr(), []byte(greeting)) }
	if err := server.Until(ctx, ready, "it does not listen"); err != nil {
		return traffic.Sample{}, err
	}
	if args, err = s.args("client"); err != nil {
		return traffic.Sample{}, err
	}
	client, err := job.StartClient(ctx, traffic.Bound(job.Condition.Affinity, args)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer client.Kill()
	if err := client.Wait(ctx); err != nil {
		return traffic.Sample{}, err
	}
	if err := server.Stop(ctx); err != nil {
		return traffic.Sample{}, err
	}
	return collect(s, client, server)
}

// collect reads what both sides counted.
func collect(s settings, client, server *traffic.Process) (traffic.Sample, error) {
	var sent sentReport
	var served servedReport
	if err := read(client, &sent); err != nil {
		return traffic.Sample{}, err
	}
	if err := read(server, &served); err != nil {
		return traffic.Sample{}, err
	}
	sample, err := sent.sample(s, served)
	sample.Raw = []trial.ToolOutput{client.Output(), server.Output()}
	return sample, err
}

func read(p *traffic.Process, report any) error {
	if err := json.Unmarshal(p.Stdout(), report); err != nil {
		return fmt.Errorf("%s printed no result (%w): %q", p, err, traffic.Excerpt(p.Stdout()))
	}
	return nil
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
