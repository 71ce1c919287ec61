package experiment

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// lossPerHop is the one kind of model there is so far.
const lossPerHop = "loss_per_hop"

var formulas = map[string]string{lossPerHop: "t(n) = t(2)·(1−l)^(n−2)"}

// Fits fits every model of the experiment to a run's trials, in the
// experiment's order. A model that cannot be fitted comes back without params
// and points, and its notes say why.
func Fits(spec api.ExperimentSpec, run trial.Run) []Fit {
	run = withBusy(run)
	out := make([]Fit, len(spec.Models))
	for i, m := range spec.Models {
		out[i] = Fit{
			Name: m.Name, Kind: m.Kind, Metric: m.Metric, Formula: formulas[m.Kind],
			Params: []Param{}, Points: []FitPoint{}, Notes: []string{},
		}
		series, err := collect(m, run)
		if err != nil {
			out[i].Notes = append(out[i].Notes, "not fitted: "+err.Error())
			continue
		}
		out[i].fill(m, series)
	}
	return out
}

// series is a fit with what it was made from.
type series struct {
	fit     model.Loss
	points  []model.Point
	missing []int // lengths that have no trials yet
}

// collect gathers the trials a model asks for and fits it to them.
func collect(m api.Model, run trial.Run) (series, error) {
	var s series
	if m.Kind != lossPerHop {
		return s, fmt.Errorf("this version of nfchain knows no model of kind %q", m.Kind)
	}
	if err := averageable(m.Metric); err != nil {
		return s, err
	}
	seen := map[int]bool{}
	for _, i := range matching(run, m.Where) {
		n, ys := lengthOf(run.Conditions[i]), run.Independent(i, m.Metric)
		if seen[n] {
			return s, fmt.Errorf("%s is true of several conditions of length %d; the model must name one", Describe(m.Where), n)
		}
		seen[n] = true
		if len(ys) == 0 {
			s.missing = append(s.missing, n)
		} else {
			s.points = append(s.points, model.Point{N: n, Y: ys})
		}
	}
	var err error
	s.fit, err = model.LossPerHop(s.points, m.MaxLength)
	return s, err
}

// fill puts a fit into its report.
func (f *Fit) fill(m api.Model, s series) {
	f.Params = append(f.Params, param("t2", s.fit.T2), param("l", s.fit.L))
	for _, p := range s.fit.Points {
		f.Points = append(f.Points, FitPoint{p.N, p.Measured, p.Predicted, p.RelativeError, p.Fitted})
	}
	f.Notes = append(f.Notes, methodNote(s), readingsNote(m, s.fit), errorNote(s.fit))
	if len(s.missing) > 0 {
		f.Notes = append(f.Notes, "no trials yet of length "+list(s.missing))
	}
}

func param(name string, e stats.Estimate) Param { return Param{name, e.Value, e.CI95} }

func list(ns []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ns), " ", ", "), "[]") }
