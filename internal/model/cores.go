package model

import (
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
)

// soft is the power of the soft maximum: where two limits are near each other, waiting
// for one adds to waiting for the other, so the curve has no corner.
const soft = 8

// sharedCores is a chain of namespaces under F flows on C cores. Each flow's sender
// spends s on a unit of work and h on each hop, for the kernel takes a packet through
// all namespaces on the core that sent it; its receiver spends r. A flow goes as fast
// as the slower of its two sides, and all together no faster than C cores:
//
//	1/t = max((s + h·x)/F, r/F, (s + r + h·x)/C)
//
// As long as cores are free, hops cost nothing until the sender is the slower side; when
// they are full, costs add up, and the share that each hop takes fades as 1/(1 + c·x)
// with c = h/(s + r).
func sharedCores(s Series, x func(Level) float64, reach float64, levels []Level) form {
	cost := func(t []float64, l Level) float64 {
		send, hops, receive := math.Exp(t[0]), math.Exp(t[1])*x(l)/reach, math.Exp(t[2])
		return softMax((send+hops)/l.Flows, receive/l.Flows, (send+receive+hops)/s.Cores)
	}
	size := smallestCost(levels) * s.Cores / 2
	var starts [][]float64
	for _, side := range []float64{0.3, 1, 3} {
		for _, hops := range []float64{0.1, 1, 10} {
			starts = append(starts, []float64{math.Log(size * side), math.Log(size * hops), math.Log(size / side)})
		}
	}
	exp := func(name string, j int, unit float64) param {
		return param{name: name, dimension: Cost, inner: func(t []float64) float64 { return t[j] - math.Log(unit) }, through: math.Exp}
	}
	return form{
		log:        func(t []float64, l Level) float64 { return -math.Log(cost(t, l)) },
		parameters: 3, starts: starts, corners: true,
		params: []param{exp("send", 0, 1), exp("per_hop", 1, reach), exp("receive", 2, 1)},
	}
}

func softMax(xs ...float64) float64 {
	most, sum := slices.Max(xs), 0.0
	for _, x := range xs {
		sum += math.Pow(x/most, soft)
	}
	return most * math.Pow(sum, 1.0/soft)
}

// smallestCost is that of the level which carries most.
func smallestCost(levels []Level) float64 {
	most := 0.0
	for _, l := range levels {
		for _, y := range l.Y {
			most = max(most, y)
		}
	}
	return 1 / most
}

// distinct values of what is varied, of the levels that are fitted, ascending.
func distinct(levels []Level) (xs []float64) {
	for _, l := range levels {
		if !l.Left {
			xs = append(xs, l.X)
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

func estimate(x float64) stats.Estimate { return stats.Estimate{Value: x} }
