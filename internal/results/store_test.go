package results

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

func TestRunComesBackAsItWas(t *testing.T) {
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	for _, c := range []int{1, 0, 1} { // the shuffled order is kept
		run.Trials = append(run.Trials, sampleTrial(c, len(run.Trials)+1))
		must(t, s.AppendTrial(ctx, run.ID, run.Trials[len(run.Trials)-1]))
	}
	must(t, s.SetWarnings(ctx, run.ID, []string{"hot", "steal"}))
	must(t, s.SetState(ctx, run.ID, trial.Failed))
	run.Warnings, run.State = []string{"hot", "steal"}, trial.Failed
	if got := get(t, openAt(t, s.Path()), run.ID); !sameRun(got, run) {
		t.Errorf("got %+v\nwant %+v", got, run)
	}
}

func TestRefusals(t *testing.T) {
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	must(t, s.AppendTrial(ctx, run.ID, sampleTrial(0, 1)))
	cases := map[string]struct {
		err  error
		want error
	}{
		"run twice":         {s.CreateRun(ctx, run), ErrExists},
		"trial twice":       {s.AppendTrial(ctx, run.ID, sampleTrial(0, 1)), ErrExists},
		"no such condition": {s.AppendTrial(ctx, run.ID, sampleTrial(2, 1)), errCondition},
		"trial of no run":   {s.AppendTrial(ctx, "nope", sampleTrial(0, 1)), ErrNotFound},
		"state of no run":   {s.SetState(ctx, "nope", trial.Done), ErrNotFound},
		"remove no run":     {s.Remove(ctx, run.ID, "nope"), ErrNotFound},
	}
	for name, c := range cases {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
	for _, id := range []string{"", "last", "-x", "a/b", "a b", "../x", strings.Repeat("x", 300), "a\x1b[0m"} {
		run.ID = id
		if err := s.CreateRun(ctx, run); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
	if got := get(t, s, "20261121-035352-aaaa"); len(got.Trials) != 1 {
		t.Errorf("%d trials after refusals", len(got.Trials))
	}
}

func TestRemoveGivesSpaceBack(t *testing.T) {
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	big := sampleTrial(0, 1)
	big.Raw[0].Output = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	must(t, s.AppendTrial(ctx, run.ID, big))
	must(t, s.Remove(ctx, run.ID))
	info, err := os.Stat(s.Path())
	must(t, err)
	if info.Size() > 1<<18 || info.Mode().Perm() != 0o600 {
		t.Errorf("size %d, mode %v", info.Size(), info.Mode())
	}
}

func TestList(t *testing.T) {
	s, ctx := open(t), context.Background()
	if all, err := s.List(ctx); err != nil || all == nil || len(all) != 0 {
		t.Errorf("empty: %v, %v", all, err)
	}
	must(t, s.CreateRun(ctx, sampleRun("b", start.Add(time.Nanosecond))))
	must(t, s.CreateRun(ctx, sampleRun("a", start)))
	must(t, s.AppendTrial(ctx, "a", sampleTrial(0, 1)))
	all, err := s.List(ctx)
	must(t, err)
	if len(all) != 2 || all[0].ID != "b" || all[1].Trials != 1 || all[1].Conditions != 2 || !all[1].CreatedAt.Equal(start) {
		t.Errorf("%+v", all)
	}
}

func TestDefaultPath(t *testing.T) {
	for _, c := range [][3]string{
		{"/data", "/home/u", "/data/nfchain/results.db"},
		{"", "/home/u", "/home/u/.local/share/nfchain/results.db"},
		{"relative", "/home/u", "/home/u/.local/share/nfchain/results.db"},
	} {
		if got := DefaultPath(c[0], c[1]); got != c[2] {
			t.Errorf("DefaultPath(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

func TestNewID(t *testing.T) {
	at := start.In(time.FixedZone("x", 7200))
	if id := NewID(at, [4]byte{19, 3, 15 + 32, 9}); id != "20261121-035352-k3f9" {
		t.Error(id)
	}
}

func TestDirectoryInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	must(t, os.Mkdir(path, 0o700))
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// TestOpenExisting makes nothing where there is nothing.
func TestOpenExisting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "typo", "r.db")
	if _, err := OpenExisting(path); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory was made: %v", err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenExisting(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
