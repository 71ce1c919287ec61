package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// data is a series ready to be fitted: its levels in ascending order, with the
// logarithms of their trials.
type data struct {
	series Series
	levels []Level
	logs   [][]float64
	means  []float64
}

// prepare orders levels and refuses what has no logarithm or no place.
func prepare(s Series) (data, error) {
	d := data{series: s, levels: slices.Clone(s.Levels)}
	slices.SortStableFunc(d.levels, func(a, b Level) int {
		switch {
		case a.X < b.X, a.X == b.X && a.Flows < b.Flows:
			return -1
		case a.X == b.X && a.Flows == b.Flows:
			return 0
		}
		return 1
	})
	for i, l := range d.levels {
		if err := s.check(l); err != nil {
			return data{}, err
		}
		if i > 0 && d.levels[i-1].X == l.X && (d.levels[i-1].Flows == l.Flows || s.Kind != SharedCores) {
			return data{}, fmt.Errorf("%w: %g is given twice", ErrNoFit, l.X)
		}
		logs := make([]float64, len(l.Y))
		for j, y := range l.Y {
			logs[j] = math.Log(y)
		}
		d.logs, d.means = append(d.logs, logs), append(d.means, mean(logs))
	}
	return d, s.checkKnown()
}

// check one level.
func (s Series) check(l Level) error {
	switch {
	case len(l.Y) == 0:
		return fmt.Errorf("%w: %g has no trials", ErrNoFit, l.X)
	case !(l.X >= s.Zero) || math.IsInf(l.X, 1):
		return fmt.Errorf("%w: %g is below %g, where the model begins", ErrNoFit, l.X, s.Zero)
	case s.Kind == USL && l.X < 1, s.Kind == SharedCores && !(l.Flows >= 1):
		return fmt.Errorf("%w: there are no fewer flows than one", ErrNoFit)
	}
	for _, y := range l.Y {
		if !(y > 0) || math.IsInf(y, 1) {
			return fmt.Errorf("%w: a trial at %g measured %v, which has no logarithm", ErrNoFit, l.X, y)
		}
	}
	return nil
}

// checkKnown refuses a kind that is not told what it needs.
func (s Series) checkKnown() error {
	switch {
	case s.Kind == TwoFactor && s.Switch == nil:
		return fmt.Errorf("%w: the loss of a switch is not known", ErrNoFit)
	case s.Kind == SharedCores && !(s.Cores >= 1):
		return fmt.Errorf("%w: it is not known how many cores there were", ErrNoFit)
	case !s.Rate && !slices.Contains([]string{PerRule, PerContainer, ContainerStep, DelayPerHop}, s.Kind):
		return fmt.Errorf("%w: a model of kind %s is of a rate, not of a time", ErrNoFit, s.Kind)
	case s.Rate && s.Kind == DelayPerHop:
		return fmt.Errorf("%w: a model of kind %s is of a time, not of a rate", ErrNoFit, s.Kind)
	}
	return nil
}

// inside are the levels that are fitted.
func (d data) inside() (at []int) {
	for i, l := range d.levels {
		if !l.Left {
			at = append(at, i)
		}
	}
	return at
}

// outside are the levels that are left out.
func (d data) outside() (at []int) {
	for i, l := range d.levels {
		if l.Left {
			at = append(at, i)
		}
	}
	return at
}

func (d data) predicted(i int, f form, theta []float64) Predicted {
	l := d.levels[i]
	p := Predicted{X: l.X, Flows: l.Flows, Measured: mean(l.Y), Predicted: math.Exp(f.log(theta, l)), Fitted: !l.Left}
	p.RelativeError = p.Predicted/p.Measured - 1
	return p
}

func mean(xs []float64) float64 { return stat.Mean(xs, nil) }
