package report

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// gapsTable has what a run did not measure, and why: conditions without trials, and
// combinations that are no conditions. Nil where it measured everything.
func (r Report) gapsTable() *table {
	t := &table{Caption: "Claims that need one of these cannot be told here."}
	t.column("what", false)
	t.column("why", false)
	for _, g := range append(r.unmeasured(), r.leftOutCells()...) {
		t.add(true, g.what, g.why)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// gap is something that was not measured, and why.
type gap struct{ what, why string }

// unmeasured are the conditions of which fewer trials measured anything than were asked for.
func (r Report) unmeasured() (out []gap) {
	if r.Run.State == trial.Running {
		return nil
	}
	done, failed := r.counted()
	name, without := labels(r.Conditions), []string{}
	for i, c := range r.Conditions {
		switch {
		case done[i] == 0 && failed[i] == "":
			without = append(without, name.of(c.Condition))
		case done[i] < r.Run.RepeatsOf(c.Condition):
			why := fmt.Sprintf("has %d of %s", done[i], words.Plural(r.Run.RepeatsOf(c.Condition), "trial"))
			out = append(out, gap{name.of(c.Condition), strings.TrimSuffix(why+"; "+failed[i], "; ")})
		}
	}
	if len(without) > 0 {
		out = append(out, gap{words.Few(without, fewNamed, "; "), "no trial of it is stored: the run is " + r.Run.State})
	}
	return out
}

// counted is how many trials each condition has, without those that failed and
// so measured nothing; failed is why the first of these did.
func (r Report) counted() (done []int, failed []string) {
	done, failed = make([]int, len(r.Conditions)), make([]string, len(r.Conditions))
	for _, t := range r.Run.Trials {
		switch {
		case t.Step > 0 || t.Condition < 0 || t.Condition >= len(done):
		case len(t.Metrics) > 0 || len(t.Warnings) == 0:
			done[t.Condition]++
		case failed[t.Condition] == "":
			failed[t.Condition] = t.Warnings[0]
		}
	}
	return done, failed
}

// leftOutCells are the combinations of the sweep that are no conditions, by reason:
// those that cannot be had, and those that were dropped.
func (r Report) leftOutCells() []gap {
	return append(byReason(r.Run.Infeasible), byReason(r.Run.Dropped)...)
}

// byReason has the combinations with one reason together.
func byReason(cells []trial.Infeasible) (out []gap) {
	var reasons []string
	cases := map[string][]string{}
	for _, c := range cells {
		if !slices.Contains(reasons, c.Reason) {
			reasons = append(reasons, c.Reason)
		}
		cases[c.Reason] = append(cases[c.Reason], experiment.Describe(c.Factors))
	}
	for _, reason := range reasons {
		out = append(out, gap{words.Few(cases[reason], fewNamed, "; "), reason})
	}
	return out
}

// fewNamed is how many of many things a sentence names.
const fewNamed = 4
