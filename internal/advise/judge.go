package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Evidence is what the trials of one condition say of a clause.
type Evidence struct {
	Run       string          `json:"run"`
	Condition trial.Condition `json:"condition"`
	Metric    string          `json:"metric"`
	// Centre is what Estimate is: the mean over the trials, or of percentiles the median.
	Centre   string  `json:"centre"`
	Estimate float64 `json:"estimate"`
	// Interval of the case's confidence; absent where the trials are too few.
	Interval *[2]float64 `json:"interval,omitempty"`
	// Bound of the clause in the unit of Metric.
	Bound float64 `json:"bound"`
	// Pooled is a percentile over all trials' samples together.
	Pooled  *float64 `json:"pooled,omitempty"`
	Trials  int      `json:"trials"`
	Verdict string   `json:"verdict"`
	// Why it is open; empty otherwise.
	Why string `json:"why,omitempty"`

	at cell
}

// judge holds choices to a goal, with intervals of a confidence.
type judge struct {
	goal  Goal
	level float64
}

// judge a choice: it meets the goal if it surely meets every clause, and misses it if
// it surely misses one.
func (j judge) judge(c *Choice) {
	c.Verdict = Meets
	for _, clause := range j.goal {
		f := j.find(clause, c.cells)
		c.Clauses = append(c.Clauses, f)
		switch {
		case f.Verdict == Misses:
			c.Verdict = Misses
		case f.Verdict == Open && c.Verdict == Meets:
			c.Verdict = Open
		}
	}
}

// find what was measured of a clause. Every condition that measured it counts: which of
// them the goal is about is not known.
func (j judge) find(clause Clause, cells []cell) Finding {
	f := Finding{Clause: clause.Text, Verdict: Meets}
	for _, at := range cells {
		metric := clause.metricOf(at)
		if metric == "" {
			continue
		}
		e := j.weigh(clause, at, metric)
		f.Evidence = append(f.Evidence, e)
		switch {
		case e.Verdict == Misses:
			f.Verdict, f.Why = Misses, ""
		case e.Verdict == Open && f.Verdict == Meets:
			f.Verdict, f.Why = Open, e.Why
		}
	}
	if len(f.Evidence) == 0 {
		f.Verdict, f.Why = Open, clause.name()+" was not measured"
	}
	return f
}

// name of what a clause is about.
func (c Clause) name() string {
	if c.Protocol != "" {
		return c.Protocol + " " + c.Word
	}
	return c.Word
}

// latency tells clauses about how long messages take.
func (c Clause) latency() bool { return !c.AtLeast && c.Word != "loss" && c.Word != setup }

// metricOf a condition that a clause is about; empty for none. The time of a
// transaction that makes a connection of its own is that of connecting, and no latency.
func (c Clause) metricOf(at cell) string {
	condition := at.at()
	connects := c.Word == connect || c.Protocol == trial.TCPCRR
	if c.Protocol != "" && c.Protocol != condition.Protocol || c.latency() && connects != (condition.Protocol == trial.TCPCRR) {
		return ""
	}
	for _, m := range c.Metrics {
		if len(at.run.Samples(at.condition, m)) > 0 && c.in(m, condition) > 0 {
			return m
		}
	}
	return ""
}

// in is how much of a metric's unit one of the clause's is under a condition; 0 where
// that is not known: bits of frames need the frames' size (with the check sequence, as
// RFC 1242 counts).
func (c Clause) in(metric string, condition trial.Condition) float64 {
	if c.Word != "throughput" || c.frames || !strings.HasSuffix(metric, "_pps") {
		return 1
	}
	if condition.FrameSize <= 0 {
		return 0
	}
	return 1 / float64(8*condition.FrameSize)
}

// weigh what a condition measured.
func (j judge) weigh(clause Clause, at cell, metric string) Evidence {
	values := at.run.Independent(at.condition, metric)
	clause.Bound *= clause.in(metric, at.at())
	e := Evidence{Bound: clause.Bound, Run: at.run.ID, Condition: at.at(), Metric: metric, Centre: "mean", Trials: len(values), at: at}
	estimate := stats.MeanIntervalAt(j.level, values)
	if trial.NeverAveraged(metric) {
		e.Centre, estimate = "median", stats.MedianIntervalAt(j.level, values)
		e.Pooled = trial.Summarize(*at.run)[at.condition].Metrics[metric].Pooled
	}
	e.Estimate, e.Interval = estimate.Value, estimate.CI95
	if e.Interval != nil {
		e.Interval[0] = max(0, e.Interval[0])
	}
	e.Verdict, e.Why = j.side(clause, e)
	if why := j.unsure(clause, at, metric, e.Verdict); e.Verdict != Open && why != "" {
		e.Verdict, e.Why = Open, why
	}
	return e
}

// side of the bound on which an interval lies, and why it is open.
func (j judge) side(c Clause, e Evidence) (verdict, why string) {
	switch {
	case e.Trials < 2:
		return Open, "there is one trial only"
	case e.Interval == nil && e.Centre == "median":
		return Open, fmt.Sprintf("%s are too few to bound a percentile; it takes %d", words.Plural(e.Trials, "trial"), stats.MedianNeeds(j.level))
	case e.Interval == nil:
		return Open, "the trials give no interval"
	case c.within(e.Interval[0]) && c.within(e.Interval[1]) && (e.Pooled == nil || c.within(*e.Pooled)):
		return Meets, ""
	case !c.within(e.Interval[0]) && !c.within(e.Interval[1]):
		return Misses, ""
	}
	return Open, "the interval lies on both sides of " + words.Amount(e.Metric, c.Bound)
}

// within tells whether a value keeps a clause.
func (c Clause) within(x float64) bool {
	switch {
	case math.IsNaN(x):
		return false
	case c.Strict && x == c.Bound:
		return false
	case c.AtLeast:
		return x >= c.Bound
	}
	return x <= c.Bound
}

// unsure says why a verdict on trials that are there cannot be relied on; empty where
// it can.
func (j judge) unsure(c Clause, at cell, metric, verdict string) string {
	if n := at.without(metric); n > 0 {
		return fmt.Sprintf("%s did not measure it", words.Plural(n, "trial"))
	}
	if at.run.State == trial.Failed && len(at.run.Samples(at.condition, metric)) < at.run.RepeatsOf(at.at()) {
		return "the run failed before its end"
	}
	if c.Word == "throughput" && !slices.Contains(searched, metric) {
		if loss := at.greatest("loss_ratio"); loss > j.allowed(at.at().Protocol) {
			return fmt.Sprintf("it was measured with %s of loss, more than the goal allows; what passes without is not known", words.Amount("loss_ratio", loss))
		}
	}
	if !c.AtLeast || verdict != Misses {
		return ""
	}
	offered := at.offered(metric)
	switch {
	case offered > 0 && !c.within(offered):
		return "no more than " + words.Amount(metric, offered) + " was offered"
	case at.generatorLimited():
		return "the generator could not send more"
	}
	return ""
}

// allowed is the share of loss that the goal allows a protocol: none, if it says nothing.
func (j judge) allowed(protocol string) float64 {
	for _, c := range j.goal {
		if c.Word == "loss" && (c.Protocol == "" || c.Protocol == protocol) {
			return c.Bound
		}
	}
	return 0
}

// without is how many of a condition's trials did not measure a metric.
func (c cell) without(metric string) (n int) {
	for _, t := range c.run.Trials {
		if t.Condition == c.condition && t.Step == 0 && c.run.Lacks(t, metric) {
			n++
		}
	}
	return n
}

// greatest value that any of a condition's trials measured of a metric, at least 0.
func (c cell) greatest(metric string) float64 {
	return slices.Max(append(c.run.Samples(c.condition, metric), 0))
}

// offered load in the unit of a metric; 0 where it has no limit or is not known.
func (c cell) offered(metric string) float64 {
	condition := c.at()
	bits := metric == "goodput_bps" || metric == "throughput_bps"
	switch {
	case condition.Search != nil:
		return 0
	case bits && condition.OfferedBps > 0:
		return condition.OfferedBps
	case bits:
		return condition.OfferedPps * float64(condition.FrameSize) * 8
	}
	return condition.OfferedPps
}

// unsentShare of a load is no matter up to here.
const unsentShare = 0.005

// generatorLimited tells that not all that was to be sent could be.
func (c cell) generatorLimited() bool {
	if c.greatest("unsent_ratio") > unsentShare {
		return true
	}
	spec := c.at().Search
	if spec == nil {
		return false
	}
	method, err := search.New(*spec)
	if err != nil {
		return true // stored by a newer nfchain: not known to be the chain's
	}
	return slices.ContainsFunc(c.repeats(), func(repeat int) bool {
		history := search.History(*c.run, c.condition, repeat)
		return len(history) > 0 && slices.ContainsFunc(method.Result(history).Goals, func(g search.GoalResult) bool { return g.GeneratorLimited })
	})
}

// repeats of a condition that were begun.
func (c cell) repeats() (all []int) {
	for _, t := range c.run.Trials {
		if t.Condition == c.condition && !slices.Contains(all, t.Repeat) {
			all = append(all, t.Repeat)
		}
	}
	return all
}

// best is the place of the choice to use: of those that meet the goal, the one that is
// farthest from the bound of the first clause; negative where none does.
func (j judge) best(choices []Choice) int {
	best, most := -1, 0.0
	for i, c := range choices {
		if margin := j.margin(c); c.Verdict == Meets && (best < 0 || margin > most) {
			best, most = i, margin
		}
	}
	return best
}

// margin is how many times the bound of the first clause is kept, by the estimate that
// is nearest to it.
func (j judge) margin(c Choice) float64 {
	least := math.Inf(1)
	for _, e := range c.Clauses[0].Evidence {
		kept := e.Estimate / e.Bound
		if !j.goal[0].AtLeast {
			kept = e.Bound / e.Estimate
		}
		if math.IsNaN(kept) { // nothing where nothing is allowed
			kept = 1
		}
		least = min(least, kept)
	}
	return least
}
