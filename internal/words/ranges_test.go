package words_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/words"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "0": {0}, "0-1": {0, 1}, "0-3,32": {0, 1, 2, 3, 32}, "1,3,5-7": {1, 3, 5, 6, 7},
	} {
		if got := words.Ranges(numbers); got != want {
			t.Errorf("%v are %q, want %q", numbers, got, want)
		}
	}
}
