package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// CalibratedFactor marks what is measured at the load that the machine carries most of,
// beside what an experiment's source measured. A selection that does not ask for it means
// the source's.
const CalibratedFactor = "calibrated"

// twinSuffix ends the ids of claims that are judged at the calibrated load.
const twinSuffix = "@" + CalibratedFactor

// loadFields are the factors that a calibrated load gives other values.
var loadFields = []string{"flows", "load.flows", "payload_size", "load.payload_size"}

func isCalibrated(factors map[string]any) bool { return factors[CalibratedFactor] == true }

// AtCalibrated adds to points, behind them, those that they come to at the flows and payload
// size of a calibration: for bulk loads over TCP, and with UDP, whose datagrams have sizes of
// their own, for the flows. What is there already, or comes to the same, is not added.
func AtCalibrated(points []Point, best map[string]any) []Point {
	flows, hasFlows := number(best["flows"])
	size, hasSize := number(best["payload_size"])
	if !hasFlows || !hasSize {
		return points
	}
	all, seen := points, map[string]bool{}
	for _, p := range points {
		if !bulk(p) {
			continue
		}
		twin := p.clone()
		twin.load(int(flows), api.Size(size))
		if twin.Load.Flows == p.Load.Flows && twin.Load.PayloadSize == p.Load.PayloadSize {
			continue
		}
		twin.Factors[CalibratedFactor] = true
		if key := Describe(twin.Factors); !seen[key] {
			seen[key] = true
			all = append(all, twin)
		}
	}
	return all
}

// WithPointsOf adds the points at the load that a stored condition was calibrated to, if it
// was to any, so that its own is among them.
func WithPointsOf(points []Point, c trial.Condition) []Point {
	if !isCalibrated(c.Factors) {
		return points
	}
	return AtCalibrated(points, map[string]any{"flows": c.Flows, "payload_size": c.PayloadSize})
}

// bulk tells the points that measure how much goes through, as much as can be.
func bulk(p Point) bool {
	l := p.Load
	others := slices.ContainsFunc(l.Protocols, func(s string) bool { return s != trial.TCP && s != trial.UDP })
	return p.Infeasible == "" && len(l.Protocols) == 1 && !others && l.Search == nil && l.Rate == api.LoadRate{} && l.Frames == api.Frames{}
}

// load gives a point so many flows and, over TCP, that size, in its load and in those of its
// factors that say so.
func (p *Point) load(flows int, size api.Size) {
	p.Load.Flows = flows
	p.refactor(flows, "flows", "load.flows")
	if p.Load.Protocols[0] == trial.TCP {
		p.Load.PayloadSize = size
		p.refactor(int(size), "payload_size", "load.payload_size")
	}
}

func (p *Point) refactor(value int, fields ...string) {
	for _, field := range fields {
		if _, has := p.Factors[field]; has {
			p.Factors[field] = value
		}
	}
}

// WithTwins adds to the claims of an experiment, behind them, those that can be judged at the
// calibrated load too, if a run has that. What compares loads has no twin, nor has
// what is told by a model.
func WithTwins(spec api.ExperimentSpec, conditions []trial.Condition) api.ExperimentSpec {
	if !slices.ContainsFunc(conditions, func(c trial.Condition) bool { return isCalibrated(c.Factors) }) {
		return spec
	}
	spec.Claims = slices.Clip(spec.Claims)
	for _, c := range spec.Claims[:len(spec.Claims):len(spec.Claims)] {
		if check, can := twinOf(c.Check); can {
			c.ID, c.Check = c.ID+twinSuffix, check
			spec.Claims = append(spec.Claims, c)
		}
	}
	return spec
}

// twinOf a check: the same, of conditions at the calibrated load.
func twinOf(c api.Check) (api.Check, bool) {
	if c.Metric == "" || c.Model != "" || c.Kind == "best_ratio" || c.Kind == "possible" || slices.Contains(loadFields, c.Over) {
		return c, false
	}
	apart, seen := map[string]bool{}, map[string]bool{}
	for _, where := range named(c) {
		apart[Describe(where)] = true
	}
	for _, where := range []*map[string]any{&c.A, &c.B, &c.C, &c.D} {
		if where != &c.A && len(*where) == 0 {
			continue
		}
		other := maps.Clone(*where)
		if other == nil {
			other = map[string]any{}
		}
		for _, field := range loadFields {
			delete(other, field)
		}
		other[CalibratedFactor] = true
		seen[Describe(other)] = true
		*where = other
	}
	return c, len(seen) == len(apart)
}

// Untwinned leaves out the verdicts of twins that cannot be told because a run dropped what
// they look at: what was dropped is listed, and the claim itself is told.
func Untwinned(verdicts []Verdict, run trial.Run) []Verdict {
	if !slices.ContainsFunc(run.Dropped, func(cell trial.Infeasible) bool { return isCalibrated(cell.Factors) }) {
		return verdicts
	}
	return slices.DeleteFunc(verdicts, func(v Verdict) bool { return v.Verdict == CannotBeTold && strings.HasSuffix(v.ID, twinSuffix) })
}

// CalibratedNote says what the calibrated load of a run is; empty where it has none.
func CalibratedNote(conditions []trial.Condition) string {
	for _, c := range conditions {
		if isCalibrated(c.Factors) {
			return fmt.Sprintf("claims whose ids end with %s are judged at the load that this machine carries most of: flows=%d, payload_size=%d", twinSuffix, c.Flows, c.PayloadSize)
		}
	}
	return ""
}
