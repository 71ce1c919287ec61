// Package netperf measures with netperf: bulk goodput as its netserver counts it,
// and transactions with the percentiles that it keeps itself. Netperf prints no
// histogram, so its percentiles of several trials are not merged.
package netperf

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Tool is netperf.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "netperf" }

// ReadsWallClock implements traffic.WallClocked.
func (Tool) ReadsWallClock() {}

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.netperf"} }

// tests are netperf's names of the protocols.
var tests = map[string]string{
	trial.TCP: "TCP_STREAM", trial.UDP: "UDP_STREAM", trial.TCPRR: "TCP_RR", trial.UDPRR: "UDP_RR", trial.TCPCRR: "TCP_CRR",
}

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string {
	return []string{trial.TCP, trial.UDP, trial.TCPRR, trial.UDPRR, trial.TCPCRR}
}

// errOptions is returned for loads that netperf does not offer.
var errOptions = errors.New("netperf sends from memory as fast as it can: leave out the rate, zerocopy and busy loop, or use another tool")

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	c := job.Condition
	if c.OfferedBps > 0 || c.Zerocopy || c.BusyLoop {
		return traffic.Sample{}, errOptions
	}
	ctx, cancel := traffic.Deadline(ctx, traffic.WholeSeconds(c.DurationS))
	defer cancel()
	ports := job
	ports.Condition.Flows++ // the first is netserver's own
	if err := ports.PortsFree(); err != nil {
		return traffic.Sample{}, err
	}
	server, err := job.StartServer(ctx, serverArgs(job)...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer server.Kill()
	listens := func() bool { return netns.Listens(server.PID(), job.FirstPort) }
	if err := server.Until(ctx, listens, fmt.Sprintf("it does not listen on TCP port %d", job.FirstPort)); err != nil {
		return traffic.Sample{}, err
	}
	return flows(ctx, job)
}

// flows runs a netperf for each flow, side by side; the first that fails ends all.
func flows(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	clients := make([]*traffic.Process, job.Condition.Flows)
	for flow := range clients {
		p, err := ofFlow(job, flow).StartClient(ctx, clientArgs(job, flow)...)
		if err != nil {
			return traffic.Sample{}, err
		}
		defer p.Kill()
		clients[flow] = p
	}
	ended := make(chan error, len(clients))
	for _, p := range clients {
		go func() { ended <- p.Wait(ctx) }()
	}
	for range clients {
		if err := <-ended; err != nil {
			return traffic.Sample{}, err
		}
	}
	return collect(job.Condition, clients)
}

func family(job traffic.Job) string {
	if job.Address.Is4() {
		return "4"
	}
	return "6"
}

func serverArgs(job traffic.Job) []string {
	return []string{"netserver", "-D", "-N", "-L", job.Listen().String() + "," + family(job), "-p", strconv.Itoa(job.FirstPort)}
}

// keys that netperf is asked for, by what is measured.
var (
	bulkKeys        = []string{"ELAPSED_TIME", "LOCAL_BYTES_SENT", "REMOTE_BYTES_RECVD", "LOCAL_TRANSPORT_RETRANS"}
	transactionKeys = []string{"ELAPSED_TIME", "TRANSACTION_RATE", "MIN_LATENCY", "MEAN_LATENCY", "P50_LATENCY", "P90_LATENCY",
		"P99_LATENCY", "MAX_LATENCY", "LOCAL_TRANSPORT_RETRANS"}
)

func isBulk(protocol string) bool { return protocol == trial.TCP || protocol == trial.UDP }

func clientArgs(job traffic.Job, flow int) []string {
	c := job.Condition
	// -j keeps the times that percentiles are made of; -R 1 lets UDP through routers.
	args := []string{"netperf", "-H", job.Address.String() + "," + family(job), "-p", strconv.Itoa(job.FirstPort), "-t", tests[c.Protocol],
		"-l", strconv.FormatFloat(traffic.WholeSeconds(c.DurationS), 'f', -1, 64), "-P", "0", "-j", "--", "-R", "1", "-P", "," + strconv.Itoa(job.FirstPort+1+flow)}
	keys := transactionKeys
	if isBulk(c.Protocol) {
		keys = bulkKeys
		if c.PayloadSize > 0 {
			args = append(args, "-m", strconv.FormatUint(c.PayloadSize, 10))
		}
	} else {
		args = append(args, "-r", fmt.Sprintf("%d,%d", max(1, c.RequestSize), max(1, c.ResponseSize)))
	}
	return append(args, "-k", strings.Join(keys, ","))
}

// ofFlow is the job of one flow's client: on one core of those that there are, in turn.
func ofFlow(job traffic.Job, flow int) traffic.Job {
	if cores := traffic.Cores(job.Condition.Affinity); len(cores) > 0 {
		job.Condition.Affinity = strconv.Itoa(cores[flow%len(cores)])
	}
	return job
}
