package report

import (
	"math"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// unit writes values of a metric.
type unit words.Unit

// unitFor is the unit to print values of a metric in, the largest of them given.
func unitFor(metric string, largest float64) unit { return unit(words.UnitFor(metric, largest)) }

// number writes a value in the unit, with the digits that its size deserves.
func (u unit) number(v float64) string {
	if u.Name == "" && v == math.Trunc(v) {
		return fixed(v, 0) // a count
	}
	return fixed(v/u.Factor, decimals(v/u.Factor))
}

// value writes a value with the unit behind it.
func (u unit) value(v float64) string { return join(u.number(v), u.Name) }

// centred writes a value and, where there is one, its interval, both with the
// digits that the interval leaves certain: two of its half width.
func (u unit) centred(v float64, ci *[2]float64) (value, interval string) {
	if ci == nil {
		return u.number(v), ""
	}
	lo, hi := ci[0]/u.Factor, ci[1]/u.Factor
	d := decimals(v / u.Factor)
	if v == 0 {
		d = decimals(max(math.Abs(lo), math.Abs(hi)))
	}
	if half := (hi - lo) / 2; half > 0 && finite(half) {
		d = max(0, min(d, 1-int(math.Floor(math.Log10(half)))))
	} else if half == 0 {
		return u.number(v), "[" + u.number(v) + ", " + u.number(v) + "]"
	}
	return fixed(v/u.Factor, d), "[" + fixed(lo, d) + ", " + fixed(hi, d) + "]"
}

func join(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + " " + unit
}

// decimals leave four significant digits, and no more than four after the point, unless
// less than two of the digits would be left: one frame lost of ten million is not none.
func decimals(v float64) int {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	size := int(math.Floor(math.Log10(math.Abs(v)) + 1e-9)) // 1e-7/.01 is a little less than 1e-5
	return max(0, min(4, 3-size), min(mostDecimals, 1-size))
}

// mostDecimals that are written of any value.
const mostDecimals = 12

func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// printed writes one value of a metric in the unit that suits it.
func printed(metric string, v float64) string { return unitFor(metric, v).value(v) }

// shareText writes a share in per cent, with the digits that its size deserves: three, and
// more where what is not all would read as all.
func shareText(share float64) string {
	text := words.Significant(100*share, 3)
	for n := 4; text == "100" && share < 1 && n < mostDecimals; n++ {
		text = words.Significant(100*share, n)
	}
	return text + "%"
}
