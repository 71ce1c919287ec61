package model

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"nfchain.dev/nfchain/internal/stats"
)

// widen the intervals of a model that has a place, which was chosen by trying, such as where
// a jump is. Any place counts at which the sum of squares is no more above the least than
// that of one parameter more would be with 95% (of F); the trials do not tell such places
// apart, and an interval takes in what each of them has. At the one place, as if it had
// been known, an interval of a jump near the noise would hold the truth in half of all cases.
func (d data) widen(f *Fitted, best curve, at []int) {
	if best.form.places == 0 || best.degrees() < 1 {
		return
	}
	p := problem{}
	for _, i := range at {
		p.levels, p.means = append(p.levels, d.levels[i]), append(p.means, d.means[i])
	}
	for _, p.form = range formsOf(d.series, p.levels) {
		theta, squares := p.search(nil)
		if theta == nil || math.IsInf(squares, 1) {
			continue
		}
		if other := d.curve(p.form, theta, at); other.covariance != nil && other.asGood(best) {
			for i, q := range p.form.params {
				f.Params[i].Estimate = united(f.Params[i].Estimate, other.interval(q), q.known != nil)
			}
		}
	}
}

// asGood tells that a form of as many parameters is not told from the best.
func (c curve) asGood(best curve) bool {
	excess := c.degrees() * (c.variance/best.variance - 1)
	return best.variance == 0 && c.variance == 0 || excess <= distuv.F{D1: 1, D2: best.degrees()}.Quantile(0.95)
}

// united is an estimate whose interval takes in another's; absent where one of them has none.
// A place has no interval but where others are as good.
func united(e, other stats.Estimate, place bool) stats.Estimate {
	a, b := e.CI95, other.CI95
	if place && e.Value == other.Value {
		return e
	}
	if place {
		b = &[2]float64{other.Value, other.Value}
		if a == nil {
			a = &[2]float64{e.Value, e.Value}
		}
	}
	if a == nil || b == nil {
		e.CI95 = nil
		return e
	}
	e.CI95 = &[2]float64{min(a[0], b[0]), max(a[1], b[1])}
	return e
}
