package search

import (
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// evidence is how many trials of one length at one load met a goal and how many
// missed it. The length is a share of the goal's own, at most 1.
type evidence struct{ at, length, met, missed float64 }

// belief is where the critical load of a goal lies, by its trials.
type belief struct {
	cells []cell
	// weights of the cells, whose sum is all.
	weights []float64
	all     float64
}

// believe weighs where the load lies at which a full trial misses the goal as
// often as the exceed ratio allows (as often as not, where it allows none). The
// model: trials are independent, and the chance to miss is logistic in the
// logarithm of the load, with a middle that may be anywhere from half to twice the
// loads tried and a slope that may be anything from a cliff to a ramp, both uniform
// in their logarithm. What a short trial says of a full one is weighed both ways:
// either misses come at random over time, so that a short trial has fewer, or a
// trial is good or bad as a whole. A system that drifts, or has two modes, is not of
// that kind.
func believe(g trial.Goal, low, high float64, loads []atLoad) belief {
	seen := evidenceOf(g, loads)
	odds := 0.0
	if g.ExceedRatio > 0 {
		odds = math.Log(g.ExceedRatio / (1 - g.ExceedRatio))
	}
	b := belief{cells: cellsAround(low, high, seen)}
	best, logs := math.Inf(-1), []float64{}
	for _, overTime := range []bool{false, true} {
		for _, slope := range slopes(high - low) {
			for _, c := range b.cells {
				l := likelihood(seen, c.at-odds*slope, slope, overTime)
				best, logs = max(best, l), append(logs, l)
			}
		}
	}
	b.weights = make([]float64, len(b.cells))
	for i, l := range logs {
		w := math.Exp(l-best) * b.cells[i%len(b.cells)].width
		b.weights[i%len(b.cells)] += w
		b.all += w
	}
	return b
}

// inside is the share of the belief between two loads.
func (b belief) inside(low, high float64) float64 {
	var sum float64
	for i, c := range b.cells {
		if c.at > low && c.at < high {
			sum += b.weights[i]
		}
	}
	return sum / b.all
}

// quantile is where a share of the belief is reached.
func (b belief) quantile(share float64) float64 {
	var sum float64
	for i, c := range b.cells {
		if more := sum + b.weights[i]; more >= share*b.all && b.weights[i] > 0 {
			return c.at + c.width*((share*b.all-sum)/b.weights[i]-0.5)
		}
		sum += b.weights[i]
	}
	last := b.cells[len(b.cells)-1]
	return last.at + last.width/2
}

// trust is what the trials say of the critical load: how likely it lies between
// the bounds, and where it lies with 95%. Absent where a bound is.
func trust(g trial.Goal, b bounds, loads []atLoad) (confidence *float64, ci95 *[2]float64) {
	if b.low == nil || b.high == nil {
		return nil, nil
	}
	low, high := math.Log(b.low.pps), math.Log(b.high.pps)
	belief := believe(g, low, high, loads)
	share := belief.inside(low, high)
	return &share, &[2]float64{math.Exp(belief.quantile(0.025)), math.Exp(belief.quantile(0.975))}
}

func evidenceOf(g trial.Goal, loads []atLoad) []evidence {
	var out []evidence
	for _, l := range loads {
		from := len(out)
		for _, o := range l.trials {
			e := evidence{at: math.Log(l.pps), length: min(1, o.DurationS/g.FinalDurationS)}
			i := slices.IndexFunc(out[from:], func(other evidence) bool { return other.length == e.length })
			if i < 0 {
				i, out = len(out)-from, append(out, e)
			}
			if o.meets(g) {
				out[from+i].met++
			} else {
				out[from+i].missed++
			}
		}
	}
	return out
}

// cell of a grid over the logarithm of the load.
type cell struct{ at, width float64 }

// cellsAround the bounds are narrow, ten to the distance of the bounds, and wider
// beyond five and thirty such distances, where only ramps reach.
func cellsAround(low, high float64, seen []evidence) []cell {
	span := high - low
	bottom := min(seen[0].at, low) - math.Ln2
	top := max(seen[len(seen)-1].at, high) + math.Ln2
	edge := func(spans float64) (below, above float64) {
		return max(bottom, low-spans*span), min(top, high+spans*span)
	}
	nearLow, nearHigh := edge(5)
	farLow, farHigh := edge(30)
	var cells []cell
	cells = append(cells, divide(bottom, farLow, max(0.02, (farLow-bottom)/80))...)
	cells = append(cells, divide(farLow, nearLow, span/2)...)
	cells = append(cells, divide(nearLow, low, span/10)...)
	cells = append(cells, divide(low, high, span/10)...)
	cells = append(cells, divide(high, nearHigh, span/10)...)
	cells = append(cells, divide(nearHigh, farHigh, span/2)...)
	return append(cells, divide(farHigh, top, max(0.02, (top-farHigh)/80))...)
}

// divide an interval into cells of about a width.
func divide(from, to, width float64) []cell {
	n := math.Ceil((to - from) / width)
	var cells []cell
	for i := range int(n) {
		w := (to - from) / n
		cells = append(cells, cell{from + (float64(i)+0.5)*w, w})
	}
	return cells
}

// slopes from a cliff, which is a twentieth of the distance of the bounds, to a ramp.
func slopes(span float64) []float64 {
	const n = 10
	steep, flat := span/20, max(0.2, span)
	out := make([]float64, n)
	for i := range out {
		out[i] = steep * math.Pow(flat/steep, float64(i)/(n-1))
	}
	return out
}

// likelihood is the logarithm of the chance of what was seen.
func likelihood(seen []evidence, middle, slope float64, overTime bool) float64 {
	l := 0.0
	for _, e := range seen {
		// Minus the logarithm of the chance that a full trial meets the goal.
		against := softplus((e.at - middle) / slope)
		if overTime {
			against *= e.length
		}
		l -= e.met * against
		if e.missed > 0 {
			l += e.missed * math.Log(max(-math.Expm1(-against), 1e-300))
		}
	}
	return l
}

// softplus is ln(1+exp(x)), for any x.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
