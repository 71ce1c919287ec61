package procfs

import (
	"slices"
	"strings"
)

// sortNatural orders names by their text with runs of digits compared as numbers.
func sortNatural(names []string) {
	slices.SortFunc(names, compareNatural)
}

func compareNatural(a, b string) int {
	for a != "" && b != "" {
		ra, rb := leadingRun(a), leadingRun(b)
		if c := compareRun(ra, rb); c != 0 {
			return c
		}
		a, b = a[len(ra):], b[len(rb):]
	}
	return strings.Compare(a, b)
}

// leadingRun is the longest prefix that is all digits or all non-digits.
func leadingRun(s string) string {
	digits := isDigit(s[0])
	for i := 1; i < len(s); i++ {
		if isDigit(s[i]) != digits {
			return s[:i]
		}
	}
	return s
}

// compareRun compares two runs; numbers by value, without converting them, so
// that their length has no limit.
func compareRun(a, b string) int {
	if isDigit(a[0]) && isDigit(b[0]) {
		na, nb := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		if len(na) != len(nb) {
			return len(na) - len(nb)
		}
		if c := strings.Compare(na, nb); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
