package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// short writes a number to one decimal, or to two digits below one.
func short(x float64) string {
	decimals := 1
	if size := math.Abs(x); size < 1 && size > 0 {
		decimals = min(12, 1-int(math.Floor(math.Log10(size))))
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

func percent(share float64) string { return short(100*share) + "%" }

// pointsOfPercent writes a difference between two percentages.
func pointsOfPercent(share float64) string { return short(100*share) + " points" }

// times needs more digits than a percentage: 0.92 is not 0.9.
func times(ratio float64) string { return strconv.FormatFloat(ratio, 'g', 3, 64) }

// contrast names two conditions by what differs: "from length=2 to length=3
// (flows=8)".
func contrast(a, b map[string]any) string {
	onlyA, onlyB, both := map[string]any{}, map[string]any{}, map[string]any{}
	for field, v := range b {
		onlyB[field] = v
	}
	for field, v := range a {
		if w, has := b[field]; has && same(field, v, w) {
			both[field] = v
			delete(onlyB, field)
		} else {
			onlyA[field] = v
		}
	}
	s := fmt.Sprintf("from %s to %s", Describe(onlyA), Describe(onlyB))
	if len(both) > 0 {
		s += " (" + Describe(both) + ")"
	}
	return s
}

// amount writes a value of a metric with its unit where that reads better.
func amount(metric string, x float64) string {
	if !strings.HasSuffix(metric, "_bps") {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return words.Amount(metric, x)
}
