// Package iperf3 measures bulk goodput and loss with iperf3, as many independent
// client and server pairs as there are flows (Livi et al. §III), counted by the
// servers.
package iperf3

import (
	"context"
	"fmt"
	"runtime"
	"strconv"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is iperf3.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "iperf3" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.iperf3"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.TCP, trial.UDP} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	var servers, clients []*traffic.Process
	defer func() {
		for _, p := range append(servers, clients...) {
			p.Kill()
		}
	}()
	for flow := range job.Condition.Flows {
		s, err := traffic.Start(ctx, job.ServerNetns, job.ServerNode, job.Started, serverArgs(job, flow)...)
		if err != nil {
			return traffic.Sample{}, err
		}
		servers = append(servers, s)
	}
	for flow, s := range servers {
		port := job.FirstPort + flow
		ready := func(pid int) bool { return netns.Listens(pid, port) }
		if err := s.Until(ctx, fmt.Sprintf("it does not listen on TCP port %d", port), ready); err != nil {
			return traffic.Sample{}, err
		}
	}
	for flow := range servers {
		c, err := traffic.Start(ctx, job.ClientNetns, job.ClientNode, job.Started, clientArgs(job, flow)...)
		if err != nil {
			return traffic.Sample{}, err
		}
		clients = append(clients, c)
	}
	return collect(ctx, job, servers, clients)
}

func serverArgs(job traffic.Job, flow int) []string {
	args := []string{"iperf3", "--server", "--one-off", "--json", "--port", strconv.Itoa(job.FirstPort + flow)}
	if cpu, ok := core(job.Condition.Affinity, flow); ok {
		args = append(args, "--affinity", strconv.Itoa(cpu))
	}
	return args
}

func clientArgs(job traffic.Job, flow int) []string {
	c := job.Condition
	args := []string{"iperf3", "--client", job.Address.String(), "--json", "--connect-timeout", "5000",
		"--port", strconv.Itoa(job.FirstPort + flow), "--time", strconv.FormatFloat(c.DurationS, 'f', -1, 64)}
	if c.Protocol == trial.UDP {
		args = append(args, "--udp")
	}
	if c.Protocol == trial.UDP || c.OfferedBps > 0 {
		// Unlimited is 0; without it iperf3 offers 1 Mbit/s of UDP.
		args = append(args, "--bitrate", strconv.FormatFloat(c.OfferedBps/float64(c.Flows), 'f', 0, 64))
	}
	if c.PayloadSize > 0 {
		args = append(args, "--length", strconv.FormatUint(c.PayloadSize, 10))
	}
	if c.Zerocopy {
		args = append(args, "--zerocopy")
	}
	if cpu, ok := core(c.Affinity, flow); ok {
		args = append(args, "--affinity", strconv.Itoa(cpu))
	}
	return args
}

// core that a flow's processes are bound to.
func core(affinity string, flow int) (int, bool) {
	list := traffic.Cores(affinity, runtime.NumCPU())
	if len(list) == 0 {
		return 0, false
	}
	return list[flow%len(list)], true
}

// collect waits for every pair and adds the receivers' counts up.
func collect(ctx context.Context, job traffic.Job, servers, clients []*traffic.Process) (traffic.Sample, error) {
	var sum total
	sample := traffic.Sample{Histograms: map[string]string{}}
	for i, c := range clients {
		// The client is asked first: when it cannot connect, its server waits forever.
		if err := c.Wait(ctx); err != nil {
			return sample, explain(err, c.Stdout())
		}
		if err := servers[i].Wait(ctx); err != nil {
			return sample, explain(err, servers[i].Stdout())
		}
		if err := sum.add(c.Stdout(), servers[i].Stdout(), job.Condition.Protocol); err != nil {
			return sample, fmt.Errorf("flow %d: %w", i+1, err)
		}
		sample.Raw = append(sample.Raw, c.Output(), servers[i].Output())
	}
	sample.Metrics = sum.metrics(job.Condition.Protocol)
	return sample, nil
}
