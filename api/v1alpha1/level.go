package v1alpha1

import (
	"maps"
	"slices"
)

// wordFactors are those whose values are words even where they look like numbers.
var wordFactors = []string{"affinity", "protocol", "flows_by", "wiring", FactorMix}

// LevelOf is the number that a factor's value stands for: itself, or of a text with a
// unit the bits per second, the frames per second or the bytes. ok is false for words.
func LevelOf(field string, v any) (level float64, ok bool) {
	if slices.Contains(wordFactors, field) {
		return 0, false
	}
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case string:
		return levelOfText(v)
	}
	return 0, false
}

func levelOfText(text string) (float64, bool) {
	if r, err := ParseLoadRate(text); err == nil {
		return float64(r.Bits + r.Frames), true
	}
	size, err := ParseSize(text)
	return float64(size), err == nil
}

// distinct values, in the order in which they come first.
func distinct(all []any) (out []any) {
	for _, v := range all {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
