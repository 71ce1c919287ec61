package run_test

import (
	"context"
	"fmt"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// alongside is the built-in generator and meter, and something else that is done until it ends, again and again.
type alongside struct {
	builtin.Tool
	do   func(context.Context) error
	done int
}

func (a *alongside) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	did, stop := make(chan error, 1), make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				did <- nil
				return
			default:
			}
			if err := a.do(ctx); err != nil {
				did <- err
				return
			}
			a.done++
		}
	}()
	s, err := a.Tool.Run(ctx, job)
	close(stop)
	if wrong := <-did; err == nil {
		err = wrong
	}
	return s, err
}

// edits of a chain under load, one after the other and round again: inline functions come, are replaced and change places, functions with namespaces do,
// replicas come and go and have other weights, and rules of a classifier change.
var edits = []string{
	"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: set, kind: dscp, runtime: inline, dscp: {code: ef}}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: set, kind: dscp, runtime: inline, dscp: {code: af41}}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}, {name: x, kind: forward}]\n",
	"functions: [{name: x, kind: forward}, {name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: y, kind: forward, replicas: 2}, {name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: y, kind: forward, replicas: 2, weights: [1, 3]}, {name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: y, kind: forward, replicas: 3}, {name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: b, kind: forward}, {name: a, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\nclassifier: {otherwise: chain, rules: [{name: some, match: {protocol: udp, source_port: 1-20000}, functions: [b]}]}\n",
	"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\nclassifier: {otherwise: chain, rules: [{name: some, match: {protocol: udp, source_port: 1-40000}, functions: [b, a]}]}\n",
}

// TestEditsUnderLoad of the built-in generator, whose packets the meter counts: none is lost by any edit, nor comes twice.
func TestEditsUnderLoad(t *testing.T) {
	for try, seconds := 1, 20.; ; try++ {
		dropped := nstest.Dropped(t)
		done, tr := editedUnderLoad(t, 20000, 2000, seconds)
		lost, twice := tr.Metrics["loss_ratio"], tr.Metrics["duplicate_ratio"]
		t.Logf("%d edits, %.0f packets/s, loss %v", done, tr.Metrics["offered_pps"], lost)
		whole := lost == 0 && twice == 0
		switch {
		case !whole && (nstest.Dropped(t) == dropped || try == 10):
			t.Fatalf("%v of the packets were lost, and %v came twice; the machine dropped %d itself", lost, twice, nstest.Dropped(t)-dropped)
		case done < len(edits) && seconds >= 160:
			t.Fatalf("in %g s %d edits only", seconds, done)
		case done < len(edits): // others keep the machine busy
			seconds *= 2
		case whole:
			return
		}
	}
}

// editedUnderLoad is a trial in which a chain is edited all the while, and how often it was.
func editedUnderLoad(t *testing.T, pps float64, flows int, seconds float64) (done int, tr trial.Trial) {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFTCX, feature.BPFXDP)
	const wiring = "wiring: ebpf\nebpf: {idle: 500ms, census: 250ms}\n"
	b := newBed(t, wiring+edits[0])
	next := 1
	with := &alongside{do: func(ctx context.Context) error {
		chain := plantest.Chain(t, b.name(), wiring+edits[next%len(edits)])
		next++
		if _, _, err := newHost().Up(ctx, chain, run.UpOptions{}); err != nil {
			return fmt.Errorf("edit %d: %w", next, err)
		}
		return nil
	}}
	l, direct := load(1, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, with)
	c := &r.Conditions[0]
	c.OfferedPps, c.DurationS, c.Flows, c.FrameSize = pps, seconds, flows, 64
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	return with.done, b.stored(r.ID).Trials[0]
}
