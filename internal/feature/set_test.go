package feature

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

func TestMissingNamesEachOnALine(t *testing.T) {
	answers := func(a answer) asking { return func(context.Context, Env) answer { return a } }
	s := probe(t.Context(), Env{}, []question{
		{name: Veth, ask: answers(yes(""))},
		{name: IPvlan, ask: answers(no("this kernel has no\nlink kind ipvlan", "modprobe ipvlan"))},
	})
	if err := s.Missing(Veth); err != nil {
		t.Errorf("veth is present: %v", err)
	}
	err := s.Missing(Veth, IPvlan, "no.such", IPvlan)
	var missing *MissingError
	if !errors.Is(err, ErrMissing) || !errors.As(err, &missing) || len(missing.Features) != 2 {
		t.Fatalf("got %#v", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || lines[1] != "  ipvlan: this kernel has no link kind ipvlan; to get it: modprobe ipvlan" {
		t.Errorf("got %q", lines)
	}
	if !strings.HasPrefix(lines[2], "  no.such: ") {
		t.Errorf("an unknown name is not told: %q", lines[2])
	}
}

func TestZeroSetHasNothing(t *testing.T) {
	var s Set
	if s.Has(Veth) || len(s.All()) != 0 || s.Missing(Veth) == nil {
		t.Error("the zero Set has something")
	}
}

// A set asks only what is wanted: a hanging sockperf delays nobody who does not
// want sockperf.
func TestAskingIsLazyAndOnce(t *testing.T) {
	dir := t.TempDir()
	env := bin(t, map[string]string{
		"sockperf": "exec /bin/sleep 60",
		"iperf3":   "echo x >> " + dir + "/asked; echo 'iperf 3.12 (cJSON 1.7.15)'",
	})
	env.Timeout = 20 * time.Second
	s := Probe(t.Context(), env)
	for range 3 {
		if err := s.Missing(ToolIperf3); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := procfs.Root(dir).Text("asked"); got != "x" {
		t.Errorf("iperf3 was asked %q", got)
	}
}

func TestAskingIsBounded(t *testing.T) {
	var now, most atomic.Int32
	busy := func(context.Context, Env) answer {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
		return yes("")
	}
	var questions []question
	for i := range 20 {
		questions = append(questions, question{name: strings.Repeat("x", i+1), ask: busy})
	}
	probe(t.Context(), Env{}, questions).All()
	if most.Load() > maxAsked {
		t.Errorf("%d asked at once, at most %d wanted", most.Load(), maxAsked)
	}
}

func TestCancelledSetAnswersAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	env := bin(t, map[string]string{"iperf3": "exec /bin/sleep 600"})
	env.Timeout = 5 * time.Minute
	s := Probe(ctx, env)
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	f := s.Get(ToolIperf3)
	if f.Present || !strings.Contains(f.Why, "not asked: context canceled") {
		t.Errorf("got %+v", f)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
