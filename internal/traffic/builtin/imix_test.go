package builtin

import (
	"slices"
	"testing"
)

func TestGenome(t *testing.T) {
	for text, want := range map[string][]int{
		"a": {64}, "aaaaaaaddddg": {64, 64, 64, 64, 64, 64, 64, 512, 512, 512, 512, 1518},
		"ab{1400}h": {64, 128, 1400, 2112},
	} {
		if got, err := parseGenome(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "q", "a b", "{", "{}", "{63}", "{9217}", "{64", "64}", "{a}"} {
		if got, err := parseGenome(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
