package advise

import (
	"math"
	"strconv"
	"strings"
)

// scale is a unit and how many of the base unit it is.
type scale struct {
	name string
	size float64
}

// scales by the last word of a metric's name, the largest first.
var scales = map[string][]scale{
	"bps": {{"Tb/s", 1e12}, {"Gb/s", 1e9}, {"Mb/s", 1e6}, {"kb/s", 1e3}, {"b/s", 1}},
	"pps": {{"Gpps", 1e9}, {"Mpps", 1e6}, {"kpps", 1e3}, {"pps", 1}},
	"ns":  {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}},
}

// amount writes a value of a metric to four digits with its unit.
func amount(metric string, x float64) string {
	last := metric[strings.LastIndexByte(metric, '_')+1:]
	if last == "ratio" {
		return digits(100*x, 4) + "%"
	}
	units := scales[last]
	for i, u := range units {
		if math.Abs(x) >= u.size || i == len(units)-1 {
			return digits(x/u.size, 4) + " " + u.name
		}
	}
	return digits(x, 4)
}

// digits writes a number without an exponent.
func digits(x float64, n int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil {
		return strconv.FormatFloat(x, 'g', n, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// subject of a metric in words: "goodput", "latency p99".
func subject(metric string) string {
	name := metric[:max(0, strings.LastIndexByte(metric, '_'))]
	return strings.ReplaceAll(strings.ReplaceAll(name, "p999", "p99.9"), "_", " ")
}
