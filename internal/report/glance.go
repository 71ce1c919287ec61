package report

import (
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// card is one number to be seen at a glance.
type card struct {
	Label string
	Value string
	Below string
}

// manyCards is how many numbers are still seen at a glance.
const manyCards = 6

// cards are the chain's first conditions, each by its main metric and by how it
// stands to the direct path, and how many more there would be. Beside verdicts, a few
// cards of many conditions would only distract.
func (r Report) cards() (out []card, more int) {
	direct := map[int]int{}
	for _, p := range r.pairs() {
		direct[p.chain] = p.direct
	}
	if len(r.Verdicts) > 0 && len(r.Conditions)-len(direct) > manyCards {
		return nil, 0
	}
	name := labels(r.Conditions, "path")
	for i, c := range r.Conditions {
		for _, metric := range glanced(c) {
			if c.Path == trial.PathDirect {
				continue
			}
			if len(out) == manyCards {
				more++
				continue
			}
			s := c.Metrics[metric]
			one := card{Label: cardLabel(name.of(c.Condition), c.Protocol, metric), Value: summaryValue(metric, s)}
			if d, has := direct[i]; has {
				one.Below = r.besideDirect(d, i, metric)
			} else if _, interval := summaryParts(metric, s); interval != "" {
				one.Below = shareText(covers(s)) + " interval " + interval
			}
			out = append(out, one)
		}
	}
	return out, more
}

// leftOut says how many numbers are not among the cards, nothing where all are.
func leftOut(cards, more int) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("The first %d of %d: %d more are in the table of measurements.", cards, cards+more, more)
}

// glanced are a condition's main metric, and its latency where the same packets
// gave both.
func glanced(c trial.Summary) (metrics []string) {
	if m := mainMetric(c); m != "" {
		metrics = append(metrics, m)
	}
	if _, has := c.Metrics[oneWayMedian]; has && mainMetric(c) != oneWayMedian {
		metrics = append(metrics, oneWayMedian)
	}
	return metrics
}

const oneWayMedian = "one_way_latency_p50_ns"

// cardLabel is "TCP, 8 flows: goodput", or "latency p50, 8 flows" where the
// protocol is already in the metric's name.
func cardLabel(condition, protocol, metric string) string {
	if name := words.Metric(metric); strings.HasPrefix(name, protocol+" ") {
		return name + strings.TrimPrefix(condition, protocol)
	}
	return condition + ": " + words.Metric(metric)
}

// mainMetric is the one a condition is about.
func mainMetric(c trial.Summary) string {
	if m := trial.MainMetric(func(name string) bool { _, has := c.Metrics[name]; return has }); m != "" {
		return m
	}
	if all := append(ofChain(c), metricsOf(c)...); len(all) > 0 {
		return all[0]
	}
	return ""
}

// besideDirect is "25.1% of direct, 38.2 Gb/s", or "2.1 × direct, 40 µs".
func (r Report) besideDirect(direct, chain int, metric string) string {
	s, has := r.Conditions[direct].Metrics[metric]
	e := r.besides(direct, chain, metric)
	if !has || !finite(e.Value) {
		return ""
	}
	times := fixed(e.Value, 2) + " × direct"
	if e.Value < 1 {
		times = fixed(100*e.Value, 1) + "% of direct"
	}
	return times + " (" + summaryValue(metric, s) + ")"
}
