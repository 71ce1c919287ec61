package run_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// alongside is the built-in generator and meter, and something else that is done while there is load, again and again.
type alongside struct {
	builtin.Tool
	do   func(context.Context) error
	done int
}

func (a *alongside) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	did, stop, begun := make(chan error, 1), make(chan struct{}), make(chan struct{})
	begins := job.Begins
	job.Begins = func() { begins(); close(begun) }
	go func() {
		if err := sends(job.ClientNetns, begun, stop); err != nil {
			did <- err
			return
		}
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

// sends waits until a namespace has sent some packets of a load that begins, or the load ends.
func sends(namespace string, begun, stop <-chan struct{}) error {
	h, err := netns.Open(namespace)
	if err != nil {
		return err
	}
	defer h.Close()
	select {
	case <-begun:
	case <-stop:
	}
	for before := uint64(0); ; {
		links, err := h.LinkList()
		if err != nil {
			return err
		}
		sent := uint64(0)
		for _, l := range links {
			sent += l.Attrs().Statistics.TxPackets
		}
		if before == 0 {
			before = sent // of the proof of path
		}
		if sent >= before+100 {
			return nil
		}
		select {
		case <-stop:
			return nil
		case <-time.After(5 * time.Millisecond):
		}
	}
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
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 500ms, census: 250ms}\n", edits: edits, load: trial.Condition{OfferedPps: 20000, Flows: 2000, DurationS: 24}})
}

// waits has packets wait behind others nearly always, where 2,000 a second of the usual longest come at random times.
const waits = "{name: slow, kind: shaper, shaper: {discipline: tbf, rate: 24700Kbit, burst: 2KiB, latency: 60s}}"

// staying are edits by each of which flows stay on the path that they began on, where packets wait: it is taken out, comes to be elsewhere, and is where it
// was, while an inline function and replicas come and go, and others change places.
var staying = []string{
	"functions: [" + waits + ", {name: a, kind: forward}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: y, kind: forward, replicas: 2}, {name: b, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: a, kind: forward}, " + waits + "]\n",
}

// TestEditsKeepOrder where flows stay on the path that they began on, as they do unless told otherwise: of packets of one flow, of which some wait at each
// edit, the meter finds none behind others that were sent later.
func TestEditsKeepOrder(t *testing.T) {
	nstest.Require(t, feature.QdiscTBF)
	random := trial.Condition{OfferedPps: 2000, Flows: 1, DurationS: 12}
	random.FrameSize, random.Pattern = 1518, "poisson"
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 1m, census: 250ms}\n", edits: staying, stays: true, load: random})
}

// edited is a load of the built-in generator, and a chain that is edited all the while.
type edited struct {
	wiring string
	edits  []string
	load   trial.Condition
	// stays is for edits by which flows stay on their path: none moves any at once, and no packet comes out of order.
	stays bool
	// beside is what else there is while the trial lasts; it may be nil.
	beside func(p *plan.Plan, condition int) (end func() error, err error)
}

// losesNone fails the test if packets are lost, or come twice, while each edit is made.
func losesNone(t *testing.T, e edited) {
	t.Helper()
	for try := 1; ; try++ {
		dropped := nstest.Dropped(t)
		done, tr := editedUnderLoad(t, e)
		lost, twice, late := tr.Metrics["loss_ratio"], tr.Metrics["duplicate_ratio"], tr.Metrics["reordered_ratio"]
		t.Logf("%d edits, %.0f packets/s, loss %v, out of order %v", done, tr.Metrics["offered_pps"], lost, late)
		whole := lost == 0 && twice == 0
		switch {
		case !whole && (nstest.Dropped(t) == dropped || try == 10):
			t.Fatalf("%v of the packets were lost, and %v came twice; the machine dropped %d itself", lost, twice, nstest.Dropped(t)-dropped)
		case e.stays && late > 0:
			t.Fatalf("%v of the packets came out of order: %v %q", late, tr.Metrics, tr.Warnings)
		case done < len(e.edits) && e.load.DurationS >= 160:
			t.Fatalf("in %g s %d edits only", e.load.DurationS, done)
		case done < len(e.edits): // others keep the machine busy
			e.load.DurationS *= 2
		case whole:
			return
		}
	}
}

// editedUnderLoad is a trial in which a chain is edited all the while, and how often it was.
func editedUnderLoad(t *testing.T, e edited) (done int, tr trial.Trial) {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFTCX, feature.BPFXDP)
	b := newBed(t, e.wiring+e.edits[0])
	next := 1
	with := &alongside{do: func(ctx context.Context) error {
		chain := plantest.Chain(t, b.name(), e.wiring+e.edits[next%len(e.edits)])
		next++
		var flows run.Flows
		if _, _, err := newHost().Up(ctx, chain, run.UpOptions{Flows: &flows}); err != nil {
			return fmt.Errorf("edit %d: %w", next, err)
		}
		if e.stays && (flows.Moved > 0 || flows.AtOnce != "") {
			return fmt.Errorf("edit %d has flows move: %+v", next, flows)
		}
		return nil
	}}
	l, direct := load(1, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, with)
	m.Beside = e.beside
	c := &r.Conditions[0]
	c.OfferedPps, c.DurationS, c.Flows, c.Pattern, c.FrameSize = e.load.OfferedPps, e.load.DurationS, e.load.Flows, e.load.Pattern, max(e.load.FrameSize, 64)
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	return with.done, b.stored(r.ID).Trials[0]
}
