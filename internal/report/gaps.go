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
	of := r.outcomes()
	name, without := labels(r.Conditions), []string{}
	for i, c := range r.Conditions {
		switch {
		case of[i].done == 0 && of[i].failed == 0:
			without = append(without, name.of(c.Condition))
		case of[i].done < r.Run.RepeatsOf(c.Condition):
			why := fmt.Sprintf("has %d of %s", of[i].done, words.Plural(r.Run.RepeatsOf(c.Condition), "trial"))
			out = append(out, gap{name.of(c.Condition), strings.TrimSuffix(why+"; "+of[i].why, "; ")})
		}
	}
	if len(without) > 0 {
		out = append(out, gap{words.Few(without, fewNamed, "; "), "no trial of it is stored: the run is " + r.Run.State})
	}
	return out
}

// outcome is how many trials of a condition are done, and how many failed and so
// measured nothing; why is the reason of the first of these.
type outcome struct {
	done, failed int
	why          string
}

// outcomes of the conditions. The steps of a search are no trials of their own.
func (r Report) outcomes() []outcome {
	of := make([]outcome, len(r.Conditions))
	for _, t := range r.Run.Trials {
		switch {
		case t.Step > 0 || t.Condition < 0 || t.Condition >= len(of):
		case len(t.Metrics) > 0 || len(t.Warnings) == 0:
			of[t.Condition].done++
		default:
			of[t.Condition].fail(t.Warnings[0])
		}
	}
	return of
}

func (o *outcome) fail(why string) {
	if o.failed++; o.failed == 1 {
		o.why = why
	}
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
