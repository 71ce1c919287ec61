package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// JSON writes a comparison as one object.
func (c Comparison) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// Text writes a comparison for a terminal.
func (c Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "a: %s\nb: %s\nb is %s\n", c.A, c.B, c.overallText("a"))
	if c.Forced {
		section(&b, "FORCED: UNLIKE ENVIRONMENTS, WHICH MAY BE THE WHOLE DIFFERENCE", bulleted(differenceLines(c.Unlike)))
	}
	section(&b, "ALSO DIFFERENT", bulleted(differenceLines(c.Noted)))
	if len(c.Changes) > 0 {
		b.WriteString("\n")
		aligned(&b, c.table())
	}
	section(&b, "NO LONGER MEASURED", bulleted(c.losses()))
	section(&b, "NOT COMPARED", bulleted(c.alone()))
	section(&b, "", c.notes())
	_, err := io.WriteString(w, b.String())
	return err
}

// String names a run in a line.
func (r Ref) String() string {
	what := "chain " + r.Chain
	if r.Experiment != "" {
		what = "experiment " + r.Experiment
	}
	return fmt.Sprintf("run %s of %s, %s, %s", r.Run, what, r.State, r.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))
}

func differenceLines(all []Difference) (lines []string) {
	for _, d := range all {
		lines = append(lines, d.String())
	}
	return lines
}

func (c Comparison) table() table {
	var t table
	t.column("condition", false)
	t.column("metric", false)
	t.column("a", true)
	t.column("b", true)
	t.column("b/a", true)
	t.column("95% interval", true)
	t.column("verdict", false)
	for _, change := range c.Changes {
		ratio, interval := "–", "–"
		if change.Ratio != nil {
			ratio, interval = ratioText(stats.Estimate{Value: *change.Ratio, CI95: change.CI95})
		}
		t.add(true, c.labelOf(change.Condition), change.name(), change.textA, change.textB, ratio, interval, verdictText(change))
	}
	return t
}

// againstTable is the comparison with the baseline within a report.
func (r Report) againstTable() table {
	if r.Against == nil {
		return table{}
	}
	t := r.Against.table()
	t.Title = "Against the baseline"
	t.Caption = "a: " + r.Against.A.String() + ". This run, b, is " + r.Against.overallText("a") + "."
	if lost := r.Against.losses(); len(lost) > 0 {
		t.Caption += " No longer measured: " + strings.Join(lost, "; ") + "."
	}
	return t
}

// against says in a line how the run stands to its baseline.
func (r Report) against() string {
	text := "this run is " + r.Against.overallText("run "+r.Against.A.Run)
	if r.Against.Forced {
		text += ", FORCED: the environments are unlike (" + JoinDifferences(r.Against.Unlike) + "), which may be the whole difference"
	}
	return text
}

// overallText is the verdict on run b as a whole, a being called so.
func (c Comparison) overallText(a string) string {
	tolerance := a + ", at a tolerance of " + shareText(c.Margin)
	switch c.Verdict {
	case Same:
		return "the same as " + tolerance
	case Undecided:
		return "undecided against " + tolerance + ": " + c.whyUndecided()
	}
	if c.Verdict == Slower && c.onlyLost() {
		return Slower + " than " + tolerance + ": every trial of " + words.Plural(len(c.Worse()), "condition") + " failed"
	}
	return c.Verdict + " than " + tolerance
}

// whyUndecided says what keeps a verdict from being told.
func (c Comparison) whyUndecided() string {
	switch {
	case len(c.Lost) > 0:
		return words.Plural(len(c.Lost), "condition") + " measured before without a value now"
	case !slices.ContainsFunc(c.Changes, func(change Change) bool { return change.Gated }):
		return "no condition through the chain was measured in both"
	}
	return "the repeats are too few or scatter too much"
}

// onlyLost tells a run that is slower by what it lost alone.
func (c Comparison) onlyLost() bool {
	return !slices.ContainsFunc(c.Changes, func(change Change) bool { return change.Gated && change.Verdict == Worse })
}

// verdictText marks the changes that the whole goes by.
func verdictText(c Change) string {
	if c.Gated {
		return c.Verdict + " (gate)"
	}
	return c.Verdict
}

// alone are the conditions without a partner.
func (c Comparison) alone() (lines []string) {
	for _, cond := range c.OnlyA {
		lines = append(lines, "only in a: "+c.labelOf(cond))
	}
	for _, cond := range c.OnlyB {
		lines = append(lines, "only in b: "+c.labelOf(cond))
	}
	return lines
}

// notes say how the verdicts came about, and how far they go.
func (c Comparison) notes() []string {
	n := map[string]int{}
	for _, change := range c.Changes {
		n[change.Verdict]++
	}
	for _, l := range c.Lost {
		n[l.Verdict]++
	}
	var counts []string
	for _, verdict := range []string{Better, Worse, Same, Undecided, Changed} {
		if n[verdict] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n[verdict], verdict))
		}
	}
	t := shareText(c.Margin)
	lines := []string{strings.Join(counts, ", "),
		"same: the whole interval lies within " + t + " of 1. better, worse: all of it lies on one side of 1, and the ratio more than " + t + " from it.",
		fmt.Sprintf("gate: the main metric of each condition through the chain, relative to the direct path where both runs have it, by its interval of %s, so that all of them hold at once with 95%%.", shareText(c.GateConfidence))}
	if c.directChanged() {
		lines = append(lines, "The direct path, which no function touches, changed too: the machine may be the cause.")
	}
	if c.tooFew() {
		lines = append(lines, "Where there is no interval the trials are too few, four for a percentile, or a may be zero.")
	}
	if len(c.Changes) >= 10 {
		lines = append(lines, fmt.Sprintf("Of %d comparisons at 95%%, about %d would miss by chance alone.", len(c.Changes), (len(c.Changes)+10)/20))
	}
	return lines
}

// directChanged tells whether the direct path is not what it was, where that is not
// what is asked.
func (c Comparison) directChanged() bool {
	for _, change := range c.Changes {
		if !change.Gated && change.Condition.Path == trial.PathDirect && change.Metric == trial.MainMetric(func(m string) bool { return m == change.Metric }) &&
			(change.Verdict == Worse || change.Verdict == Better) {
			return true
		}
	}
	return false
}

// tooFew tells whether any ratio has no interval.
func (c Comparison) tooFew() bool {
	for _, change := range c.Changes {
		if change.CI95 == nil {
			return true
		}
	}
	return false
}
