package netperf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// result is what one netperf printed, by its names.
type result map[string]float64

// parse reads the lines NAME=value, and wants all that were asked for. A count that
// netperf does not know is negative, and left out.
func parse(text []byte, keys []string) (result, error) {
	r := result{}
	for line := range strings.Lines(string(text)) {
		name, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if !is || !slices.Contains(keys, name) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) || v >= 1<<62 {
			return nil, fmt.Errorf("netperf printed %q for %s", value, name)
		}
		if v >= 0 {
			r[name] = v
		}
	}
	for _, name := range keys {
		if _, has := r[name]; !has && name != "LOCAL_TRANSPORT_RETRANS" {
			return nil, fmt.Errorf("netperf printed no result, as %s is missing: %q", name, words.Excerpt(text))
		}
	}
	if r["ELAPSED_TIME"] < 0.001 {
		return nil, fmt.Errorf("netperf measured for no time: %q", words.Excerpt(text))
	}
	return r, nil
}

// collect adds up what the flows counted.
func collect(c trial.Condition, clients []*traffic.Process) (traffic.Sample, error) {
	s := traffic.Sample{Metrics: map[string]float64{}, Histograms: map[string]string{}}
	keys := transactionKeys
	if isBulk(c.Protocol) {
		keys = bulkKeys
	}
	results := make([]result, len(clients))
	for i, p := range clients {
		var err error
		if results[i], err = parse(p.Stdout(), keys); err != nil {
			return traffic.Sample{}, fmt.Errorf("flow %d: %w", i+1, err)
		}
		s.Raw = append(s.Raw, p.Output())
	}
	if whole := traffic.WholeSeconds(c.DurationS); whole != c.DurationS {
		s.Warnings = append(s.Warnings, fmt.Sprintf("netperf counts whole seconds: the trial took %v s", whole))
	}
	add(s.Metrics, results, "retransmits", func(r result) (float64, bool) { v, has := r["LOCAL_TRANSPORT_RETRANS"]; return v, has })
	if isBulk(c.Protocol) {
		bulk(s.Metrics, results, c.Protocol)
		return s, nil
	}
	s.Warnings = append(s.Warnings, transactions(s.Metrics, results)...)
	return s, nil
}

// add puts the sum over the flows into a metric, where all of them know it.
func add(m map[string]float64, results []result, metric string, of func(result) (float64, bool)) {
	sum := 0.0
	for _, r := range results {
		v, has := of(r)
		if !has {
			return
		}
		sum += v
	}
	m[metric] = sum
}

// bulk is what netserver received; netperf itself counts what it sent.
func bulk(m map[string]float64, results []result, protocol string) {
	var sent, received float64
	for _, r := range results {
		sent, received = sent+r["LOCAL_BYTES_SENT"], received+r["REMOTE_BYTES_RECVD"]
	}
	add(m, results, "goodput_bps", func(r result) (float64, bool) { return 8 * r["REMOTE_BYTES_RECVD"] / r["ELAPSED_TIME"], true })
	if protocol == trial.UDP && sent > 0 {
		m["loss_ratio"] = max(0, 1-received/sent)
	}
}

// transactions has rates added up. Percentiles of several flows cannot be: they are
// given for one flow only.
func transactions(m map[string]float64, results []result) (warnings []string) {
	add(m, results, "transactions_per_second", func(r result) (float64, bool) { return r["TRANSACTION_RATE"], true })
	add(m, results, "transactions", func(r result) (float64, bool) { return math.Round(r["TRANSACTION_RATE"] * r["ELAPSED_TIME"]), true })
	const us = 1e3
	m["latency_min_ns"], m["latency_max_ns"] = math.Inf(1), 0
	for i, r := range results {
		m["latency_min_ns"] = min(m["latency_min_ns"], us*r["MIN_LATENCY"])
		m["latency_max_ns"] = max(m["latency_max_ns"], us*r["MAX_LATENCY"])
		if busy := r["MEAN_LATENCY"] / 1e6 * r["TRANSACTION_RATE"]; busy < 0.5 {
			warnings = append(warnings, fmt.Sprintf("flow %d had a transaction under way for %.0f%% of the time only: netperf waits to the end for a datagram that was lost", i+1, 100*busy))
		}
	}
	if len(results) > 1 {
		return append(warnings, "netperf's percentiles are one flow's: those of several flows are left out")
	}
	for metric, key := range map[string]string{"latency_mean_ns": "MEAN_LATENCY", "latency_p50_ns": "P50_LATENCY", "latency_p90_ns": "P90_LATENCY", "latency_p99_ns": "P99_LATENCY"} {
		m[metric] = us * results[0][key]
	}
	return warnings
}
