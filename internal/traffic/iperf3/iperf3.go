// Package iperf3 measures bulk goodput and loss with iperf3, as many independent
// client and server pairs as there are flows (Livi et al. §III), counted by the
// servers.
package iperf3

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is iperf3.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "iperf3" }

// Redirects implements traffic.Redirected.
func (Tool) Redirects() {}

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.iperf3"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.TCP, trial.UDP} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, traffic.WholeSeconds(job.Condition.DurationS))
	defer cancel()
	if err := job.PortsFree(); err != nil {
		return traffic.Sample{}, err
	}
	pairs := make([]pair, job.Condition.Flows)
	defer killAll(pairs)
	if err := start(ctx, job, pairs); err != nil {
		return traffic.Sample{}, err
	}
	if err := wait(ctx, job.Condition.Protocol, pairs); err != nil {
		return traffic.Sample{}, err
	}
	return collect(job.Condition, pairs), nil
}

// start starts every server, and the clients once all servers listen.
func start(ctx context.Context, job traffic.Job, pairs []pair) (err error) {
	for flow := range pairs {
		if pairs[flow].server, err = job.StartServer(ctx, serverArgs(job, flow)...); err != nil {
			return err
		}
	}
	for flow := range pairs {
		s, port := pairs[flow].server, job.ListenPort()+flow
		listens := func() bool { return netns.Listens(s.PID(), port) }
		if err := s.Until(ctx, listens, fmt.Sprintf("it does not listen on TCP port %d", port)); err != nil {
			return explain(ctx, s, err)
		}
	}
	for flow := range pairs {
		if pairs[flow].client, err = job.StartClient(ctx, clientArgs(job, flow)...); err != nil {
			return err
		}
	}
	return nil
}

func serverArgs(job traffic.Job, flow int) []string {
	args := []string{"iperf3", "--server", "--one-off", "--json", "--port", strconv.Itoa(job.ListenPort() + flow)}
	return append(args, affinity(traffic.ServerAffinity(job.Condition.Affinity), flow)...)
}

func clientArgs(job traffic.Job, flow int) []string {
	c := job.Condition
	args := []string{"iperf3", "--client", job.Address.String(), "--json", "--connect-timeout", "5000",
		"--port", strconv.Itoa(job.FirstPort + flow), "--time", strconv.FormatFloat(traffic.WholeSeconds(c.DurationS), 'f', -1, 64)}
	if c.Protocol == trial.UDP {
		args = append(args, "--udp")
	}
	if c.Protocol == trial.UDP || c.OfferedBps > 0 {
		// Unlimited is 0; without it iperf3 offers 1 Mbit/s of UDP.
		args = append(args, "--bitrate", strconv.FormatFloat(math.Ceil(c.OfferedBps/float64(c.Flows)), 'f', 0, 64))
	}
	if c.PayloadSize > 0 {
		args = append(args, "--length", strconv.FormatUint(c.PayloadSize, 10))
	}
	if c.Zerocopy {
		args = append(args, "--zerocopy")
	}
	return append(args, affinity(c.Affinity, flow)...)
}

// affinity binds a flow's process to one core of its end, the flows in turn.
func affinity(of string, flow int) []string {
	cores := traffic.Cores(of)
	if len(cores) == 0 {
		return nil
	}
	return []string{"--affinity", strconv.Itoa(cores[flow%len(cores)])}
}

// collect adds up what the pairs counted.
func collect(c trial.Condition, pairs []pair) traffic.Sample {
	s := traffic.Sample{Histograms: map[string]string{}}
	var sum total
	var flows []flow
	warned := map[string]bool{}
	if whole := traffic.WholeSeconds(c.DurationS); whole != c.DurationS {
		s.Warnings = append(s.Warnings, fmt.Sprintf("iperf3 counts whole seconds: the trial took %v s", whole))
	}
	for _, p := range pairs {
		sum.add(p.counted)
		flows = append(flows, p.counted)
		s.Raw = append(s.Raw, p.client.Output(), p.server.Output())
		for _, w := range append(warnings(p.client.Stderr()), warnings(p.server.Stderr())...) {
			if !warned[w] {
				s.Warnings = append(s.Warnings, w)
			}
			warned[w] = true
		}
	}
	s.Metrics = sum.metrics(c.Protocol)
	s.Series = series(flows)
	return s
}
