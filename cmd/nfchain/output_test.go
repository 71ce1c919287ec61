package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
)

// full is a place for results that takes none.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestResultsThatCannotBeWrittenAreNoSuccess(t *testing.T) {
	for _, line := range []string{"validate ../../examples/edge-chain.yaml", "reproduce", "reproduce -o json", "version"} {
		var said strings.Builder
		code := run(env{
			args: append([]string{"nfchain"}, strings.Fields(line)...), stdin: strings.NewReader(""), stdout: full{}, stderr: &said,
			getenv: func(string) string { return "" }, now: time.Now,
		})
		if code != exitFailed || !strings.Contains(said.String(), "no space left") {
			t.Errorf("nfchain %s: exit code %d, %q", line, code, said.String())
		}
	}
}

// TestDifferencesThatCannotBeWritten are not told by an exit code alone.
func TestDifferencesThatCannotBeWritten(t *testing.T) {
	nstest.Root(t)
	var said strings.Builder
	code := run(env{args: []string{"nfchain", "diff", "../../examples/edge-chain.yaml"}, stdin: strings.NewReader(""), stdout: full{}, stderr: &said,
		getenv: func(string) string { return "" }, now: time.Now})
	if code != exitFailed || !strings.Contains(said.String(), "no space left") {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}

// TestDrawnSeedSurvivesFloat64: a reader of JSON that has no other numbers gives it
// back as it was.
func TestDrawnSeedSurvivesFloat64(t *testing.T) {
	for range 1000 {
		if seed := drawnSeed(); seed < 0 || int64(float64(seed)) != seed {
			t.Fatalf("%d becomes %d", seed, int64(float64(seed)))
		}
	}
}
