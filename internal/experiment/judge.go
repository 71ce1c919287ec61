package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// unavailable is the kind of check of a claim that nothing here can measure yet.
const unavailable = "unavailable"

// Judge says of each claim, in the experiment's order, what a run's trials make
// of it. has tells whether the run had a feature or wiring that a claim needs;
// nil has none. A claim holds when the whole 95% interval of its quantity lies
// in the claim's range, its ends included, does not hold when no part of it does,
// and is undecided otherwise; so is one that would hold where a trial that it looks
// at failed. The intervals are per claim: of twenty claims that
// hold in truth, one may be expected to come back otherwise.
func Judge(spec api.ExperimentSpec, run trial.Run, has func(feature string) bool) []Verdict {
	run = derived(run)
	out := make([]Verdict, len(spec.Claims))
	for i, c := range spec.Claims {
		v := Verdict{ID: c.ID, Text: c.Text, At: c.At, Note: c.Note, AtLeast: c.Check.AtLeast, AtMost: c.Check.AtMost}
		if why := cannot(c, run, has); why != "" {
			v.Verdict, v.Reason = CannotBeTold, why
		} else if f, err := checks[c.Check.Kind](spec, run, c.Check); err != nil {
			v.Verdict, v.Reason = CannotBeTold, err.Error()
		} else {
			lack := lacking(spec, run, c.Check)
			if lack != "" {
				f.nothing = "" // there may have been some in what failed
			}
			v.decide(f)
			v.doubt(lack)
			v.Reason += notLookedAt(spec, run, c.Check)
		}
		out[i] = v
	}
	return out
}

// cannot is why a claim cannot be told before looking at any trial; empty if it can.
func cannot(c api.Claim, run trial.Run, has func(string) bool) string {
	if why := wants(c.Needs, CoresOf(run.Environment), has); why != "" {
		return why
	}
	if c.Check.Kind == unavailable || c.Check.Kind == "" {
		return "this version of nfchain has no check for it"
	}
	if checks[c.Check.Kind] == nil {
		return fmt.Sprintf("this version of nfchain knows no check of kind %q", c.Check.Kind)
	}
	if c.Check.AtLeast == nil && c.Check.AtMost == nil {
		return "the claim gives no range, so anything would fulfil it"
	}
	return ""
}

// wants is what a claim needs and the run had not; empty if it had.
func wants(needs string, cores int, has func(string) bool) string {
	number, ofCores := strings.CutSuffix(needs, " cores")
	if n, err := strconv.Atoi(number); ofCores && err == nil {
		if cores >= n {
			return ""
		}
		return fmt.Sprintf("it needs %d cores, and there were %d", n, cores)
	}
	if needs != "" && (has == nil || !has(needs)) {
		return fmt.Sprintf("it needs %s, which is not to be had here", needs)
	}
	return ""
}

// decide compares a finding with the range.
func (v *Verdict) decide(f finding) {
	v.Quantity = f.quantity
	if f.nothing != "" && f.repeats > 1 {
		v.decideNothing(f)
		return
	}
	if value := f.estimate.Value; math.IsNaN(value) || math.IsInf(value, 0) {
		v.Verdict, v.Reason = CannotBeTold, "the trials do not define the "+f.quantity
		return
	}
	v.Estimate, v.CI95 = &f.estimate.Value, f.estimate.CI95
	needs := "; the statement needs " + v.wanted(f.value)
	switch {
	case f.repeats < 2:
		v.CI95 = nil
		v.Verdict, v.Reason = Undecided, f.found+", but fewer than two repeats give no interval"+needs
	case v.CI95 == nil:
		v.Verdict, v.Reason = Undecided, f.found+", but the trials are too few, or scatter too much, to give an interval"+needs
	default:
		v.Verdict = v.placed(f)
		v.Reason = fmt.Sprintf("%s (95%% interval %s to %s)%s", f.found, f.value(v.CI95[0]), f.value(v.CI95[1]), needs)
	}
	if f.missing != "" && v.Verdict != DoesNotHold {
		v.Verdict, v.Reason = CannotBeTold, f.missing+"; of the rest: "+v.Reason
	}
}

// decideNothing of a finding of which there was none: what is 0 throughout did not grow, and
// is no more at one place than at another.
func (v *Verdict) decideNothing(f finding) {
	v.Verdict, v.Reason = CannotBeTold, f.nothing+", which does not define the "+f.quantity
	if place([2]float64{f.still, f.still}, v.AtLeast, v.AtMost, f.side) == DoesNotHold {
		v.Verdict, v.Reason = DoesNotHold, f.nothing+", the same everywhere; the statement needs "+v.wanted(f.value)
	}
}

// doubt takes back that a claim holds, for a reason; an empty one is none.
func (v *Verdict) doubt(why string) {
	if v.Verdict == Holds && why != "" {
		v.Verdict, v.Reason = Undecided, v.Reason+"; but "+why+", and what is left of such a condition may flatter it"
	}
}

// placed tells where a finding lies, seen from the range.
func (v *Verdict) placed(f finding) string {
	if len(f.candidates) == 0 {
		return place(*v.CI95, v.AtLeast, v.AtMost, f.side)
	}
	verdict := ""
	for _, x := range f.candidates {
		at := place([2]float64{x, x}, v.AtLeast, v.AtMost, f.side)
		if verdict != "" && verdict != at {
			return Undecided
		}
		verdict = at
	}
	return verdict
}

// place tells where an interval lies, seen from a range, or from one of its bounds.
func place(ci [2]float64, atLeast, atMost *float64, s side) string {
	least, most := math.Inf(-1), math.Inf(1)
	if atLeast != nil && s != upperSide {
		least = *atLeast
	}
	if atMost != nil && s != lowerSide {
		most = *atMost
	}
	switch {
	case ci[0] >= least && ci[1] <= most:
		return Holds
	case ci[1] < least || ci[0] > most:
		return DoesNotHold
	}
	return Undecided
}

// wanted puts the range in words.
func (v *Verdict) wanted(value func(float64) string) string {
	switch {
	case v.AtMost == nil:
		return "at least " + value(*v.AtLeast)
	case v.AtLeast == nil:
		return "at most " + value(*v.AtMost)
	}
	return "between " + value(*v.AtLeast) + " and " + value(*v.AtMost)
}
