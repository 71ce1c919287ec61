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
	// Infeasible is why the point cannot be measured; empty as far as is known. Such a
	// point has no Chain and no Load.
	Infeasible string
	// Lacking tells that a machine with more cores could have it.
	Lacking bool
}

// Points makes every combination of the sweep's values, the last factor varying
// fastest; with cells, each of them with every combination; without either, the one
// point of the chain and load as they are. What goes by path is put in first, then the
// rest in the order of cell and sweep. Load.Protocols is left as it is unless protocol
// is swept: it may make several conditions of one point.
// The quick load is the caller's to put into spec.Load before. A combination that
// words refuse is a point that is infeasible. One that says nothing of its duration has
// the default of what it measures.
//
// Errors wrap [ErrSweep] and name every wrong factor and value by its path in
// the file.
func Points(spec api.ExperimentSpec, words api.Catalogue) ([]Point, error) {
	if err := checkSweep(spec); err != nil {
		return nil, err
	}
	template, err := words.Template(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSweep, err)
	}
	points := []Point{}
	for _, c := range combinations(spec) {
		p := start(spec)
		if err := p.putAll(c, template); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSweep, err)
		}
		points = append(points, p)
	}
	for i := range points {
		if load := &points[i].Load; load.Duration == 0 {
			load.Duration = load.DefaultDuration()
		}
	}
	return requests(frames(bulkSizes(points))), nil
}

// combinations of values, each in the order in which they are put in.
func combinations(spec api.ExperimentSpec) [][]api.Setting {
	all := [][]api.Setting{nil}
	if len(spec.Cells) > 0 {
		all = nil
		for _, cell := range spec.Cells {
			var settings []api.Setting
			for _, field := range slices.Sorted(maps.Keys(cell)) {
				settings = append(settings, api.Setting{Field: field, Value: cell[field]})
			}
			all = append(all, settings)
		}
	}
	for _, factor := range spec.Sweep {
		var next [][]api.Setting
		for _, c := range all {
			for _, v := range factor.Values {
				next = append(next, append(slices.Clip(c), api.Setting{Field: factor.Field, Value: v}))
			}
		}
		all = next
	}
	return all
}

// putAll sets a combination.
func (p *Point) putAll(settings []api.Setting, template *api.Template) error {
	var first, rest []api.Setting
	for _, s := range settings {
		p.Factors[s.Field] = s.Value
		if api.InTemplate(s.Field) {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	if len(first) > 0 {
		chain, load, problems := template.With(first)
		if len(problems) > 0 {
			p.refuse(problems[0].Path + ": " + problems[0].Message)
			return nil
		}
		p.Chain, p.Load = chain, load
	}
	for _, s := range rest {
		if err := p.put(s.Field, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// refuse the point.
func (p *Point) refuse(reason string) {
	p.Chain, p.Load, p.Infeasible = api.ChainSpec{}, api.Load{}, reason
}

// bulkSizes takes the payload's size away from points of latency alone where others
// measure something else: it is what a bulk load sends at once, and may be more than a
// datagram of latency holds. A point with several protocols knows of that by itself.
func bulkSizes(points []Point) []Point {
	latency := func(p Point) bool { return slices.Equal(p.Load.Protocols, []string{trial.Latency}) }
	if !slices.ContainsFunc(points, func(p Point) bool { return p.Infeasible == "" && !latency(p) }) {
		return points
	}
	for i := range points {
		if latency(points[i]) {
			points[i].Load.PayloadSize = 0
		}
	}
	return points
}

// frames takes what is said of them, and a search for their rate, away from points that
// measure no UDP where others do: nothing else can be offered in frames.
func frames(points []Point) []Point {
	udp := func(p Point) bool { return p.Infeasible == "" && slices.Contains(p.Load.Protocols, trial.UDP) }
	if !slices.ContainsFunc(points, udp) {
		return points
	}
	for i, p := range points {
		if udp(p) {
			continue
		}
		load := &points[i].Load
		load.Frames, load.Search = api.Frames{}, nil
		if load.Rate.Frames > 0 {
			load.Rate = api.LoadRate{}
		}
	}
	return points
}

// requests takes their rate away from points of latency alone where others ask web servers, whose it is, unless it is a point's own.
func requests(points []Point) []Point {
	if !slices.ContainsFunc(points, func(p Point) bool { return p.Infeasible == "" && slices.Contains(p.Load.Protocols, trial.HTTP) }) {
		return points
	}
	for i, p := range points {
		_, own := p.Factors["request_rate"]
		if !own && slices.Equal(p.Load.Protocols, []string{trial.Latency}) {
			points[i].Load.RequestRate = 0
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
