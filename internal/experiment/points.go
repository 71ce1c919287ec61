package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// MaxPoints is the most combinations a sweep may have. Ten thousand trials of
// five seconds take fourteen hours; more is a slip of the pen.
const MaxPoints = 10_000

// ErrSweep is returned for a sweep that makes no points.
var ErrSweep = errors.New("wrong sweep")

// Point is one combination of a sweep's values, to be measured.
type Point struct {
	// Factors are the values that lead here, by field name, as the file has them.
	Factors map[string]any
	// Chain and Load are the experiment's with those values put in. The slices
	// are the point's own; what they point at is shared and not to be changed.
	Chain api.ChainSpec
	Load  api.Load
}

// Points makes every combination of the sweep's values, the last factor varying
// fastest; without a sweep, the one point of the chain and load as they are.
// Factors are set in the order of the sweep. Load.Protocols is left as it is
// unless protocol is swept: it may make several conditions of one point.
// The quick load is the caller's to put into spec.Load before.
//
// Errors wrap [ErrSweep] and name every wrong factor and value by its path in
// the file.
func Points(spec api.ExperimentSpec) ([]Point, error) {
	if err := checkSweep(spec); err != nil {
		return nil, err
	}
	points := []Point{start(spec)}
	for _, factor := range spec.Sweep {
		var next []Point
		for _, p := range points {
			for _, v := range factor.Values {
				q := p.clone()
				if err := q.put(factor.Field, v); err != nil {
					return nil, fmt.Errorf("%w: %w", ErrSweep, err)
				}
				next = append(next, q)
			}
		}
		points = next
	}
	return bulkSizes(points), nil
}

// bulkSizes takes the payload's size away from points of latency alone where others
// measure something else: it is what a bulk load sends at once, and may be more than a
// datagram of latency holds. A point with several protocols knows of that by itself.
func bulkSizes(points []Point) []Point {
	latency := func(p Point) bool { return slices.Equal(p.Load.Protocols, []string{trial.Latency}) }
	if !slices.ContainsFunc(points, func(p Point) bool { return !latency(p) }) {
		return points
	}
	for i := range points {
		if latency(points[i]) {
			points[i].Load.PayloadSize = 0
		}
	}
	return points
}

func start(spec api.ExperimentSpec) Point {
	return Point{Factors: map[string]any{}, Chain: spec.Chain, Load: spec.Load}.clone()
}

func (p Point) clone() Point {
	p.Factors = maps.Clone(p.Factors)
	p.Chain.Functions = slices.Clone(p.Chain.Functions)
	p.Chain.Endpoints = slices.Clone(p.Chain.Endpoints)
	p.Load.Protocols = slices.Clone(p.Load.Protocols)
	return p
}
