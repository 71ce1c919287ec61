package run

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// offer runs a tool over the chain that is measured, and over those beside it that carry
// load at the same time. The first that fails ends all.
func (m *Measurement) offer(ctx context.Context, tool traffic.Tool, c trial.Condition, job traffic.Job) (traffic.Sample, error) {
	jobs := []traffic.Job{job}
	for i, p := range m.active() {
		another, err := jobOver(p, c)
		if err != nil {
			return traffic.Sample{}, err
		}
		another.Asked = job.Asked
		another.Started, another.Ended = job.Started, job.Ended
		another.ClientNode, another.ServerNode = fmt.Sprintf("%s@%d", another.ClientNode, i+2), fmt.Sprintf("%s@%d", another.ServerNode, i+2)
		jobs = append(jobs, another)
	}
	if len(jobs) == 1 {
		return tool.Run(ctx, job)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	samples := make([]traffic.Sample, len(jobs))
	var all sync.WaitGroup
	for i, j := range jobs {
		all.Add(1)
		go func() {
			defer all.Done()
			var err error
			if samples[i], err = tool.Run(ctx, j); err != nil {
				cancel(fmt.Errorf("chain %d of %d: %w", i+1, len(jobs), err))
			}
		}()
	}
	all.Wait()
	return together(samples), context.Cause(ctx)
}

// sums are the metrics that add up over chains.
var sums = []string{"goodput_bps", "retransmits", "packet_rate_pps", "reordered_packets", "transactions", "transactions_per_second", "requests", "requests_per_second"}

// together is what chains that carried load at the same time came to: what adds up in sum,
// and everything of each with the chain's number before it.
func together(samples []traffic.Sample) traffic.Sample {
	all := traffic.Sample{Metrics: map[string]float64{}, Histograms: map[string]string{}}
	for i, s := range samples {
		of := fmt.Sprintf("chain%d_", i+1)
		for name, v := range s.Metrics {
			all.Metrics[of+name] = v
			if slices.Contains(sums, name) {
				all.Metrics[name] += v
			}
		}
		for name, text := range s.Histograms {
			all.Histograms[of+name] = text
		}
		all.Raw = append(all.Raw, s.Raw...)
		for _, w := range s.Warnings {
			if !slices.Contains(all.Warnings, w) {
				all.Warnings = append(all.Warnings, w)
			}
		}
	}
	return all
}
