package model

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"nfchain.dev/nfchain/internal/stats"
)

// curve is a model at the least sum of squares, with how sure its theta is.
type curve struct {
	form   form
	theta  []float64
	levels []Level
	logs   [][]float64
	trials int
	// variance of a trial about the curve; NaN without degrees of freedom.
	variance float64
	jacobian [][]float64
	// covariance of theta for trials of variance 1; nil where the trials do not tell
	// the parameters apart.
	covariance *mat.SymDense
}

func (d data) curve(f form, theta []float64, at []int) curve {
	c := curve{form: f, theta: theta, variance: math.NaN()}
	p := problem{form: f}
	squares := 0.0
	for _, i := range at {
		c.levels, c.logs = append(c.levels, d.levels[i]), append(c.logs, d.logs[i])
		p.levels, p.means = append(p.levels, d.levels[i]), append(p.means, d.means[i])
		for _, y := range d.logs[i] {
			squares += math.Pow(y-f.log(theta, d.levels[i]), 2)
			c.trials++
		}
	}
	if free := c.trials - len(theta) - f.places; free > 0 {
		c.variance = squares / float64(free)
	}
	c.jacobian = p.jacobian(theta)
	c.covariance = inverse(c.jacobian, p.levels, len(theta))
	return c
}

// tooClose is the condition from which on parameters are not told apart.
const tooClose = 1e14

// inverse of JᵀWJ, nil where there is none.
func inverse(jacobian [][]float64, levels []Level, n int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i, l := range levels {
		for j := range n {
			for k := j; k < n; k++ {
				a.SetSym(j, k, a.At(j, k)+float64(len(l.Y))*jacobian[i][j]*jacobian[i][k])
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) || !(chol.Cond() < tooClose) {
		return nil
	}
	var out mat.SymDense
	if chol.InverseTo(&out) != nil {
		return nil
	}
	return &out
}

// degrees of freedom that the fit leaves.
func (c curve) degrees() float64 { return float64(c.trials - len(c.theta) - c.form.places) }

// interval is Student's t of a parameter by the delta method; absent without degrees of
// freedom.
func (c curve) interval(p param) stats.Estimate {
	if p.known != nil {
		return p.known.Estimate
	}
	at := p.inner(c.theta)
	e := stats.Estimate{Value: p.through(at)}
	variance := c.variance*c.spread(gradient(c.theta, p.inner)) + p.more
	if math.IsNaN(variance) || c.degrees() < 1 {
		return e
	}
	half := quantileT(c.degrees()) * math.Sqrt(variance)
	low, high := p.through(at-half), p.through(at+half)
	if low, high = min(low, high), max(low, high); !math.IsNaN(low+high) && !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		e.CI95 = &[2]float64{low, high}
	}
	return e
}

// spread is the variance of a linear function of theta, for trials of variance 1.
func (c curve) spread(slope []float64) float64 {
	v := mat.NewVecDense(len(slope), slope)
	return max(0, mat.Inner(v, c.covariance, v))
}

// step is what one step of a power law leaves.
func (c curve) step(params []Param) Step {
	p := c.form.params[1]
	s := Step{Log: p.inner(c.theta), Variance: c.variance * c.spread(gradient(c.theta, p.inner)), Lost: params[1].Estimate}
	if math.IsNaN(s.Variance) {
		s.Variance = 0
	}
	return s
}

func quantileT(degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(0.975)
}

// largestError bounds the largest absolute relative error. The error at one level,
// predicted less measured in logarithms, moves with the levels' means as the fit's
// weights say and gets an interval of its own, without supposing that the model is
// right. All m together hold with 95% when each holds with 1 − 0.05/m (Bonferroni), and
// then the largest error lies between the largest of the lower bounds and the largest
// of the upper ones. It errs on the wide side.
func (c curve) largestError() stats.Estimate {
	worst, bounds, bounded := 0.0, [2]float64{}, true
	for i, l := range c.levels {
		worst = max(worst, math.Abs(math.Exp(c.form.log(c.theta, l))/mean(l.Y)-1))
		low, high, ok := c.errorAt(i)
		bounded = bounded && ok
		bounds[0], bounds[1] = max(bounds[0], low), max(bounds[1], high)
	}
	if !bounded {
		return stats.Estimate{Value: worst}
	}
	return stats.Estimate{Value: worst, CI95: &bounds}
}

// errorAt bounds the absolute relative error at the i-th level.
func (c curve) errorAt(i int) (low, high float64, ok bool) {
	weights := c.residualWeights(i)
	now := make([]float64, len(c.logs))
	for j, ys := range c.logs {
		now[j] = mean(ys)
	}
	residual := c.form.log(c.theta, c.levels[i]) - now[i]
	e := stats.DeltaInterval(1-0.05/float64(len(c.logs)), c.logs, func(means []float64) float64 {
		return residual + dot(weights, means) - dot(weights, now)
	})
	if e.CI95 == nil {
		return 0, 0, false
	}
	low, high = math.Expm1(e.CI95[0]), math.Expm1(e.CI95[1])
	if low <= 0 && high >= 0 {
		return 0, max(-low, high), true
	}
	low, high = math.Abs(low), math.Abs(high)
	return min(low, high), max(low, high), true
}

// residualWeights are by how much predicted less measured at the i-th level moves with
// the mean of each.
func (c curve) residualWeights(i int) []float64 {
	weights := make([]float64, len(c.levels))
	here := mat.NewVecDense(len(c.theta), c.jacobian[i])
	for j, l := range c.levels {
		there := mat.NewVecDense(len(c.theta), c.jacobian[j])
		weights[j] = float64(len(l.Y)) * mat.Inner(here, c.covariance, there)
	}
	weights[i]--
	return weights
}
