package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Components parts the variance of repeats that were measured on several
// instances of the same chain, each made anew (one-way random effects).
type Components struct {
	// Instances is how many there were.
	Instances int `json:"instances"`
	// Within is the standard deviation of repeats on one instance, and Between
	// that of the instances' true means, both as a share of the mean.
	Within  float64 `json:"within_ratio"`
	Between float64 `json:"between_ratio"`
	// WithinCI95 and BetweenCI95 bound them.
	WithinCI95  *[2]float64 `json:"within_ci95,omitempty"`
	BetweenCI95 *[2]float64 `json:"between_ci95,omitempty"`
}

// PartVariance parts the variance within groups, which are the repeats on each
// instance, and between them; nil where fewer than two groups, no group of two
// values, or a mean of zero define it.
//
// Point estimates are those of the analysis of variance (Searle, Casella and
// McCulloch, Variance Components, 1992, §3.5), a negative one being zero. The
// interval within is that of χ². The one between is Williams' (1962) and Tukey's
// (1951), with groups of unlike size taken by their unweighted means and harmonic
// mean size (Thomas and Hultquist 1978; Burdick and Graybill, Confidence Intervals
// on Variance Components, 1992, §4.3). Normal repeats and instances are assumed;
// TestComponentsCover simulates both.
func PartVariance(groups [][]float64) *Components {
	g, ok := anova(groups)
	if !ok {
		return nil
	}
	between := math.Max(0, g.between/g.size-g.within/g.size)
	c := &Components{Instances: len(groups), Within: math.Sqrt(g.within) / g.mean, Between: math.Sqrt(between) / g.mean}
	c.WithinCI95 = g.share(g.withinInterval())
	c.BetweenCI95 = g.share(g.betweenInterval())
	return c
}

// table is a one-way analysis of variance.
type table struct {
	mean float64 // of the groups' means, absolute
	// within and between are mean squares, with their degrees of freedom; size is
	// the harmonic mean of the groups' sizes.
	within, between     float64
	withinDF, betweenDF float64
	size                float64
}

func anova(groups [][]float64) (t table, ok bool) {
	var means []float64
	squares, inverse := 0.0, 0.0
	for _, xs := range groups {
		if len(xs) == 0 {
			return t, false
		}
		n := float64(len(xs))
		means = append(means, stat.Mean(xs, nil))
		inverse += 1 / n
		if len(xs) > 1 {
			squares += stat.Variance(xs, nil) * (n - 1)
			t.withinDF += n - 1
		}
	}
	if len(groups) < 2 || t.withinDF == 0 {
		return t, false
	}
	t.betweenDF, t.size = float64(len(groups)-1), float64(len(groups))/inverse
	t.within, t.between = squares/t.withinDF, t.size*stat.Variance(means, nil)
	t.mean = math.Abs(stat.Mean(means, nil))
	return t, t.mean > 0
}

// withinInterval is that of the variance within, after χ².
func (t table) withinInterval() (low, high float64) {
	chi := distuv.ChiSquared{K: t.withinDF}
	sum := t.within * t.withinDF
	return sum / chi.Quantile((1+confidence)/2), sum / chi.Quantile((1-confidence)/2)
}

// betweenInterval is Williams' and Tukey's: from where F would be significant,
// by the χ² of the groups' means.
func (t table) betweenInterval() (low, high float64) {
	f := distuv.F{D1: t.betweenDF, D2: t.withinDF}
	chi := distuv.ChiSquared{K: t.betweenDF}
	bound := func(p float64) float64 {
		excess := t.between - t.within*f.Quantile(p)
		return max(0, t.betweenDF*excess/(t.size*chi.Quantile(p)))
	}
	return bound((1 + confidence) / 2), bound((1 - confidence) / 2)
}

// share turns the bounds of a variance into those of a deviation, over the mean.
func (t table) share(low, high float64) *[2]float64 {
	return &[2]float64{math.Sqrt(low) / t.mean, math.Sqrt(high) / t.mean}
}
