package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// problem is the least squares of a form at some levels, every trial a sample. All
// trials of a level have one prediction, so only their mean and number count.
type problem struct {
	form   form
	levels []Level
	means  []float64
}

// solve finds theta at the levels of these indices, whose mean logarithms are given, by
// the best of the kind's forms. With a theta to start from, only its surroundings are
// searched.
func (d data) solve(at []int, means []float64, from []float64) ([]float64, form, error) {
	p := problem{}
	for _, i := range at {
		p.levels, p.means = append(p.levels, d.levels[i]), append(p.means, means[i])
	}
	forms := formsOf(d.series, p.levels)
	if need := Parameters(d.series.withLevels(p.levels)); len(at) < max(need, 1) || len(forms) == 0 {
		return nil, form{}, fmt.Errorf("%w: it takes trials at %d values of what is varied, and there are %d", ErrNoFit, max(need, 1), len(at))
	}
	best, least, chosen := []float64(nil), math.Inf(1), form{}
	for _, f := range forms {
		p.form = f
		if theta, squares := p.search(from); squares < least {
			best, least, chosen = theta, squares, f
		}
	}
	if best == nil {
		return nil, form{}, fmt.Errorf("%w: the model has no value at some of the trials", ErrNoFit)
	}
	if d.series.Kind == Fading && best[2] < steepest {
		return nil, form{}, fmt.Errorf("%w: the share lost grows with what is varied, instead of fading", ErrNoFit)
	}
	return best, chosen, nil
}

// steepest is the least c of [Fading], in shares of the greatest value, that is taken for
// a fit: at −1 all is lost there, and the trials do not bound it.
const steepest = -0.9

// fewest levels that a kind takes, for a message where no form can be made.
var fewest = map[string]int{ContainerStep: 4}

func (s Series) withLevels(levels []Level) Series {
	s.Levels = levels
	return s
}

// search from several places, or from one that is given.
func (p problem) search(from []float64) ([]float64, float64) {
	if from != nil {
		return p.polish(from, exact)
	}
	best, least := []float64(nil), math.Inf(1)
	for _, start := range p.form.starts {
		theta := p.sized(start)
		if p.form.corners {
			theta = p.wander(theta)
		}
		theta, squares := p.polish(theta, exact)
		if squares < least {
			best, least = theta, squares
		}
	}
	return best, least
}

// sized puts the size in front of a start that lacks it: the one that fits best.
func (p problem) sized(start []float64) []float64 {
	if !p.form.sized {
		return start
	}
	theta := append([]float64{0}, start...)
	sum, n := 0.0, 0.0
	for i, l := range p.levels {
		w := float64(len(l.Y))
		sum, n = sum+w*(p.means[i]-p.form.log(theta, l)), n+w
	}
	theta[0] = sum / n
	return theta
}

// wander goes downhill without derivatives (Nelder and Mead 1965), because a corner of
// the model would stop what uses them.
func (p problem) wander(theta []float64) []float64 {
	settings := &optimize.Settings{FuncEvaluations: 400 * len(theta)}
	r, err := optimize.Minimize(optimize.Problem{Func: p.squares}, theta, settings, &optimize.NelderMead{SimplexSize: 0.2})
	if r == nil || (err != nil && math.IsInf(r.F, 1)) {
		return theta
	}
	return r.X
}

// squares of what is not met; infinite where the model has no value.
func (p problem) squares(theta []float64) float64 {
	sum := 0.0
	for i, l := range p.levels {
		miss := p.means[i] - p.form.log(theta, l)
		sum += float64(len(l.Y)) * miss * miss
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// How little a step may still gain, as a share of the sum of squares: for a result to the
// last digits, and for one of many draws.
const (
	exact = 1e-14
	rough = 1e-4
)

// polish is Levenberg's and Marquardt's descent (Marquardt 1963), until a step gains no
// more than a share of the sum of squares.
func (p problem) polish(theta []float64, gain float64) ([]float64, float64) {
	squares, damping := p.squares(theta), 1e-4
	for range 200 {
		jacobian := p.jacobian(theta)
		step, ok := p.downhill(theta, jacobian, damping)
		if !ok {
			return theta, squares
		}
		next := add(theta, step)
		switch s := p.squares(next); {
		case s < squares:
			small := squares-s < gain*squares
			theta, squares, damping = next, s, damping/10
			if small {
				return theta, squares
			}
		case damping > 1e8:
			return theta, squares
		default:
			damping *= 10
		}
	}
	return theta, squares
}

// downhill is one damped step.
func (p problem) downhill(theta []float64, jacobian [][]float64, damping float64) ([]float64, bool) {
	n := len(theta)
	a, g := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, l := range p.levels {
		w, miss := float64(len(l.Y)), p.means[i]-p.form.log(theta, l)
		for j := range n {
			g.SetVec(j, g.AtVec(j)+w*jacobian[i][j]*miss)
			for k := j; k < n; k++ {
				a.SetSym(j, k, a.At(j, k)+w*jacobian[i][j]*jacobian[i][k])
			}
		}
	}
	for j := range n {
		a.SetSym(j, j, a.At(j, j)*(1+damping)+1e-300)
	}
	var chol mat.Cholesky
	var step mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&step, g) != nil {
		return nil, false
	}
	return step.RawVector().Data, true
}

// jacobian has the derivatives of the model's logarithm by theta, level by level.
func (p problem) jacobian(theta []float64) [][]float64 {
	rows := make([][]float64, len(p.levels))
	for i, l := range p.levels {
		rows[i] = gradient(theta, func(t []float64) float64 { return p.form.log(t, l) })
	}
	return rows
}

// gradient by central differences.
func gradient(theta []float64, f func([]float64) float64) []float64 {
	out := make([]float64, len(theta))
	for j := range theta {
		h := 1e-6 * max(math.Abs(theta[j]), 1e-2)
		up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
		up[j], down[j] = up[j]+h, down[j]-h
		out[j] = (f(up) - f(down)) / (up[j] - down[j])
	}
	return out
}

func add(a, b []float64) []float64 {
	sum := make([]float64, len(a))
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	return sum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
