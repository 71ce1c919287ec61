package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// BetweenShare is the share of the variance of all repeats that lies between groups, which
// are the repeats on each instance of a chain made anew: the intraclass correlation of
// one-way random effects, between/(between+within). Its interval is that of F, exact for
// normal repeats and instances in groups of one size (Searle, Casella and McCulloch,
// Variance Components, 1992, §3.6), groups of unlike size being taken as [PartVariance]
// takes them. A share cannot be negative, so neither estimate nor interval goes below
// zero. NaN where [PartVariance] is nil, or where nothing varies.
func BetweenShare(groups [][]float64) Estimate {
	g, ok := anova(groups)
	if !ok || g.within == 0 && g.between == 0 {
		return Estimate{Value: math.NaN()}
	}
	if g.within == 0 {
		return Estimate{Value: 1, CI95: &[2]float64{1, 1}}
	}
	ratio := g.between / g.within
	f := distuv.F{D1: g.betweenDF, D2: g.withinDF}
	share := func(ratio float64) float64 {
		excess := max(0, ratio-1)
		return excess / (excess + g.size)
	}
	return Estimate{Value: share(ratio), CI95: &[2]float64{
		share(ratio / f.Quantile((1+confidence)/2)), share(ratio / f.Quantile((1-confidence)/2)),
	}}
}
