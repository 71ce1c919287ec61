package builtin

import (
	"context"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestAlone has generator and meter by themselves at the ends of a router, each ended
// from outside.
func TestAlone(t *testing.T) {
	r := newRouted(t, trial.Condition{})
	metering, stop := context.WithCancel(context.Background())
	defer stop()
	type result struct {
		traffic.Sample
		error
	}
	met := make(chan result, 1)
	go func() {
		s, err := Receive(metering, Meter{Netns: r.ServerNetns, Device: "eth0", ID: 7})
		met <- result{s, err}
	}()
	within(t, "the meter is not attached", func() bool { return attached(t, r.ServerNetns, "eth0") })

	sending, enough := context.WithCancel(context.Background())
	defer enough()
	before := received(t, r.ServerNetns)
	gave := make(chan result, 1)
	go func() {
		s, err := Send(sending, Offer{Netns: r.ClientNetns, Device: "eth0", To: netip.MustParseAddr("198.51.100.2"), Port: 9, ID: 7,
			Condition: trial.Condition{OfferedPps: 1000, Flows: 1}})
		gave <- result{s, err}
	}()
	within(t, "nothing is sent", func() bool { return received(t, r.ServerNetns) > before+500 })
	enough()
	sent := <-gave
	if sent.error != nil {
		t.Fatal(sent.error)
	}
	// As many were due as the rate has it, whether or not all were sent in time.
	n := sent.Metrics["sent_packets"]
	if pps := sent.Metrics["offered_pps"]; n < 400 || math.Abs(pps/1000-1) > 0.01 || sent.Metrics["sent_pps"] <= 0 {
		t.Errorf("%v packets, of %v a second that were due: %v", n, pps, sent.Metrics)
	}
	// Another load is none of the meter's.
	if _, err := Send(context.Background(), Offer{Netns: r.ClientNetns, Device: "eth0", To: netip.MustParseAddr("198.51.100.2"), Port: 9, ID: 8,
		Condition: trial.Condition{OfferedPps: 1000, Flows: 1, DurationS: 0.1}}); err != nil {
		t.Fatal(err)
	}
	stop()
	got := <-met
	if got.error != nil || got.Metrics["received_packets"] != n || got.Metrics["loss_ratio"] != 0 {
		t.Errorf("%v of %v packets came: %v %v", got.Metrics["received_packets"], n, got.Metrics, got.error)
	}
}

// TestMeterLateAndLossy starts in the middle of a stream and misses numbers of it.
func TestMeterLateAndLossy(t *testing.T) {
	o, now := newOffline(t), monotonic(t)
	for _, n := range []uint32{1000, 1001, 1003, 1003, 1004} {
		o.take(t, n, now)
	}
	var out outcome
	if err := o.outcome(&out, 0); err != nil {
		t.Fatal(err)
	}
	s, err := sampleReceived(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"received_packets": 4, "loss_ratio": 0.2, "duplicate_ratio": 0.2, "reordered_ratio": 0} {
		if got := s.Metrics[name]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestMeterOfNothing has no latency and no loss to tell.
func TestMeterOfNothing(t *testing.T) {
	s, err := sampleReceived(outcome{})
	if err != nil || len(s.Metrics) != 2 || s.Metrics["damaged_packets"] != 0 || s.Metrics["received_packets"] != 0 {
		t.Errorf("%v %v", s.Metrics, err)
	}
}

func TestSignedMedian(t *testing.T) {
	for _, c := range []struct {
		down, up []uint64
		want     float64
	}{
		{nil, []uint64{1, 2, 3}, 2}, {[]uint64{1, 2, 3}, nil, -2}, {[]uint64{5}, []uint64{7, 9}, 7},
		{[]uint64{5, 6}, []uint64{7}, -5}, {nil, []uint64{0, 0, 0, 40}, 0}, {[]uint64{9, 3, 4}, []uint64{1, 1}, -3},
	} {
		down, up := make([]uint64, trial.Buckets), make([]uint64, trial.Buckets)
		for _, v := range c.down {
			down[trial.Bucket(v)]++
		}
		for _, v := range c.up {
			up[trial.Bucket(v)]++
		}
		if got := signedMedian(down, up); got != c.want {
			t.Errorf("down by %v, up by %v: median %v, want %v", c.down, c.up, got, c.want)
		}
	}
}

// TestSentAloneHadItsCore: what went unsent is told with the share of its core that the
// generator had meanwhile.
func TestSentAloneHadItsCore(t *testing.T) {
	s := &sender{offering: &packetSource{
		done: source.ProgramProgress{Start: 1e9, Stop: 3e9, Last: 3e9, Sent: 900}, turn: turn{busy: time.Second},
	}}
	got, err := s.sample(load{pace: pace{train: train{frames: 1000}}})
	if err != nil || len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0], "did not send 100 packets of 1000") || !strings.Contains(got.Warnings[0], "for 50% of the time") {
		t.Errorf("%v %v", got.Warnings, err)
	}
}
