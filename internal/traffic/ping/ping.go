// Package ping measures round-trip times with the system's ping, every reply of
// which is kept, to a microsecond.
package ping

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// interval between requests.
const interval = 2 * time.Millisecond

// Tool is ping.
type Tool struct{}

// Name implements traffic.Tool.
func (Tool) Name() string { return "ping" }

// Requires implements traffic.Tool.
func (Tool) Requires() []string { return []string{"tool.ping"} }

// Protocols implements traffic.Tool.
func (Tool) Protocols() []string { return []string{trial.Latency} }

// Run implements traffic.Tool.
func (Tool) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	ctx, cancel := traffic.Deadline(ctx, job.Condition.DurationS)
	defer cancel()
	c := job.Condition
	count := max(1, int(c.DurationS/interval.Seconds()))
	args := []string{"ping", "-n", "-i", strconv.FormatFloat(interval.Seconds(), 'f', -1, 64), "-c", strconv.Itoa(count), "-W", "1"}
	if c.PayloadSize > 0 {
		args = append(args, "-s", strconv.FormatUint(c.PayloadSize, 10))
	}
	p, err := traffic.Start(ctx, job.ClientNetns, job.ClientNode, job.Started, append(args, job.Address.String())...)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer p.Kill()
	failed := p.Wait(ctx)
	times := parse(p.Stdout())
	if len(times) == 0 {
		if failed == nil {
			failed = fmt.Errorf("ping printed no reply: %q", traffic.Excerpt(string(p.Stdout())))
		}
		return traffic.Sample{}, failed
	}
	s, err := traffic.LatencySample(times)
	if err != nil {
		return s, err
	}
	s.Metrics["loss_ratio"] = max(0, 1-float64(len(times))/float64(count))
	s.Raw = []trial.ToolOutput{p.Output()}
	return s, nil
}

var reply = regexp.MustCompile(`icmp_seq=\d+ .*time=([0-9.]+) ms`)

// parse finds every reply's round-trip time, in nanoseconds.
func parse(text []byte) []int64 {
	var times []int64
	for _, m := range reply.FindAllSubmatch(text, -1) {
		if ms, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
			times = append(times, int64(ms*1e6+0.5))
		}
	}
	return times
}
