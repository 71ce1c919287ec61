package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

// TestCompletesRuns: commands that take a stored run offer those there are, the newest
// first; before the first there are none, and files are offered only where one can follow.
func TestCompletesRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	complete := func(args ...string) []string {
		t.Helper()
		var out bytes.Buffer
		code := run(env{args: append([]string{"nfchain", "__complete"}, args...), stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard,
			getenv: func(name string) string { return map[string]string{"NFCHAIN_RESULTS": path}[name] }, now: time.Now})
		if code != 0 {
			t.Fatalf("%v: exit code %d", args, code)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	const noFiles, nothing, files = ":36", ":4", ":0" // cobra's ShellCompDirectives
	if got := complete("report", ""); !slices.Equal(got, []string{noFiles}) {
		t.Errorf("before the first run: %q", got)
	}
	store, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"20261121-090000-aaaa", "20261121-100000-bbbb"} {
		r := trial.Run{ID: id, Chain: "edge", State: trial.Running, CreatedAt: time.Unix(int64(i), 0)}
		if err := store.CreateRun(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if err := store.SetState(context.Background(), id, trial.Done); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	newest, older := "20261121-100000-bbbb\tedge, done", "20261121-090000-aaaa\tedge, done"
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"report", ""}, []string{"last\tthe newest", newest, older, noFiles}},
		{[]string{"report", "20261121-09"}, []string{older, noFiles}},
		{[]string{"report", "last", ""}, []string{nothing}},
		{[]string{"compare", "20261121-100000-bbbb", "2"}, []string{older, noFiles}},
		{[]string{"runs", "rm", "2"}, []string{newest, older, noFiles}},
		{[]string{"runs", "export", "l"}, []string{"last\tthe newest", noFiles}},
		{[]string{"runs", "export", "last", ""}, []string{files}},
		{[]string{"bench", "edge", "--baseline", "20261121-09"}, []string{older, noFiles}},
	} {
		if got := complete(c.args...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
