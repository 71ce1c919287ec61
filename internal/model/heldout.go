package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/stats"
)

// HeldOut is how far a model is from what it was not fitted to.
type HeldOut struct {
	// Error is the root mean square of ln(predicted/measured), about a share. Its
	// interval is absent without repeats.
	Error stats.Estimate
	// Points are the levels that were held out, as the fit without them has them.
	Points []Predicted
	// InTurn tells that each level was held out in turn; else it is those that are
	// left out of the fit anyway.
	InTurn bool
}

// Foretell takes a model's error at what it was not fitted to: at the levels that are
// left out of the fit, or, where none is, at each in turn (leave-one-level-out
// cross-validation, Stone 1974). Errors wrap [ErrNoFit].
func Foretell(s Series) (HeldOut, error) {
	d, err := prepare(s)
	if err != nil {
		return HeldOut{}, err
	}
	folds, err := d.folds()
	if err != nil {
		return HeldOut{}, err
	}
	h := HeldOut{InTurn: len(d.outside()) == 0, Error: estimate(d.rootMeanSquare(folds, d.means))}
	if math.IsInf(h.Error.Value, 0) || math.IsNaN(h.Error.Value) {
		return HeldOut{}, fmt.Errorf("%w: without one of the values, the model has none there", ErrNoFit)
	}
	for _, f := range folds {
		for _, i := range f.test {
			h.Points = append(h.Points, d.predicted(i, f.form, f.theta))
		}
	}
	var errs []float64
	d.draw(func(means []float64) { errs = append(errs, d.errorOf(folds, means)) })
	h.Error.CI95 = middle(0.95, errs)
	return h, nil
}

// Better estimates the held-out error of one model over that of another, of the same
// trials, with an interval of a confidence from 0 to 1. Below 1, the first foretells
// better. Errors wrap [ErrNoFit].
func Better(level float64, a, b Series) (stats.Estimate, error) {
	first, second, err := alike(a, b)
	if err != nil {
		return stats.Estimate{}, err
	}
	mine, err := first.folds()
	if err != nil {
		return stats.Estimate{}, err
	}
	other, err := second.folds()
	if err != nil {
		return stats.Estimate{}, err
	}
	e := estimate(first.rootMeanSquare(mine, first.means) / second.rootMeanSquare(other, second.means))
	var ratios []float64
	first.draw(func(means []float64) {
		ratios = append(ratios, first.errorOf(mine, means)/second.errorOf(other, means))
	})
	e.CI95 = middle(level, ratios)
	return e, nil
}

// alike prepares two series and refuses those of different trials.
func alike(a, b Series) (first, second data, err error) {
	if first, err = prepare(a); err != nil {
		return
	}
	if second, err = prepare(b); err != nil {
		return
	}
	if !slices.EqualFunc(first.levels, second.levels, func(k, l Level) bool {
		return k.X == l.X && k.Left == l.Left && slices.Equal(k.Y, l.Y)
	}) {
		err = fmt.Errorf("%w: the two models were not fitted to the same trials, or not tried on the same", ErrNoFit)
	}
	return
}

// fold is a fit without some levels.
type fold struct {
	train, test []int
	form        form
	theta       []float64
}

// folds are fitted to what was measured.
func (d data) folds() ([]fold, error) {
	inside, outside := d.inside(), d.outside()
	folds := []fold{{train: inside, test: outside}}
	if len(outside) == 0 {
		folds = nil
		for i := range inside {
			folds = append(folds, fold{train: slices.Delete(slices.Clone(inside), i, i+1), test: inside[i : i+1]})
		}
	}
	if len(folds) == 0 {
		return nil, fmt.Errorf("%w: there are no trials", ErrNoFit)
	}
	for i := range folds {
		f := &folds[i]
		var err error
		if f.theta, f.form, err = d.solve(f.train, d.means, nil); err != nil {
			return nil, fmt.Errorf("with %s held out, %w", listed(d.levels, f.test), err)
		}
	}
	return folds, nil
}

// errorOf the folds fitted again to other means, from where they are.
func (d data) errorOf(folds []fold, means []float64) float64 {
	again := slices.Clone(folds)
	for i, f := range again {
		p := problem{form: f.form}
		for _, j := range f.train {
			p.levels, p.means = append(p.levels, d.levels[j]), append(p.means, means[j])
		}
		again[i].theta, _ = p.polish(f.theta, rough)
	}
	return d.rootMeanSquare(again, means)
}

// rootMeanSquare of ln(predicted/measured) over all that the folds hold out.
func (d data) rootMeanSquare(folds []fold, means []float64) float64 {
	sum, n := 0.0, 0.0
	for _, f := range folds {
		for _, i := range f.test {
			miss := f.form.log(f.theta, d.levels[i]) - means[i]
			sum, n = sum+miss*miss, n+1
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(1) // the model has no value there, which is as far off as can be
	}
	return math.Sqrt(sum / n)
}

// listed are the values of some levels.
func listed(levels []Level, at []int) string {
	words := make([]string, len(at))
	for i, j := range at {
		words[i] = fmt.Sprintf("%g", levels[j].X)
	}
	return strings.Join(words, ", ")
}

// draws of what the levels' true means may be.
const draws = 500

// draw gives what the true mean logarithms of the levels may be, as far as the trials
// leave that open: the variance of a trial, the same at every level, from its confidence
// distribution (s²·f/χ² with f degrees of freedom within levels), and the means about
// those measured. Nothing is drawn without repeats.
func (d data) draw(each func(means []float64)) {
	squares, degrees := 0.0, 0
	for i, ys := range d.logs {
		for _, y := range ys {
			squares += (y - d.means[i]) * (y - d.means[i])
		}
		degrees += len(ys) - 1
	}
	if degrees == 0 {
		return
	}
	r := rand.New(rand.NewPCG(1974, uint64(degrees)))
	means := make([]float64, len(d.means))
	for range draws {
		chi := 0.0
		for range degrees {
			z := r.NormFloat64()
			chi += z * z
		}
		sd := math.Sqrt(squares / chi)
		for i := range means {
			means[i] = d.means[i] + sd*r.NormFloat64()/math.Sqrt(float64(len(d.logs[i])))
		}
		each(means)
	}
}

// middle is the interval that holds the middle share of what was drawn; nil of nothing,
// and where an end is no number.
func middle(level float64, xs []float64) *[2]float64 {
	xs = slices.DeleteFunc(xs, math.IsNaN)
	if len(xs) < draws/2 {
		return nil
	}
	slices.Sort(xs)
	tail := (1 - level) / 2 * float64(len(xs)-1)
	low, high := xs[int(math.Floor(tail))], xs[int(math.Ceil(float64(len(xs)-1)-tail))]
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return nil
	}
	return &[2]float64{low, high}
}
