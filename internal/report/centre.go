package report

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// centre is the value a summary is known by: the mean, or for percentiles,
// which are never averaged, the median of the trials.
func centre(s stats.Summary) float64 {
	if s.Mean != nil {
		return *s.Mean
	}
	return s.Median
}

// centreName says which of the two it is.
func centreName(s stats.Summary) string {
	if s.Mean != nil {
		return "mean"
	}
	return "median"
}

// summaryUnit suits a summary as a whole.
func summaryUnit(metric string, s stats.Summary) unit { return unitFor(metric, centre(s)) }

// summaryText is a summary in one line: "9.562 [9.410, 9.714] Gb/s".
func summaryText(metric string, s stats.Summary) string {
	value, interval := summaryParts(metric, s)
	if interval == "" {
		return value
	}
	number, name, _ := strings.Cut(value, " ")
	return join(number+" "+interval, name)
}

// summaryParts are a summary's centre with its unit and its interval in the same
// unit, empty for none.
func summaryParts(metric string, s stats.Summary) (value, interval string) {
	u := summaryUnit(metric, s)
	number, interval := u.centred(centre(s), s.CI95)
	return join(number, u.Name), interval
}

// summaryValue is a summary's centre with its unit.
func summaryValue(metric string, s stats.Summary) string {
	value, _ := summaryParts(metric, s)
	return value
}

// summaryNote is what must be read beside a summary.
func summaryNote(s stats.Summary) string {
	var notes []string
	if s.CI95 == nil {
		notes = append(notes, "no interval from one trial")
	} else if s.Confidence != 0 {
		notes = append(notes, fmt.Sprintf("interval covers %.3g%%", 100*s.Confidence))
	}
	if s.Unsettled {
		notes = append(notes, "unsettled")
	}
	if s.Method == stats.Bootstrap {
		notes = append(notes, "bootstrap")
	}
	return strings.Join(notes, "; ")
}

// statisticsNotes says which intervals these are, and why, for the methods used.
func statisticsNotes(r Report) (notes []string) {
	used := map[string]bool{}
	short, unsettled := false, false
	for _, c := range r.Conditions {
		for _, s := range c.Metrics {
			used[s.Method] = true
			short = short || s.Confidence != 0
			unsettled = unsettled || s.Unsettled
		}
	}
	add := func(when bool, text string) {
		if when {
			notes = append(notes, text)
		}
	}
	add(used[stats.StudentT], "Means have Student's t interval (n − 1 degrees of freedom), because repeats are few and their variance is not known beforehand.")
	add(used[stats.Bootstrap], "“Bootstrap” marks a mean whose repeats are not normally distributed (Anderson and Darling's test, eight repeats or more), which Student's t assumes: its interval is the studentized bootstrap's, of 4,000 draws from a fixed seed.")
	add(used[stats.OrderStatistics], "Percentiles, minima and maxima are never averaged: given is the median over the trials, bounded by two of the trials themselves (order statistics), which assumes nothing of their distribution.")
	add(r.Run.Until > 0, fmt.Sprintf("The repeats went on until the interval of each condition's main metric was at most %s of its centre wide. It is looked at from the sixth repeat on, two more follow, and no narrower interval is reported than was asked for: so the rule costs the interval nothing of its 95%%.", shareText(r.Run.Until)))
	add(r.Run.Redeploy > 1, "The chain was made anew between repeats. Repeats on one instance are not independent, so every interval is that of the instances' centres.")
	add(r.Run.Redeploy <= 1 && len(r.Run.Trials) > 1 && r.Run.Experiment == "", "All repeats were on one instance of the chain; what the same chain made anew would do, --redeploy tells.")
	add(r.asks(true), "Latency of http with a request rate is from when requests were due, so that those which a stall held back count with what they waited (corrected for coordinated omission); service time is from when they were sent.")
	add(r.asks(false), "Latency of http without a request rate is from when requests were sent: while the path stalls it is asked less (not corrected for coordinated omission).")
	add(short, "Fewer than six trials cannot bound a median with 95%: their whole range is given, with what it covers.")
	add(unsettled, "“Unsettled” marks an interval that is wider than 10% of its centre or not known with 95%: repeat more often before relying on it.")
	add(r.hasPooled(), "“All samples” is the percentile over the samples of all trials together.")
	if alone := r.unpooled(); len(alone) > 0 {
		notes = append(notes, "Told without the samples behind them, so that there is none over all trials together, only the median of the trials' own: "+strings.Join(alone, ", ")+".")
	}
	if r.Against != nil {
		notes = append(notes, r.Against.notes()...)
	}
	return notes
}

// unpooled are the percentiles of several trials that cannot be had over the samples of
// all, by tool.
func (r Report) unpooled() (out []string) {
	for _, c := range r.Conditions {
		for metric, s := range c.Metrics {
			if trial.NeverAveraged(metric) && s.N > 1 && s.Pooled == nil {
				out = append(out, words.Metric(metric)+" by "+c.Tool)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r Report) hasPooled() bool {
	for _, c := range r.Conditions {
		for _, s := range c.Metrics {
			if s.Pooled != nil {
				return true
			}
		}
	}
	return false
}
