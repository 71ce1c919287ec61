package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// Trimmed is what is left of an experiment's conditions in a given time.
type Trimmed struct {
	// Kept are indices of the conditions, in their order.
	Kept []int
	// Dropped are the others, in their order, each with the reason.
	Dropped trial.List[trial.Infeasible]
	// Span is how long all of them would take, and those that claims need.
	Span Span
	// Seconds is how long those that are kept should take, and Over by how much that is
	// more than the budget, because claims need them.
	Seconds, Over float64
}

// Trimming is an experiment with what its conditions cost.
type Trimming struct {
	Spec api.ExperimentSpec
	Course
	// Repeats of each condition; they are never fewer for want of time.
	Repeats int
	Cost    Cost
}

// To a time, s: conditions are left out until the rest takes no longer. First those at the
// calibrated load go, then those that nobody asks for, then those of which the source prints a value, then those that claims
// and models take in without being told by them, the dearest first; those without which a
// claim cannot be told stay. A time of 0 drops nothing.
func (t Trimming) To(budget float64) Trimmed {
	left := make([]int, len(t.Conditions))
	for i := range left {
		left[i] = i
	}
	out := Trimmed{Span: Span{Most: t.seconds(left)}}
	value := worths(t.Spec, t.Conditions)
	spared := t.inOrder(left, value)
	least := slices.Clone(left)
	least = slices.DeleteFunc(least, func(i int) bool { return slices.Contains(spared, i) })
	out.Span.Least = t.seconds(least)
	out.Seconds = out.Span.Most
	var gone []int
	for _, i := range spared {
		if budget <= 0 || out.Seconds <= budget {
			break
		}
		left = slices.DeleteFunc(left, func(j int) bool { return j == i })
		gone = append(gone, i)
		out.Seconds = t.seconds(left)
	}
	slices.Sort(gone)
	for _, i := range gone {
		out.Dropped = append(out.Dropped, trial.Infeasible{Factors: t.name(i), Reason: t.why(i, value[i], budget)})
	}
	out.Kept = left
	if budget > 0 {
		out.Over = max(0, out.Seconds-budget)
	}
	return out
}

// inOrder are the conditions that may be dropped, the first to go first. One always stays.
func (t Trimming) inOrder(all []int, value []worth) []int {
	of := func(i int) worth {
		if t.last(i) {
			return value[i] - beyond
		}
		return value[i]
	}
	spared := slices.Clone(all)
	spared = slices.DeleteFunc(spared, func(i int) bool { return of(i) == needed })
	slices.SortStableFunc(spared, func(i, j int) int {
		return cmp.Or(cmp.Compare(of(i), of(j)), cmp.Compare(t.dear(j), t.dear(i)), cmp.Compare(j, i))
	})
	if len(spared) == len(all) && len(all) > 0 {
		spared = spared[:len(spared)-1]
	}
	return spared
}

// last tells conditions of which the source knows nothing: they go before all others.
func (t Trimming) last(i int) bool { return isCalibrated(t.Conditions[i].Factors) }

// why a condition was dropped.
func (t Trimming) why(i int, value worth, budget float64) string {
	reason := reasons[value]
	if t.last(i) {
		reason = "it is at this machine's calibrated load, beyond what the source measured"
	}
	return fmt.Sprintf("left out for want of time (%s): %s", time.Duration(budget*float64(time.Second)).Round(time.Second), reason)
}

// reasons for which conditions may be dropped.
var reasons = map[worth]string{
	spare:    "no claim, no model and no value of the source asks for it",
	printed:  "the source prints a value for it, and no claim is told by it",
	selected: "claims or models take it in, and can do without",
}

// name of a condition: its factors, and what else tells it apart from others of the same.
func (t Trimming) name(i int) map[string]any {
	c := t.Conditions[i]
	name := maps.Clone(map[string]any(c.Factors))
	if name == nil {
		name = map[string]any{}
	}
	for j, other := range t.Conditions {
		if i == j || len(other.Factors) != len(c.Factors) || !Matches(other, c.Factors) {
			continue
		}
		if other.Protocol != c.Protocol {
			name["protocol"] = c.Protocol
		}
		if other.Path != c.Path {
			name["path"] = c.Path
		}
	}
	return name
}

// dear is what a condition costs by itself.
func (t Trimming) dear(i int) float64 {
	return lasts(t.Conditions[i]) + t.Cost.another(t.Course, i)
}

func (t Trimming) seconds(some []int) float64 {
	return t.Cost.Expect(t.of(some), t.Repeats)
}
