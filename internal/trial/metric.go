package trial

import (
	"strconv"
	"strings"
)

// orderStatistic tells how a metric's value stands among the samples of a trial.
type orderStatistic struct {
	// Percent is 0 for a minimum, 100 for a maximum.
	Percent float64
	// Stem names the histogram: latency_ns for latency_p99_ns.
	Stem string
}

// NeverAveraged tells whether a metric is a percentile, a minimum or a maximum
// of a trial's samples, by its name: one part of it is p and digits (p50, p99,
// p999 for 99.9%), min, max or median. The mean of such values over trials is
// no such value of anything.
func NeverAveraged(metric string) bool {
	_, is := parseOrderStatistic(metric)
	return is
}

func parseOrderStatistic(metric string) (orderStatistic, bool) {
	parts := strings.Split(metric, "_")
	for i, part := range parts {
		if percent, is := percentOf(part); is && i > 0 {
			rest := append(append([]string(nil), parts[:i]...), parts[i+1:]...)
			return orderStatistic{percent, strings.Join(rest, "_")}, true
		}
	}
	return orderStatistic{}, false
}

// percentOf reads one part of a name. Digits after the second are decimals, as
// is the custom: p999 is 99.9%. Only p100 is what it says.
func percentOf(part string) (float64, bool) {
	switch part {
	case "min":
		return 0, true
	case "median":
		return 50, true
	case "max", "p100":
		return 100, true
	}
	digits, is := strings.CutPrefix(part, "p")
	if _, err := strconv.ParseUint(digits, 10, 64); !is || err != nil {
		return 0, false
	}
	if len(digits) > 2 {
		digits = digits[:2] + "." + digits[2:]
	}
	percent, err := strconv.ParseFloat(digits, 64)
	return percent, err == nil
}

// mainMetrics are what a trial is run to find out, the first that it has.
var mainMetrics = []string{
	"throughput_pps", "throughput_bps", "ndr_conditional_throughput_pps", "forwarding_rate_pps", "goodput_bps", "latency_p50_ns",
}

// MainMetric is the one that repeats go by and gates look at; empty for none. Of
// percentiles it is the median, which few repeats already know well.
func MainMetric(has func(metric string) bool) string {
	for _, m := range mainMetrics {
		if has(m) {
			return m
		}
	}
	return ""
}
