// Package model fits the models that the source documents propose to what was
// measured, with the uncertainty of what is fitted. It is pure: samples in,
// numbers out.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
)

// ErrNoFit is returned where the samples do not determine a model.
var ErrNoFit = errors.New("no fit")

// Point is one chain length with what its trials measured.
type Point struct {
	// N counts the namespaces, both ends included.
	N int
	// Y is one value per trial, all in one unit, above zero.
	Y []float64
}

// Loss is the loss-per-hop model of Livi et al. §IV-C fitted to samples:
// t(n) = t(2)·(1−l)^(n−2).
type Loss struct {
	// T2 is the value at n = 2, in the samples' unit.
	T2 stats.Estimate
	// L is the share lost with each further namespace, below 1; negative is a gain.
	L stats.Estimate
	// Points are all lengths given, shortest first, fitted or not.
	Points []Predicted
	// MaxError is the largest absolute relative error over the fitted lengths.
	// Its interval is absent with fewer than two trials at a fitted length.
	MaxError stats.Estimate
}

// Predicted is one length, as measured and as the model has it.
type Predicted struct {
	N int
	// Measured is the mean of the trials.
	Measured  float64
	Predicted float64
	// RelativeError is Predicted/Measured − 1.
	RelativeError float64
	// Fitted is false for lengths that were left out of the fit.
	Fitted bool
}

// LossPerHop fits the model by least squares on log t, every trial a sample, to
// lengths up to maxLength (0: all). Errors wrap [ErrNoFit] and say what is missing.
//
// k = n−2 is the number of namespaces beyond the reference of n = 2. The paper's
// step from 2 to 3 counts so; its example for n = 5 takes k = n−1, which
// [Loss.AtAsPrinted] gives.
//
// The interval of l is Student's t of the slope, its ends carried through
// l = 1 − e^slope, which is exact since that is monotone. It takes the scatter
// about the line as the error, so that what the model misses widens it too, and
// supposes that trials scatter by the same share of their value at every length.
func LossPerHop(points []Point, maxLength int) (Loss, error) {
	points, err := byLength(points)
	if err != nil {
		return Loss{}, err
	}
	var within []Point
	for _, p := range points {
		if maxLength == 0 || p.N <= maxLength {
			within = append(within, p)
		}
	}
	if len(within) < 2 {
		return Loss{}, fmt.Errorf("%w: needs trials of two lengths, has %d", ErrNoFit, len(within))
	}
	line := fitLine(within)
	fit := Loss{T2: line.intercept(math.Exp), L: line.slope(func(s float64) float64 { return -math.Expm1(s) })}
	for i, p := range points {
		fit.Points = append(fit.Points, fit.predict(p, i < len(within)))
	}
	fit.MaxError = stats.Estimate{Value: fit.largest(), CI95: line.largestError()}
	return fit, nil
}

// byLength sorts points by length and refuses what has no logarithm or no place.
func byLength(points []Point) ([]Point, error) {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b Point) int { return a.N - b.N })
	for i, p := range points {
		if p.N < 2 || len(p.Y) == 0 {
			return nil, fmt.Errorf("%w: length %d with %d trials", ErrNoFit, p.N, len(p.Y))
		}
		if i > 0 && points[i-1].N == p.N {
			return nil, fmt.Errorf("%w: length %d is given twice", ErrNoFit, p.N)
		}
		for _, y := range p.Y {
			if !(y > 0) || math.IsInf(y, 1) {
				return nil, fmt.Errorf("%w: a trial of length %d measured %v, which has no logarithm", ErrNoFit, p.N, y)
			}
		}
	}
	return points, nil
}

// At is the model's value at n, with k = n−2.
func (l Loss) At(n int) float64 { return l.T2.Value * math.Pow(1-l.L.Value, float64(n-2)) }

// AtAsPrinted is the model's value at n with k = n−1, as the example in
// Livi et al. §IV-C has it.
func (l Loss) AtAsPrinted(n int) float64 { return l.At(n + 1) }
