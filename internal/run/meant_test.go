package run_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/run"
)

// TestMeant: the near word comes first, and what there is is told in any case, but not without end.
func TestMeant(t *testing.T) {
	for word, want := range map[string]string{
		"fv":     `did you mean "fw"? It has client, fw, server`,
		"nobody": "it has client, fw, server",
	} {
		if got := run.Meant(word, "it has", []string{"client", "fw", "server"}); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := run.Meant("nobody", "it has", strings.Fields(strings.Repeat("fw ", 23))); !strings.HasSuffix(got, "fw and 3 more") {
		t.Errorf("of 23: %q", got)
	}
}
