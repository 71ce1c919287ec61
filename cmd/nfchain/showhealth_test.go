package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
)

// TestReadyRows: what ready commands said last, of functions that share a node too, and of those that could not be asked.
func TestReadyRows(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	nodes := []runs.NodeState{
		{Name: "silent", Program: &process.Status{}},
		{Name: "sick", Program: &process.Status{ReadyCommand: &process.Answer{At: at, Failures: 4, Said: "exit status 1: upstream is down"}}},
		{Name: "both", Functions: []runs.FunctionState{
			{Name: "well", Program: &process.Status{ReadyCommand: &process.Answer{At: at, Ready: true, Said: "fine"}}},
			{Name: "unknown", Program: &process.Status{ReadyCommand: &process.Answer{Unasked: "could not be asked: no engine"}}},
		}},
	}
	var out bytes.Buffer
	w := (&app{env: env{stdout: &out}}).table("")
	readyRows(w, nodes)
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	want := `^\n\nFUNCTION +READY COMMAND +AT +NO IN A ROW +SAID
sick +no +2026-01-02 03:04:05 +4 +exit status 1: upstream is down
well +yes +2026-01-02 03:04:05 +0 +fine
unknown +never answered, could not be asked: no engine +0 +
$`
	if !regexp.MustCompile(want).Match(out.Bytes()) {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	w = (&app{env: env{stdout: &out}}).table("")
	readyRows(w, nodes[:1])
	if err := w.end(); err != nil || out.String() != "\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
