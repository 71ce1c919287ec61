package run_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// measured is a trial over a chain of one function with the built-in generator and meter, in which the machine itself drops nothing, as
// another test that floods it may have it do: one of ten.
func measured(t *testing.T, function string, pps, seconds float64) (tr trial.Trial, did trial.Impairment) {
	t.Helper()
	for range 10 {
		dropped := nstest.Dropped(t)
		tr, did = measuredOnce(t, function, pps, seconds)
		if nstest.Dropped(t) == dropped {
			break
		}
	}
	return tr, did
}

func measuredOnce(t *testing.T, function string, pps, seconds float64) (trial.Trial, trial.Impairment) {
	t.Helper()
	nstest.Require(t, feature.Tun, feature.Redirect, feature.BPFXDP)
	b := newBed(t, "functions:\n- {name: bad, "+function+"}\n")
	l, direct := load(1, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, builtin.Tool{})
	r.Conditions[0].OfferedPps, r.Conditions[0].DurationS = pps, seconds
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	tr := b.stored(r.ID).Trials[0]
	for _, i := range tr.Observed.Impairments {
		if i.Direction == "forward" {
			return tr, i
		}
	}
	return tr, trial.Impairment{}
}

// packets of a trial that a metric is the share of, as a whole number.
func packets(t *testing.T, tr trial.Trial, ratio string, of float64) float64 {
	t.Helper()
	n := tr.Metrics[ratio] * of
	if math.Abs(n-math.Round(n)) > 1e-6*of {
		t.Errorf("%s %v of %v are %v packets", ratio, tr.Metrics[ratio], of, n)
	}
	return math.Round(n)
}

// sentIn a trial of so many seconds: where the machine stalled, not all that was meant,
// and over a longer time.
func sentIn(tr trial.Trial, seconds float64) float64 {
	return math.Round(tr.Metrics["offered_pps"] * seconds * (1 - tr.Metrics["unsent_ratio"]))
}

// TestLossOfOneInAThousand reads 0.100%, once another program on the machine has let all
// be sent in time; and what was lost is what the function dropped, of however many.
func TestLossOfOneInAThousand(t *testing.T) {
	for range 10 {
		tr, did := measured(t, "kind: impair, impair: {loss: {every: 1000}}", 1000, 5)
		if lost := packets(t, tr, "loss_ratio", sentIn(tr, 5)); lost != float64(did.Dropped) {
			t.Errorf("%v packets were lost, and the function dropped %d", lost, did.Dropped)
		}
		if tr.Metrics["unsent_ratio"] > 0 {
			continue
		}
		if text := fmt.Sprintf("%.3f%%", 100*tr.Metrics["loss_ratio"]); text != "0.100%" {
			t.Errorf("loss %s, and the function dropped %d of %d", text, did.Dropped, did.Seen)
		}
		return
	}
	t.Fatal("this machine never sent a slow load in time")
}

// TestCopiesAndOrder are as the function says, and as the definitions have it for the
// pattern it was asked for.
func TestCopiesAndOrder(t *testing.T) {
	p := pattern{copied: 100, back: 4, by: 7}
	tr, did := measured(t, "kind: impair, impair: {duplicate: {every: 100}, reorder: {every: 4, by: 7}}", 1000, 4)
	sent := sentIn(tr, 4) // all of 4,000, unless the machine stalled
	if sent < 1000 || tr.Metrics["loss_ratio"] != 0 {
		t.Fatalf("%v packets were sent, loss %v", sent, tr.Metrics["loss_ratio"])
	}
	// Packets of the proof of the path, put back and let go when nobody waits for them any
	// more, are answered with errors (ICMP), which pass the function too, and one of which
	// may be what it copies.
	others, made := float64(did.Seen)-sent, float64(did.Duplicated)
	if others < 0 || others > 10 {
		t.Errorf("the function saw %d of %v packets", did.Seen, sent)
	}
	if copies := packets(t, tr, "duplicate_ratio", sent); math.Abs(made-float64(did.Seen)/100) >= 1 ||
		copies > made || copies < made-min(others, 1) {
		t.Errorf("%v copies of %v packets, and the function made %d of %d", copies, sent, did.Duplicated, did.Seen)
	}
	// Which of the first packets the function picks is left to what it saw before.
	got := [2]float64{packets(t, tr, "reordered_ratio", sent), tr.Metrics["reorder_extent_max"]}
	var can [][2]float64
	for p.seen = range p.copied {
		can = append(can, orderOf(p.leave(int(sent))))
	}
	// One that the function gave up waiting for others to overtake, because the machine
	// stalled or the load ended, may have left in order.
	early := float64(did.GivenUp)
	if !slices.ContainsFunc(can, func(c [2]float64) bool {
		return got[0] <= c[0] && got[0] >= c[0]-early && got[1] <= c[1] && (early > 2 || got[1] == c[1])
	}) {
		t.Errorf("%v packets out of order, by %v at most, and %v given up; the pattern has one of %v", got[0], got[1], early, can[:4])
	}
}

// pattern of what an impair function does: of every so many packets one is copied, of
// every so many one is put back behind others, and so many came before.
type pattern struct{ copied, back, by, seen int }

// leave is the order in which packets leave.
func (p pattern) leave(n int) (order []int) {
	type waiting struct{ packet, behind int }
	var back []waiting
	for i := range n {
		place := i + p.seen + 1
		if place%p.back == 0 {
			back = append(back, waiting{i, p.by})
		} else {
			order = append(order, i)
			for j := range back {
				if back[j].behind--; back[j].behind == 0 {
					order = append(order, back[j].packet)
				}
			}
		}
		if place%p.copied == 0 {
			order = append(order, i)
		}
	}
	for _, w := range back { // let go at the end
		if w.behind > 0 {
			order = append(order, w.packet)
		}
	}
	return order
}

// orderOf packets is how many are reordered and the largest extent, of first copies
// (RFC 4737 §3.3, §4.2.1).
func orderOf(all []int) (r [2]float64) {
	var came []int
	next := 0
	for _, s := range all {
		if slices.Contains(came[max(0, len(came)-100):], s) {
			continue
		}
		if came = append(came, s); s >= next {
			next = s + 1
			continue
		}
		r[0]++
		near := came[max(0, len(came)-100):]
		first := slices.IndexFunc(near, func(other int) bool { return other > s })
		r[1] = max(r[1], float64(len(near)-1-first))
	}
	return r
}

// TestDelayReads: no packet comes sooner than it was delayed, and half of them not later
// than the function, the generator and the path say that they were late.
func TestDelayReads(t *testing.T) {
	for _, delay := range []time.Duration{time.Millisecond, 250 * time.Millisecond} {
		tr, did := measured(t, fmt.Sprintf("kind: impair, direction: forward, impair: {delay: %s}", delay), 1000, 1)
		for try := 0; try < 10 && did.Unstamped > 0; try++ { // the machine stalled for a second
			tr, did = measured(t, fmt.Sprintf("kind: impair, direction: forward, impair: {delay: %s}", delay), 1000, 1)
		}
		late, err := trial.DecodeHistogram(did.Late)
		if err != nil || did.Unstamped > 0 {
			t.Fatalf("%+v, %v", did, err)
		}
		lowest, median := tr.Metrics["one_way_latency_min_ns"], tr.Metrics["one_way_latency_p50_ns"]
		if lowest < float64(delay) || tr.Metrics["loss_ratio"] != 0 {
			t.Errorf("%v: a packet came after %v ns; loss %v", delay, lowest, tr.Metrics["loss_ratio"])
		}
		// The sum of maxima bounds each packet's, but for the way to the function and from it.
		if most := float64(delay) + float64(late.Max()) + tr.Metrics["schedule_error_max_ns"]; lowest > 1.02*most || median < 0.98*float64(delay) {
			t.Errorf("%v: from %v ns, half of them up to %v ns; %v ns was the most", delay, lowest, median, most)
		}
	}
}

// TestDelayOfSeconds is no loss, neither when all of a load is under way as it ends nor when
// copies make up the number that came.
func TestDelayOfSeconds(t *testing.T) {
	for _, what := range []string{"delay: 3s", "delay: 1s, duplicate: {every: 1}"} {
		tr, did := measured(t, "kind: impair, direction: forward, impair: {"+what+"}", 500, 1)
		copies := packets(t, tr, "duplicate_ratio", sentIn(tr, 1))
		if tr.Metrics["loss_ratio"] != 0 || copies != float64(did.Duplicated) || len(did.Late) == 0 {
			t.Errorf("%s: loss %v, copies %v, warnings %v; %+v", what, tr.Metrics["loss_ratio"], copies, tr.Warnings, did)
		}
	}
}
