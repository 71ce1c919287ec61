package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// Fits fits every model of the experiment to a run's trials, in the
// experiment's order. A model that cannot be fitted comes back without params
// and points, and its notes say why.
func Fits(spec api.ExperimentSpec, run trial.Run) []Fit {
	run = derived(run)
	out := make([]Fit, len(spec.Models))
	for i, m := range spec.Models {
		over := overOf(m)
		out[i] = Fit{
			Name: m.Name, Kind: m.Kind, Metric: m.Metric, Over: over, Where: m.Where, Formula: modelKinds[m.Kind].formula(m.Metric, over),
			Params: []Param{}, Points: []FitPoint{}, Notes: []string{},
		}
		s, err := collect(spec.Models, m, run)
		if err == nil {
			err = s.solve()
		}
		if err != nil {
			out[i].Notes = append(out[i].Notes, "not fitted: "+plainly(err))
			continue
		}
		out[i].fill(s)
	}
	return out
}

// plainly says what is wrong without the word that only programs look for.
func plainly(err error) string {
	return strings.ReplaceAll(err.Error(), model.ErrNoFit.Error()+": ", "")
}

// series is what a model is fitted to, and the fit.
type series struct {
	model.Series
	m    api.Model
	over string
	fit  model.Fitted
	// missing are values that have no trials yet.
	missing []float64
}

func overOf(m api.Model) string {
	if m.Over != "" {
		return m.Over
	}
	return api.ModelFactors[m.Kind]
}

// zeroOf a factor is where a model counts from.
func zeroOf(over string) float64 {
	if over == "length" {
		return 2
	}
	return 0
}

// collect gathers the trials a model asks for. Others are the experiment's models, which
// it may take parameters from.
func collect(others []api.Model, m api.Model, run trial.Run) (series, error) {
	s := series{m: m, over: overOf(m)}
	if err := s.check(); err != nil {
		return s, err
	}
	s.Series = model.Series{Kind: m.Kind, Zero: zeroOf(s.over), Rate: isRate(m.Metric), Cores: float64(CoresOf(run.Environment))}
	if err := s.borrow(others, run); err != nil {
		return s, err
	}
	seen := map[[2]float64]bool{}
	for _, i := range matching(run, m.Where) {
		l, err := s.level(run, i)
		if err != nil {
			return s, err
		}
		if at := [2]float64{l.X, l.Flows}; seen[at] {
			return s, fmt.Errorf("%s is true of several conditions of %s %s; the model must name one", Describe(m.Where), s.over, short(l.X))
		} else {
			seen[at] = true
		}
		if len(l.Y) == 0 {
			s.missing = append(s.missing, l.X)
		} else {
			s.Levels = append(s.Levels, l)
		}
	}
	return s, nil
}

// check a model before looking at any trial.
func (s series) check() error {
	if _, known := modelKinds[s.m.Kind]; !known {
		return fmt.Errorf("this version of nfchain knows no model of kind %q", s.m.Kind)
	}
	if s.over == "" {
		return fmt.Errorf("it is not said which factor the model goes over")
	}
	if err := averageable(s.m.Metric); err != nil {
		return err
	}
	if !isRate(s.m.Metric) && !isTime(s.m.Metric) {
		return fmt.Errorf("%s is neither a rate nor a time", s.m.Metric)
	}
	return nil
}

// level is what one condition is to the model.
func (s series) level(run trial.Run, condition int) (model.Level, error) {
	c := run.Conditions[condition]
	x, is := valueOf(c, s.over)
	if !is {
		return model.Level{}, fmt.Errorf("%s of a condition is no number: %v", s.over, c.Factors[s.over])
	}
	l := model.Level{X: x, Y: run.Independent(condition, s.m.Metric), Left: s.leaves(x)}
	if s.m.Kind == model.SharedCores {
		l.Flows = float64(c.Flows)
	}
	return l, nil
}

// leaves tells whether a value is left out of the fit, and only compared with it.
func (s series) leaves(x float64) bool {
	return s.m.MaxLength > 0 && s.over == "length" && x > float64(s.m.MaxLength) ||
		slices.ContainsFunc(s.m.Holdout, func(v any) bool { return same(s.over, v, x) })
}

// valueOf a condition is the number that a factor has there.
func valueOf(c trial.Condition, field string) (float64, bool) {
	if field == "length" {
		return float64(lengthOf(c)), true
	}
	v, has := c.Factors[field]
	if !has {
		v = own(c)[field]
	}
	if x, is := number(v); is {
		return x, true
	}
	return api.LevelOf(field, v)
}

// borrow takes over what the model is not to fit itself.
func (s *series) borrow(others []api.Model, run trial.Run) (err error) {
	if s.m.Kind != model.TwoFactor {
		return nil
	}
	if s.Switch, err = lossOf(others, s.m.From, run); err != nil {
		return err
	}
	if s.m.Namespaces != "" {
		s.Namespace, err = lossOf(others, s.m.Namespaces, run)
	}
	return err
}

// lossOf a step is what another model of the experiment found.
func lossOf(others []api.Model, name string, run trial.Run) (*model.Step, error) {
	at := slices.IndexFunc(others, func(m api.Model) bool { return m.Name == name })
	if at < 0 || others[at].Kind != model.LossPerHop {
		return nil, fmt.Errorf("the experiment has no model %q of kind %s to take a loss from", name, model.LossPerHop)
	}
	s, err := collect(others, others[at], run)
	if err == nil {
		err = s.solve()
	}
	if err != nil {
		return nil, fmt.Errorf("the model %s is not fitted: %w", name, err)
	}
	return s.fit.Step(), nil
}

func (s *series) solve() (err error) {
	s.fit, err = model.Fit(s.Series)
	return err
}

// fill puts a fit into its report.
func (f *Fit) fill(s series) {
	for _, p := range s.fit.Params {
		f.Params = append(f.Params, inUnits(p, s.m.Metric))
	}
	least, most := s.fittedRange()
	f.Range = &[2]float64{least, most}
	for _, p := range s.fit.Points {
		f.Points = append(f.Points, s.point(p))
	}
	if scatter := s.fit.Scatter; !math.IsNaN(scatter) {
		f.Scatter = &scatter
	}
	if s.enough() == nil {
		f.MaxError = &Bounded{s.fit.MaxError.Value, s.fit.MaxError.CI95}
	}
	held, err := model.Foretell(s.Series)
	if err == nil {
		f.HeldOut = s.heldOut(held)
	}
	f.Curve = s.curve()
	f.Notes = append(f.Notes, s.notes(err)...)
}

func (s series) point(p model.Predicted) FitPoint {
	least, most := s.fittedRange()
	out := FitPoint{
		X: p.X, Flows: int(p.Flows), Measured: p.Measured, Predicted: p.Predicted, RelativeError: p.RelativeError, Fitted: p.Fitted,
		Stretched: p.X < least || p.X > most,
	}
	if s.over == "length" {
		out.Length = int(p.X)
	}
	return out
}

func (s series) heldOut(h model.HeldOut) *HeldOut {
	out := HeldOut{ErrorRatio: h.Error.Value, CI95: h.Error.CI95, InTurn: h.InTurn, Points: []FitPoint{}}
	for _, p := range h.Points {
		p.Fitted = false
		out.Points = append(out.Points, s.point(p))
	}
	return &out
}

// fittedRange is the least and the greatest value that was fitted.
func (s series) fittedRange() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, l := range s.Levels {
		if !l.Left {
			least, most = min(least, l.X), max(most, l.X)
		}
	}
	return least, most
}

// curvePoints is how many a curve has from one measured value to the next.
const curvePoints = 8

// curve of a model over all values measured; nil for one that looks at flows too.
func (s series) curve() (out [][2]float64) {
	points := s.fit.Points
	if s.m.Kind == model.SharedCores || len(points) < 2 {
		return nil
	}
	add := func(x float64) {
		if y := s.fit.At(x, 1); !math.IsNaN(y) && !math.IsInf(y, 0) {
			out = append(out, [2]float64{x, y})
		}
	}
	for i, p := range points[1:] {
		from := points[i].X
		for k := range curvePoints {
			add(from + (p.X-from)*float64(k)/curvePoints)
		}
	}
	add(points[len(points)-1].X)
	return out
}

// list writes numbers with commas between.
func list(xs []float64) string {
	words := make([]string, len(xs))
	for i, x := range xs {
		words[i] = short(x)
	}
	return strings.Join(words, ", ")
}

// fittedValues of the factor, ascending.
func (s series) fittedValues() []float64 {
	seen := map[float64]bool{}
	for _, l := range s.Levels {
		if !l.Left {
			seen[l.X] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
