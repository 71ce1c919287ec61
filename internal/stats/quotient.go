package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MedianRatioAt estimates how many times as large the values of b are as those of
// a by the median of all quotients b/a, with an interval of the given confidence
// (0 to 1) between two of the quotients: those that Mann and Whitney's test would
// not yet refuse (Hodges and Lehmann 1963; Bauer 1972, for quotients as for
// differences). It assumes that a and b scatter alike in proportion, and no
// distribution. Values below zero, and zeros in a, define no such quotient.
//
// There is no interval where the samples are too few for the confidence: for 95%
// it takes four of each.
func MedianRatioAt(level float64, a, b []float64) Estimate {
	a, b = finite(a), finite(b)
	if len(a) == 0 || len(b) == 0 || a[0] <= 0 || b[0] < 0 {
		return Estimate{Value: math.NaN()}
	}
	quotients := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			quotients = append(quotients, y/x)
		}
	}
	slices.Sort(quotients)
	e := Estimate{Value: median(quotients)}
	if rank := mannWhitneyRank(level, len(a), len(b)); rank > 0 {
		e.CI95 = &[2]float64{quotients[rank-1], quotients[len(quotients)-rank]}
	}
	return e
}

// mannWhitneyRank is the largest rank, from 1, of the n·m pairs whose interval from
// it to the same from above has the confidence; 0 if none has.
func mannWhitneyRank(level float64, n, m int) int {
	tail := (1 - level) / 2
	if n > exactRanks || m > exactRanks {
		deviation := math.Sqrt(float64(n*m*(n+m+1)) / 12)
		return max(0, int(math.Floor(float64(n*m)/2-distuv.UnitNormal.Quantile(1-tail)*deviation)))
	}
	sum := 0.0
	for u, share := range mannWhitney(n, m) {
		if sum += share; sum > tail {
			return u
		}
	}
	return 0
}

// exactRanks is how many values of each sample are still counted out.
const exactRanks = 30

// mannWhitney is the distribution of U, the number of pairs in which the second
// sample's value is the smaller, of n and m values that differ by chance alone. The
// orders are counted as in Mann and Whitney (1947, §3): by which sample the largest
// value is of.
func mannWhitney(n, m int) []float64 {
	// row[j][u] is the share of orders of i and j values with that U.
	row := make([][]float64, m+1)
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= n; i++ {
		next := make([][]float64, m+1)
		next[0] = []float64{1}
		for j := 1; j <= m; j++ {
			next[j] = make([]float64, i*j+1)
			total := float64(i + j)
			for u, share := range row[j] { // the first sample's is the largest: j pairs more
				next[j][u+j] += share * float64(i) / total
			}
			for u, share := range next[j-1] {
				next[j][u] += share * float64(j) / total
			}
		}
		row = next
	}
	return row[m]
}
