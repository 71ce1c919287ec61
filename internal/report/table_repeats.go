package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// fewForRepeats is from how many repeats on there is something to say of them.
const fewForRepeats = 5

// repeatsTable says of each condition's main metric what its repeats are worth:
// whether they drifted, which stand out, and what they would have shown.
func (r Report) repeatsTable() table {
	t := table{Title: "The repeats", Caption: "Each condition's main metric. Change: from the first repeat to the last, by Theil and Sen's slope, with its 95% interval and the probability of so one-sided an order by chance (Mann and Kendall). " +
		"Stands out: repeats far from the others; they count like any other. Would have seen: the smallest difference of means that as many repeats on each side show with 95% confidence in 80% of cases."}
	t.column("condition", false)
	t.column("metric", false)
	t.column("n", true)
	t.column("change", true)
	t.column("95% interval", true)
	t.column("p", true)
	t.column("stands out", false)
	t.column("would have seen", true)
	name := labels(r.Conditions)
	for i, c := range r.Conditions {
		m := mainMetric(c)
		if s := c.Metrics[m]; s.N >= fewForRepeats {
			t.add(true, append([]string{name.of(c.Condition), words.Metric(m), strconv.Itoa(s.N)}, r.repeatsCells(i, m, s)...)...)
		}
	}
	return t
}

func (r Report) repeatsCells(condition int, metric string, s stats.Summary) []string {
	change, interval, p := "–", "–", "–"
	if d := s.Drift; d != nil {
		change, p = signedShare(d.ChangeRatio), fmt.Sprintf("%.2g", d.P)
		if d.CI95 != nil {
			interval = "[" + signedShare(d.CI95[0]) + ", " + signedShare(d.CI95[1]) + "]"
		}
	}
	seen := "–"
	if s.DetectableRatio != nil {
		seen = shareText(*s.DetectableRatio)
	}
	return []string{change, interval, p, r.outlierText(condition, metric, s.Outliers), seen}
}

// outlierText is "repeat 4: 7.2 Gb/s", for each that stands out.
func (r Report) outlierText(condition int, metric string, repeats []int) string {
	var words []string
	for _, t := range r.Run.Trials {
		if x, has := t.Metrics[metric]; has && t.Condition == condition && t.Step == 0 && slices.Contains(repeats, t.Repeat) {
			words = append(words, fmt.Sprintf("repeat %d: %s", t.Repeat, printed(metric, x)))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, "; ")
}

// signedShare is "+1.2%" or "−0.3%".
func signedShare(share float64) string {
	sign := "+"
	if share < 0 {
		sign = "−"
	}
	return sign + fixed(100*math.Abs(share), 1) + "%"
}

// driftWarnings name the conditions whose main metric went one way over the run.
func (r Report) driftWarnings() (out []string) {
	name := labels(r.Conditions)
	for _, c := range r.Conditions {
		m := mainMetric(c)
		d := c.Metrics[m].Drift
		if d == nil || !d.Drifting {
			continue
		}
		went := "rose"
		if d.ChangeRatio < 0 {
			went = "fell"
		}
		out = append(out, fmt.Sprintf("%s: %s %s by %s from the first repeat to the last, which is no chance (p = %.2g): the mean is of no steady state.",
			name.of(c.Condition), words.Metric(m), went, shareText(math.Abs(d.ChangeRatio)), d.P))
	}
	return out
}

// untilWarnings name the conditions whose interval did not become as narrow as was
// asked for.
func (r Report) untilWarnings() (out []string) {
	if r.Run.Until == 0 || r.Run.State != trial.Done {
		return nil
	}
	name := labels(r.Conditions)
	for _, c := range r.Conditions {
		m := mainMetric(c)
		s := c.Metrics[m]
		if m == "" || s.CI95 != nil && s.CI95[1]-s.CI95[0] <= r.Run.Until*math.Abs(centre(s))*(1+1e-9) {
			continue
		}
		reached := "is not known"
		if s.CI95 != nil && centre(s) != 0 {
			reached = "is " + shareText((s.CI95[1]-s.CI95[0])/math.Abs(centre(s))) + " of its centre wide"
		}
		out = append(out, fmt.Sprintf("%s: after %s the interval of %s %s, and not the %s that was asked for.",
			name.of(c.Condition), words.Plural(s.N, "repeat"), words.Metric(m), reached, shareText(r.Run.Until)))
	}
	return out
}

// instancesTable sets the variance between instances of the chain beside that of
// the repeats on each.
func (r Report) instancesTable() table {
	t := table{Title: "Within and between instances", Caption: "Each condition's main metric. Standard deviation, as a share of the mean, of repeats on one instance of the chain, and of the instances' own means, with 95% intervals (one-way random effects)."}
	t.column("condition", false)
	t.column("metric", false)
	t.column("instances", true)
	t.column("within", true)
	t.column("95% interval", true)
	t.column("between", true)
	t.column("95% interval", true)
	name := labels(r.Conditions)
	for _, c := range r.Conditions {
		m := mainMetric(c)
		if p := c.Metrics[m].Components; p != nil {
			t.add(true, name.of(c.Condition), words.Metric(m), strconv.Itoa(p.Instances),
				shareText(p.Within), shareInterval(p.WithinCI95), shareText(p.Between), shareInterval(p.BetweenCI95))
		}
	}
	return t
}

func shareInterval(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return "[" + shareText(ci[0]) + ", " + shareText(ci[1]) + "]"
}
