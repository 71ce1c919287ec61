package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

// swept are two conditions, each on a chain of its own, three times.
var swept = owned(`
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: e2e-swept}
spec:
  chain:
    functions:
    - {name: f, kind: forward}
  load: {tool: rr, protocols: [tcp_rr], duration: 1s, repeats: 3, direct: false}
  sweep:
  - {field: length, values: [2, 3]}
`)

const sweptTrials = 6

// write puts a text into the command's directory.
func (c cli) write(name, text string) string {
	c.t.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return file
}

// stored are the runs that there are, whole, the oldest first.
func (c cli) stored() (all []trial.Run) {
	c.t.Helper()
	store, err := results.OpenExisting(filepath.Join(c.dir, "results.db"))
	if errors.Is(err, results.ErrNone) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	list, err := store.List(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range list {
		r, err := store.Get(context.Background(), s.ID)
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b trial.Run) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

// finished tells trials apart by when they began.
func finished(runs []trial.Run) map[string]bool {
	all := map[string]bool{}
	for _, r := range runs {
		for _, t := range r.Trials {
			all[fmt.Sprint(r.ID, " ", t.Condition, " ", t.Repeat, " ", t.StartedAt.UnixNano())] = true
		}
	}
	return all
}

// whole checks that a run has ended and has every trial once.
func whole(t *testing.T, r trial.Run) {
	t.Helper()
	seen := map[[2]int]int{}
	for _, one := range r.Trials {
		seen[[2]int{one.Condition, one.Repeat}]++
		if one.Metrics["transactions_per_second"] <= 0 {
			t.Errorf("run %s: trial %d of condition %d measured %v", r.ID, one.Repeat, one.Condition, one.Metrics)
		}
	}
	if r.State != trial.Done || len(r.Trials) != sweptTrials || len(seen) != sweptTrials {
		t.Errorf("run %s is %s with %d trials: %v", r.ID, r.State, len(r.Trials), seen)
	}
}

// TestKilledExperiment kills an experiment again and again. What was measured stays, the
// next one goes on with it, and in the end there is one run with every trial once, and
// nothing else.
func TestKilledExperiment(t *testing.T) {
	nstest.Root(t)
	name := owned("e2e-swept")
	c := cli{t, built(t), t.TempDir()}
	file := c.write("swept.yaml", swept)
	t.Cleanup(func() { c.must("down", name) })
	moments := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	for round := range 5 {
		before := finished(c.stored())
		if len(before) == sweptTrials {
			break
		}
		c.killAmid(file, len(before)+round%2, time.Duration(moments.Int64N(int64(1500*time.Millisecond))))
		after := finished(c.stored())
		for id := range before {
			if !after[id] {
				t.Fatalf("round %d: trial %s is lost", round, id)
			}
		}
		if round == 3 {
			c.must("down", name)
			if left := leftovers(name); left != "" {
				t.Fatalf("left behind by a kill and down:\n%s", left)
			}
		}
	}
	before := finished(c.stored())
	c.must("experiment", "run", file)
	if left := leftovers(name); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
	all := c.stored()
	for id := range before {
		if !finished(all)[id] {
			t.Errorf("trial %s is lost", id)
		}
	}
	if len(all) != 1 {
		t.Fatalf("%d runs are stored, not one", len(all))
	}
	whole(t, all[0])
}

// killAmid starts an experiment and kills it a while after so many trials were stored; it
// may have ended by itself.
func (c cli) killAmid(file string, trials int, wait time.Duration) {
	c.t.Helper()
	cmd, out := c.command("experiment", "run", file), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	for deadline := time.Now().Add(2 * time.Minute); len(finished(c.stored())) < trials; time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			c.t.Fatalf("the experiment ended by itself:\n%s", out)
		default:
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-ended
			c.t.Fatalf("no trial was stored:\n%s", out)
		}
	}
	select {
	case <-ended:
	case <-time.After(wait):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// TestExperimentsAtOnce has two processes run one file and a third another, into the same
// results. Each makes a run of its own; those of one file take turns, for they have
// one chain.
func TestExperimentsAtOnce(t *testing.T) {
	nstest.Root(t)
	name, other := owned("e2e-swept-a"), owned("e2e-swept-b")
	c := cli{t, built(t), t.TempDir()}
	t.Cleanup(func() { c.must("down", name, other) })
	one := c.write("a.yaml", strings.ReplaceAll(swept, owned("e2e-swept"), name))
	two := c.write("b.yaml", strings.ReplaceAll(swept, owned("e2e-swept"), other))
	var running []*exec.Cmd
	var outputs []*bytes.Buffer
	for _, file := range []string{one, two, one} {
		cmd, out := c.command("experiment", "run", file), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running, outputs = append(running, cmd), append(outputs, out)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i])
		}
	}
	if left := leftovers(name) + leftovers(other); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
	of := map[string][]trial.Run{}
	for _, r := range c.stored() {
		whole(t, r)
		of[r.Experiment] = append(of[r.Experiment], r)
	}
	if len(of[name]) != 2 || len(of[other]) != 1 {
		t.Fatalf("%d and %d runs are stored, not 2 and 1", len(of[name]), len(of[other]))
	}
	if first, second := of[name][0].Trials, of[name][1].Trials; !apart(first, second) {
		t.Error("two runs of one experiment used its chain at the same time")
	}
}

// apart tells whether all of the first had ended when the second began.
func apart(first, second []trial.Trial) bool {
	end, begin := time.Time{}, second[0].StartedAt
	for _, t := range first {
		if at := t.StartedAt.Add(time.Duration(t.DurationS * float64(time.Second))); at.After(end) {
			end = at
		}
	}
	for _, t := range second {
		if t.StartedAt.Before(begin) {
			begin = t.StartedAt
		}
	}
	return !begin.Before(end)
}
