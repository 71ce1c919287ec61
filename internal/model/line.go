package model

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"nfchain.dev/nfchain/internal/stats"
)

// line is log y = a + b·x by least squares over every trial, x = n−2.
type line struct {
	x    []float64   // per length
	logs [][]float64 // per length and trial

	n, meanX, sxx float64 // over trials
	a, b          float64
	// variance of a trial about the line, NaN with no more than two trials.
	variance float64
}

func fitLine(points []Point) line {
	var l line
	var xs, ys []float64
	for _, p := range points {
		logs := make([]float64, len(p.Y))
		for i, y := range p.Y {
			logs[i] = math.Log(y)
			xs, ys = append(xs, float64(p.N-2)), append(ys, logs[i])
		}
		l.x, l.logs = append(l.x, float64(p.N-2)), append(l.logs, logs)
	}
	l.a, l.b = stat.LinearRegression(xs, ys, nil, false)
	l.n, l.meanX = float64(len(xs)), mean(xs)
	squares := 0.0
	for i := range xs {
		l.sxx += (xs[i] - l.meanX) * (xs[i] - l.meanX)
		squares += math.Pow(ys[i]-l.a-l.b*xs[i], 2)
	}
	l.variance = math.NaN()
	if l.n > 2 {
		l.variance = squares / (l.n - 2)
	}
	return l
}

// slope is b carried through a monotone function.
func (l line) slope(through func(float64) float64) stats.Estimate {
	return l.interval(l.b, l.variance/l.sxx, through)
}

// intercept is a, the value at n = 2, carried through a monotone function.
func (l line) intercept(through func(float64) float64) stats.Estimate {
	return l.interval(l.a, l.variance*(1/l.n+l.meanX*l.meanX/l.sxx), through)
}

// interval is Student's t with n−2 degrees of freedom; absent without any.
func (l line) interval(value, variance float64, through func(float64) float64) stats.Estimate {
	e := stats.Estimate{Value: through(value)}
	if math.IsNaN(variance) {
		return e
	}
	half := distuv.StudentsT{Sigma: 1, Nu: l.n - 2}.Quantile(0.975) * math.Sqrt(variance)
	low, high := through(value-half), through(value+half)
	e.CI95 = &[2]float64{min(low, high), max(low, high)}
	return e
}

func mean(xs []float64) float64 { return stat.Mean(xs, nil) }
