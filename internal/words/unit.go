package words

import (
	"math"
	"strconv"
	"strings"
)

// Unit is a name and how many of a metric's own unit it holds.
type Unit struct {
	Name   string
	Factor float64
}

// units by the last word of a metric's name, ascending.
var units = map[string][]Unit{
	"bps":     {{"b/s", 1}, {"kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}, {"Tb/s", 1e12}},
	"pps":     {{"p/s", 1}, {"kp/s", 1e3}, {"Mp/s", 1e6}},
	"ns":      {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}},
	"s":       {{"s", 1}},
	"ratio":   {{"%", .01}},
	"bytes":   {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}},
	"hz":      {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}},
	"celsius": {{"°C", 1}},
}

// UnitFor is the unit to print values of a metric in, the largest of them given.
func UnitFor(metric string, largest float64) Unit {
	if strings.HasSuffix(metric, "mtu_bytes") {
		return Unit{"B", 1} // as everybody writes it
	}
	choice := Unit{"", 1}
	for i, u := range units[metric[strings.LastIndexByte(metric, '_')+1:]] {
		if i == 0 || math.Abs(largest) >= u.Factor {
			choice = u
		}
	}
	return choice
}

// Significant writes so many digits of a value, without an exponent.
func Significant(v float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Amount writes a value of a metric to four digits, with the unit that suits it.
func Amount(metric string, v float64) string {
	u := UnitFor(metric, v)
	number := Significant(v/u.Factor, 4)
	switch u.Name {
	case "":
		return number
	case "%":
		return number + u.Name
	}
	return number + " " + u.Name
}

// Metric is a metric in words, without its unit: "latency p99".
func Metric(metric string) string {
	parts := strings.Split(metric, "_")
	if _, has := units[parts[len(parts)-1]]; has && len(parts) > 1 {
		parts = parts[:len(parts)-1]
	}
	for i, w := range parts {
		if len(w) > 3 && w[0] == 'p' && strings.Trim(w[1:], "0123456789") == "" && w != "p100" {
			parts[i] = w[:3] + "." + w[3:] // p999 is 99.9%
		}
	}
	return strings.Join(parts, " ")
}

// IsUnit tells whether a metric's name may end so to say its unit.
func IsUnit(word string) bool { return units[word] != nil }
