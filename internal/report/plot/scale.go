package plot

import (
	"math"
	"strconv"
	"strings"
)

// scale maps the values of an axis onto pixels.
type scale struct {
	lo, hi   float64 // values at the ends
	from, to float64 // pixels at the ends
	log      bool
}

// at is the pixel of a value.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// holds tells a value that has a place: a logarithm has none for zero and less.
func (s scale) holds(v float64) bool { return !s.log || v > 0 }

// span is an axis that holds all of values that are finite and ends on a tick.
func (a Axis) span(values []float64) (s scale, ticks []float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if a.Zero || lo > hi {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	if a.Log && lo > 0 {
		ticks = logTicks(lo, hi)
	} else {
		a.Log = false
		ticks = linearTicks(lo, hi)
	}
	return scale{lo: ticks[0], hi: ticks[len(ticks)-1], log: a.Log}, ticks
}

// linearTicks are four to eight multiples of a nice step, from at most lo to at
// least hi.
func linearTicks(lo, hi float64) []float64 {
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/2, hi+math.Abs(hi)/2
	}
	if lo == hi {
		hi = 1
	}
	step := niceStep((hi - lo) / 5)
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	var ticks []float64
	for k := first; k <= last; k++ {
		ticks = append(ticks, k*step)
	}
	return ticks
}

// niceStep is 1, 2 or 5 times a power of ten, the nearest above.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= step*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// logTicks are 1, 2 and 5 times powers of ten, or only powers where the range
// is long, from at most lo to at least hi.
func logTicks(lo, hi float64) []float64 {
	steps := []float64{1, 2, 5}
	if hi/lo > 1e4 {
		steps = steps[:1]
	}
	var ticks []float64
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi))+1; e++ {
		for _, m := range steps {
			tick := m * math.Pow(10, e)
			if len(ticks) > 0 && tick <= lo*1.0001 {
				ticks = ticks[:0] // a later tick still lies below
			}
			ticks = append(ticks, tick)
			if tick >= hi*0.9999 && len(ticks) > 1 {
				return ticks
			}
		}
	}
	return ticks
}

// tickText writes a tick with no more decimals than its neighbours need.
func tickText(v float64, ticks []float64) string {
	step := math.Inf(1)
	for i := 1; i < len(ticks); i++ {
		step = min(step, math.Abs(ticks[i]-ticks[i-1]))
	}
	decimals := 0
	for d := step; decimals < 6 && math.Abs(d-math.Round(d)) > 1e-6*d; d *= 10 {
		decimals++
	}
	return grouped(strconv.FormatFloat(v, 'f', decimals, 64))
}

// grouped puts thin spaces into long whole numbers.
func grouped(s string) string {
	if len(s) < 5 || strings.ContainsAny(s, ".-") {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u2009" + s[i:]
	}
	return s
}
