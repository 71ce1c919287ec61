package results

import (
	"bufio"
	"context"
	"math/rand"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

func TestKilledWriterLosesNothingCommitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	for round := range 12 {
		id := "run" + strconv.Itoa(round)
		committed := killMidAppend(t, path, id)
		s, err := Open(path)
		must(t, err)
		run := get(t, s, id)
		if len(run.Trials) < committed {
			t.Errorf("%d trials are left of %d", len(run.Trials), committed)
		}
		for i, got := range run.Trials {
			if want := sampleTrial((i+1)%2, i+1); got.Repeat != want.Repeat || len(got.Raw) != 1 {
				t.Errorf("trial %d is %+v", i, got)
			}
		}
		if run.State != trial.Interrupted {
			t.Errorf("state %q", run.State)
		}
		checkIntegrity(t, s)
		must(t, s.Close())
	}
}

// killMidAppend kills a writer at a random moment and gives how many trials it
// said were committed.
func killMidAppend(t *testing.T, path, id string) (committed int) {
	t.Helper()
	c := child("append", path, id)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		committed++
		if committed == 1 {
			time.AfterFunc(time.Duration(rand.Intn(60_000))*time.Microsecond, func() { _ = c.Process.Kill() })
		}
	}
	_ = c.Wait() // it was killed
	if committed == 0 {
		t.Fatal("the child wrote nothing")
	}
	return committed
}

func TestTwoProcessesAppendAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	const trials = 20 // which one process has stored before the other gives up waiting, on a slow disk too
	a, b := child("count", path, "a", strconv.Itoa(trials)), child("count", path, "b", strconv.Itoa(trials))
	must(t, a.Start())
	must(t, b.Start())
	must(t, a.Wait())
	must(t, b.Wait())
	s := openAt(t, path)
	for _, id := range []string{"a", "b"} {
		if n := len(get(t, s, id).Trials); n != trials {
			t.Errorf("run %s has %d trials", id, n)
		}
	}
	checkIntegrity(t, s)
}

func checkIntegrity(t *testing.T, s *Store) {
	t.Helper()
	var verdict string
	must(t, s.db.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&verdict))
	if verdict != "ok" {
		t.Error(verdict)
	}
}
