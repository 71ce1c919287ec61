package stats

import "math"

// Extreme is the least, or the greatest, of several quantities.
type Extreme struct {
	Estimate
	// At is the place of the quantity that was estimated least, or greatest; Near is
	// that of the one whose interval reaches farthest beyond it, and Far of the one that
	// bounds the extreme from within. For the least these are the lowest of all lower
	// ends and the lowest of all upper ends.
	At, Near, Far int
}

// Least estimates the least of n quantities; of gives each with an interval of the
// given confidence (0 to 1). The interval is of 95%.
//
// The least is no lower than the lowest of the quantities' own lower ends unless the
// interval of the one quantity that is the least fails, so those are of 95% each,
// however many there are (Berger 1982: a union of hypotheses is tested by testing
// each at the full level). It is no higher than the lowest of the upper ends unless
// any interval fails, so those hold at once (Bonferroni).
//
// There is no interval unless every quantity has its own. The value is NaN where one
// of them is.
func Least(n int, of func(i int, level float64) Estimate) Extreme {
	e := Extreme{Estimate: Estimate{Value: math.Inf(1)}}
	ends, bounded := [2]float64{math.Inf(1), math.Inf(1)}, n > 0
	for i := range n {
		alone, together := of(i, confidence), of(i, simultaneous(n))
		if math.IsNaN(alone.Value) || alone.Value < e.Value {
			e.Value, e.At = alone.Value, i
		}
		if bounded = bounded && alone.CI95 != nil; !bounded {
			continue
		}
		if alone.CI95[0] < ends[0] {
			ends[0], e.Near = alone.CI95[0], i
		}
		if together.CI95 != nil && together.CI95[1] < ends[1] {
			ends[1], e.Far = together.CI95[1], i
		}
	}
	if bounded && !math.IsInf(ends[1], 1) {
		e.CI95 = &ends
	}
	return e
}

// Greatest is [Least] upside down.
func Greatest(n int, of func(i int, level float64) Estimate) Extreme {
	e := Least(n, func(i int, level float64) Estimate { return negative(of(i, level)) })
	e.Estimate = negative(e.Estimate)
	return e
}

// simultaneous is the confidence of each of n intervals that hold at once with 95%
// (Bonferroni).
func simultaneous(n int) float64 { return 1 - (1-confidence)/float64(n) }

func negative(e Estimate) Estimate {
	e.Value = -e.Value
	if ci := e.CI95; ci != nil {
		e.CI95 = &[2]float64{-ci[1], -ci[0]}
	}
	return e
}
