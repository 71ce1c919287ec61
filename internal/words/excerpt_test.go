package words_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/words"
)

// TestExcerpt is the end of what was written, without half a letter where it was cut.
func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " a line\n": "a line",
		strings.Repeat("x", 401):       "…" + strings.Repeat("x", 400),
		"é" + strings.Repeat("x", 399): "…" + strings.Repeat("x", 399),
	} {
		if got := words.Excerpt([]byte(text)); got != want {
			t.Errorf("of %q is told %q, want %q", text, got, want)
		}
	}
}
