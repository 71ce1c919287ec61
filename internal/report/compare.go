package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

var (
	// ErrUnlike: the runs were measured in environments that cannot be compared.
	ErrUnlike = errors.New("the runs were measured in unlike environments")
	// ErrNothingInCommon: no condition was measured in both runs.
	ErrNothingInCommon = errors.New("the runs have no condition in common")
	// ErrNoMetric: of those that were, none has a metric that tells of the chain in both.
	ErrNoMetric = errors.New("the runs have conditions in common, but no metric of the chain's that can be compared")
)

// CompareOptions is how to compare.
type CompareOptions struct {
	// Force compares unlike environments all the same; the comparison is marked.
	Force bool
	// Tolerance is the change that does not matter, as a share; 0 stands for 0.02.
	Tolerance float64
}

// DefaultTolerance of a comparison.
const DefaultTolerance = 0.02

// The verdicts of a comparison as a whole, over its gated changes.
const (
	Slower = "slower" // at least one is worse
	Faster = "faster" // none is worse or undecided, and at least one better
)

// The verdicts of a comparison.
const (
	Better    = "better"
	Worse     = "worse"
	Same      = "same"
	Undecided = "undecided"
	Changed   = "changed" // which way is good is not known of this metric
)

// Comparison is how run B stands to run A.
type Comparison struct {
	SchemaVersion int `json:"schema_version"`
	A             Ref `json:"a"`
	B             Ref `json:"b"`
	// Forced marks a comparison of unlike environments.
	Forced bool `json:"forced"`
	// Unlike is what makes environments unlike; Noted is what else differs.
	Unlike trial.List[Difference] `json:"unlike"`
	Noted  trial.List[Difference] `json:"noted"`
	Margin float64                `json:"margin_ratio"`
	// Verdict is slower, faster, same or undecided, over the gated changes and Lost.
	Verdict string `json:"verdict"`
	// GateConfidence of each gated change's interval: so high that all of them
	// hold at once with 95% (Bonferroni).
	GateConfidence float64 `json:"gate_confidence"`
	// Changes has every metric of every condition that both runs measured.
	Changes trial.List[Change] `json:"changes"`
	// OnlyA and OnlyB are the conditions without a partner.
	OnlyA trial.List[trial.Condition] `json:"only_a"`
	OnlyB trial.List[trial.Condition] `json:"only_b"`
	// Lost are the gated conditions that run a measured and run b has no value of.
	Lost trial.List[Loss] `json:"lost"`

	label labeller
}

// Ref names one of the two runs.
type Ref struct {
	Run        string    `json:"run"`
	Chain      string    `json:"chain"`
	Experiment string    `json:"experiment,omitempty"`
	State      string    `json:"state"`
	CreatedAt  time.Time `json:"created_at"`
}

// Change is how one metric under one condition stands to before.
type Change struct {
	Condition trial.Condition `json:"condition"`
	Metric    string          `json:"metric"`
	// OverDirect marks the metric relative to the direct path of the same run, trial
	// by neighbouring trial; A and B are then without unit.
	OverDirect bool `json:"over_direct,omitempty"`
	// A and B are the runs' centres: means, or medians for what is never averaged.
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Centre string  `json:"centre"`
	// Ratio is B divided by A, absent where it is not defined.
	Ratio *float64 `json:"ratio,omitempty"`
	// CI95 bounds Ratio; absent where the trials are too few to.
	CI95 *[2]float64 `json:"ci95,omitempty"`
	// Gated marks the metrics that the comparison as a whole goes by: the main one
	// of each condition through the chain, over direct where both runs have that.
	Gated bool `json:"gated"`
	// GateInterval bounds Ratio with the comparison's GateConfidence; of gated
	// changes, whose verdict goes by it.
	GateInterval *[2]float64 `json:"gate_interval,omitempty"`
	Verdict      string      `json:"verdict"`

	textA, textB string
}

// Compare sets run b against run a, condition by condition. Conditions match
// when all is alike but what a chain is made of: its length, unless that was
// swept, and the duration of a trial, which is noted. The error wraps
// [ErrUnlike] and names what differs, unless forced, or [ErrNothingInCommon], or [ErrNoMetric].
func Compare(a, b Report, o CompareOptions) (Comparison, error) {
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	c := Comparison{SchemaVersion: trial.SchemaVersion, A: refTo(a.Run), B: refTo(b.Run), Margin: o.Tolerance,
		label: labels(append(append([]trial.Summary(nil), a.Conditions...), b.Conditions...), "duration_s")}
	c.Unlike, c.Noted = differences(a.Run, b.Run)
	c.Forced = len(c.Unlike) > 0
	if c.Forced && !o.Force {
		return c, fmt.Errorf("%w: %s", ErrUnlike, JoinDifferences(c.Unlike))
	}
	pairs := c.match(a, b)
	gated := c.gatedPairs(a, b, pairs)
	c.GateConfidence = 1 - .05/float64(max(1, len(gated)))
	for _, p := range pairs {
		c.compare(a, b, p, gated)
	}
	if c.Verdict = c.overall(); c.Verdict == Slower {
		return c, nil // also where nothing is left to compare, since every trial failed
	}
	if len(c.Changes) == 0 && len(pairs) > 0 {
		return c, fmt.Errorf("%w: %s and %s", ErrNoMetric, a.Run.ID, b.Run.ID)
	}
	if len(c.Changes) == 0 {
		return c, fmt.Errorf("%w: %s and %s", ErrNothingInCommon, a.Run.ID, b.Run.ID)
	}
	return c, nil
}

// CheckAlike tells before anything is measured whether a run could be compared
// with one measured in another environment; the error wraps [ErrUnlike].
func CheckAlike(a trial.Run, environment trial.Environment) error {
	b := a
	b.Environment = environment
	if unlike, _ := differences(a, b); len(unlike) > 0 {
		return fmt.Errorf("%w: %s", ErrUnlike, JoinDifferences(unlike))
	}
	return nil
}

// overall is the verdict over the gated changes and what was lost.
func (c Comparison) overall() string {
	n := map[string]int{}
	for _, change := range c.Changes {
		if change.Gated {
			n[change.Verdict]++
		}
	}
	for _, l := range c.Lost {
		n[l.Verdict]++
	}
	switch {
	case n[Worse] > 0:
		return Slower
	case n[Undecided]+n[Changed] > 0 || len(n) == 0:
		return Undecided
	case n[Better] > 0:
		return Faster
	}
	return Same
}

// Worse lists the gated changes for the worse, and the conditions whose trials all
// failed, each in a line, for a gate to act on.
func (c Comparison) Worse() (lines []string) {
	for _, change := range c.Changes {
		if change.Gated && change.Verdict == Worse {
			lines = append(lines, fmt.Sprintf("%s: %s was %s and is %s", c.labelOf(change.Condition), change.name(), change.textA, change.textB))
		}
	}
	for _, l := range c.Lost {
		if l.Verdict == Worse {
			lines = append(lines, c.lossText(l))
		}
	}
	return lines
}

// name of the metric that changed, in words.
func (c Change) name() string {
	if c.OverDirect {
		return words.Metric(c.Metric) + " over direct"
	}
	return words.Metric(c.Metric)
}

func refTo(r trial.Run) Ref {
	return Ref{Run: r.ID, Chain: r.Chain, Experiment: r.Experiment, State: r.State, CreatedAt: r.CreatedAt}
}

// JoinDifferences is one line of all that differs.
func JoinDifferences(all []Difference) string {
	words := make([]string, len(all))
	for i, d := range all {
		words[i] = d.String()
	}
	return strings.Join(words, "; ")
}
