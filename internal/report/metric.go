package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// direction is which way a metric is good.
type direction int

const (
	unknownDirection direction = iota
	higherIsBetter
	lowerIsBetter
)

// directions are told by a word of the metric's name; the first found decides.
var directions = []struct {
	word string
	good direction
}{
	{"offered", unknownDirection}, {"sent", unknownDirection}, {"selftest", unknownDirection},
	{"goodput", higherIsBetter}, {"throughput", higherIsBetter},
	{"efficiency", higherIsBetter}, {"transfer", lowerIsBetter}, {"delay", lowerIsBetter}, {"retransmitted", lowerIsBetter},
	{"setup", lowerIsBetter},
	{"failed", lowerIsBetter}, {"unfinished", lowerIsBetter}, {"late", lowerIsBetter},
	{"loss", lowerIsBetter}, {"latency", lowerIsBetter}, {"rtt", lowerIsBetter}, {"jitter", lowerIsBetter},
	{"damaged", lowerIsBetter}, {"silent", lowerIsBetter}, {"outage", lowerIsBetter}, {"reordered", lowerIsBetter}, {"retransmits", lowerIsBetter}, {"lost", lowerIsBetter},
	{"dropped", lowerIsBetter}, {"errors", lowerIsBetter}, {"duplicates", lowerIsBetter},
	{"duplicate", lowerIsBetter}, {"unsent", lowerIsBetter}, {"error", lowerIsBetter}, {"reorder", lowerIsBetter},
	{"pdv", lowerIsBetter}, {"ipdv", lowerIsBetter},
	{"timed", lowerIsBetter}, {"ok", lowerIsBetter}, {"service", lowerIsBetter},
	{"transactions", higherIsBetter}, {"requests", higherIsBetter}, {"rate", higherIsBetter}, {"pps", higherIsBetter},
}

// goodDirection is which way a metric is good, by its name.
func goodDirection(metric string) direction {
	words := strings.Split(metric, "_")
	for _, d := range directions {
		if slices.Contains(words, d.word) {
			return d.good
		}
	}
	return unknownDirection
}

// inWords says which way is good, for the axis of a chart; empty if not known.
func (d direction) inWords() string {
	return map[direction]string{higherIsBetter: "higher is better", lowerIsBetter: "lower is better"}[d]
}

// metricOrder puts what is read first first; the rest follows by name.
var metricOrder = []string{
	"goodput_bps", "throughput_bps", "throughput_pps", "forwarding_rate_pps", "transactions_per_second", "requests_per_second", "loss_ratio", "error_ratio",
	"one_way_latency_min_ns", "one_way_latency_p50_ns", "one_way_latency_p90_ns", "one_way_latency_p99_ns",
	"one_way_latency_p999_ns", "one_way_latency_p9999_ns", "one_way_latency_p99999_ns", "one_way_latency_max_ns",
	"latency_min_ns", "latency_p50_ns", "latency_median_ns", "latency_mean_ns", "latency_p90_ns", "latency_p95_ns",
	"latency_p99_ns", "latency_p999_ns", "latency_p9999_ns", "latency_p99999_ns", "latency_max_ns",
	"jitter_ns",
}

// metricsOf lists the metrics of some conditions in reading order.
func metricsOf(conditions ...trial.Summary) []string {
	names := map[string]bool{}
	for _, c := range conditions {
		for name := range c.Metrics {
			names[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(metricRank(a), metricRank(b)), strings.Compare(a, b))
	})
}

// ofTool tells a metric of the tool itself rather than of what was measured: what
// a generator was asked, sent and can, and what a search took.
func ofTool(metric string) bool {
	switch metric {
	case "offered_pps", "sent_pps", "unsent_ratio":
		return true
	}
	first, _, _ := strings.Cut(metric, "_")
	return first == "selftest" || first == "schedule" || first == "generator" || first == "search"
}

// ofChain are the metrics of a condition that say something of the chain.
func ofChain(c trial.Summary) []string { return slices.DeleteFunc(metricsOf(c), ofTool) }

func metricRank(metric string) int {
	if i := slices.Index(metricOrder, metric); i >= 0 {
		return i
	}
	return len(metricOrder)
}
