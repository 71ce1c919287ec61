package model

import (
	"math"

	"nfchain.dev/nfchain/internal/stats"
)

func (l Loss) predict(p Point, fitted bool) Predicted {
	q := Predicted{N: p.N, Measured: mean(p.Y), Predicted: l.At(p.N), Fitted: fitted}
	q.RelativeError = q.Predicted/q.Measured - 1
	return q
}

// largest is the greatest absolute relative error over the fitted lengths.
func (l Loss) largest() float64 {
	worst := 0.0
	for _, p := range l.Points {
		if p.Fitted {
			worst = max(worst, math.Abs(p.RelativeError))
		}
	}
	return worst
}

// largestError bounds the largest absolute relative error. The error at one
// length, predicted less measured in logarithms, is linear in the lengths' means
// and gets an interval of its own, without supposing that the model is right.
// All m together hold with 95% when each holds with 1 − 0.05/m (Bonferroni), and
// then the largest error lies between the largest of the lower bounds and the
// largest of the upper ones. It errs on the wide side.
func (l line) largestError() *[2]float64 {
	level := 1 - 0.05/float64(len(l.logs))
	worst := [2]float64{}
	for i := range l.logs {
		weights := l.residualWeights(i)
		e := stats.DeltaInterval(level, l.logs, func(means []float64) float64 { return dot(weights, means) })
		if e.CI95 == nil {
			return nil
		}
		low, high := math.Expm1(e.CI95[0]), math.Expm1(e.CI95[1])
		if low <= 0 && high >= 0 {
			low, high = 0, max(-low, high)
		}
		low, high = math.Abs(low), math.Abs(high)
		worst[0], worst[1] = max(worst[0], min(low, high)), max(worst[1], low, high)
	}
	return &worst
}

// residualWeights give predicted less measured at the i-th length as a weighted
// sum of all lengths' means.
func (l line) residualWeights(i int) []float64 {
	weights := make([]float64, len(l.logs))
	for j, ys := range l.logs {
		weights[j] = float64(len(ys)) * (1/l.n + (l.x[i]-l.meanX)*(l.x[j]-l.meanX)/l.sxx)
	}
	weights[i]--
	return weights
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
