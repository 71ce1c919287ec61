package builtin

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// measure a trial over a veth pair.
func measure(t *testing.T, c trial.Condition) (traffic.Job, traffic.Sample) {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFXDP)
	job := traffictest.Job(t, c)
	s, err := Tool{}.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return job, s
}

// TestCountsAreExact offers loads whose packets can be counted.
func TestCountsAreExact(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"one":     {OfferedPps: 1},
		"slow":    {OfferedPps: 1000},
		"bursts":  {OfferedPps: 1000, Frames: trial.Frames{Burst: 100}},
		"vlan":    {OfferedPps: 1000, Frames: trial.Frames{VLAN: 7, FrameSize: 128}},
		"large":   {OfferedPps: 1000, Frames: trial.Frames{FrameSize: 1514}},
		"imix":    {OfferedPps: 1200, Frames: trial.Frames{IMIX: "aaaaaaaddddg"}},
		"flows":   {OfferedPps: 2000, Flows: 2000},
		"bits":    {OfferedBps: 512_000, Frames: trial.Frames{FrameSize: 64}},
		"payload": {OfferedPps: 1000, PayloadSize: 100},
		"both":    {OfferedPps: 1000, Frames: trial.Frames{Bidirectional: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s traffic.Sample
			for range 10 { // one of which another test's flood costs nothing
				dropped := nstest.Dropped(t)
				if _, s = measure(t, c); nstest.Dropped(t) == dropped {
					break
				}
			}
			p := pace{pps: c.OfferedPps, burst: uint64(max(c.Burst, 1)), duration: 1e9}
			if c.OfferedBps > 0 {
				p.pps = c.OfferedBps / 8 / 64
			}
			o, want := raw(t, s), p.intended()
			if c.Bidirectional {
				want *= 2
			}
			if got := o.Sent + o.Unsent; got != want {
				t.Errorf("%d packets were due, want %d", got, want)
			}
			if o.Received != o.Sent || s.Metrics["loss_ratio"] != 0 || s.Metrics["duplicate_ratio"] != 0 || s.Metrics["reordered_ratio"] != 0 {
				t.Errorf("%d of %d came: %v", o.Received, o.Sent, s.Metrics)
			}
			h, err := trial.DecodeHistogram(s.Histograms["one_way_latency_ns"])
			if err != nil || uint64(h.TotalCount()) != o.Sent {
				t.Errorf("the histogram does not hold them: %v", err)
			}
		})
	}
}

// TestFastCounts offers what a busy machine may lose some of, none of it unsaid.
func TestFastCounts(t *testing.T) {
	_, s := measure(t, trial.Condition{OfferedPps: 200_000})
	o := raw(t, s)
	h, err := trial.DecodeHistogram(s.Histograms["one_way_latency_ns"])
	if err != nil || o.Sent+o.Unsent != 200_000 || o.Received == 0 || o.Received > o.Sent || uint64(h.TotalCount()) != o.Received {
		t.Errorf("of %d due %d were sent and %d came: %v", o.Sent+o.Unsent, o.Sent, o.Received, err)
	}
	if loss := s.Metrics["loss_ratio"]; loss != 1-float64(o.Received)/float64(o.Sent) {
		t.Errorf("a loss of %v is told of %d and %d", loss, o.Received, o.Sent)
	}
}

// raw counters of a sample.
func raw(t *testing.T, s traffic.Sample) (c counters) {
	t.Helper()
	if err := json.Unmarshal(s.Raw[0].Output, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMoreThanItCan asks for more than any machine sends: what was not sent is said.
func TestMoreThanItCan(t *testing.T) {
	_, s := measure(t, trial.Condition{OfferedPps: 1e9})
	m, o := s.Metrics, raw(t, s)
	if o.Sent+o.Unsent != 1e9 || m["unsent_ratio"] < 0.5 || m["load_loss_ratio"] < 0.5 || m["offered_pps"] < 9e8 {
		t.Errorf("sent %d, unsent %d: %v", o.Sent, o.Unsent, m)
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "did not send") {
		t.Errorf("no warning: %q", s.Warnings)
	}
}

// TestTooLong refuses frames that the interface would not take.
func TestTooLong(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	job := traffictest.Job(t, trial.Condition{OfferedPps: 1000, Frames: trial.Frames{FrameSize: 1519}})
	if _, err := (Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), "MTU") {
		t.Error(err)
	}
	job.Condition.FrameSize = 1518
	s, err := Tool{}.Run(context.Background(), job)
	if err != nil || s.Metrics["loss_ratio"] != 0 {
		t.Error(s.Metrics, err)
	}
}

// carried is what a lane came to that lasted a second.
func carried(pps uint64, core int, paced bool) (o outcome) {
	o.Load.core, o.Paced = core, paced
	o.Progress.Stop, o.Order.Arrivals = 1e9, pps
	return o
}

func TestJudge(t *testing.T) {
	for pps, limited := range map[uint64]float64{899_000: 0, 901_000: 1} {
		s := newSample()
		limits{ceiling: 1e6, floor: 300, jitter: 50}.judge(&s, []outcome{carried(pps, 0, true)})
		if s.Metrics["generator_limited"] != limited || len(s.Warnings) != int(limited) || s.Metrics["selftest_ceiling_pps"] != 1e6 {
			t.Errorf("%v pps: %v %q", pps, s.Metrics, s.Warnings)
		}
	}
}

// TestJudgeBothWays: each core has a ceiling of its own.
func TestJudgeBothWays(t *testing.T) {
	for cores, limited := range map[[2]int]float64{{0, 1}: 0, {1, 1}: 1} {
		s := newSample()
		limits{ceiling: 1e6}.judge(&s, []outcome{carried(600_000, cores[0], true), carried(600_000, cores[1], true)})
		if s.Metrics["generator_limited"] != limited || len(s.Warnings) != int(limited) {
			t.Errorf("on cores %v: %v %q", cores, s.Metrics, s.Warnings)
		}
	}
}

// TestJudgeUnpaced: a load as fast as it goes that loses nothing shows no limit of the chain.
func TestJudgeUnpaced(t *testing.T) {
	for loss, limited := range map[float64]float64{0: 1, 0.01: 0} {
		s := newSample()
		s.Metrics["forwarding_rate_pps"], s.Metrics["loss_ratio"] = 100_000, loss
		limits{ceiling: 1e6}.judge(&s, []outcome{carried(100_000, 0, false)})
		if s.Metrics["generator_limited"] != limited || len(s.Warnings) != int(limited) {
			t.Errorf("loss %v: %v %q", loss, s.Metrics, s.Warnings)
		}
	}
}

// TestLateIsTold where it is a large part of the latency.
func TestLateIsTold(t *testing.T) {
	for late, told := range map[uint64]bool{100: false, 90_000: true} {
		o := outcome{Paced: true}
		o.Progress.Start, o.Progress.Stop, o.Progress.Sent, o.Progress.LateMax = 1, 1e9+1, 1000, late
		o.Count.Packets, o.Count.Low, o.Count.High, o.Order.Arrivals = 1000, 100_001, 100_000, 1000
		o.Count.Latency[trial.Bucket(100_000)], o.Lateness[trial.Bucket(late)] = 1000, 1000
		s, err := sample([]outcome{o})
		if err != nil || (len(s.Warnings) == 1) != told {
			t.Errorf("%d ns late: %q, %v", late, s.Warnings, err)
		}
		for name, v := range s.Metrics {
			if strings.HasPrefix(name, "one_way_latency_") && v > 100_000 {
				t.Errorf("%s %v is more than the most, 100000", name, v)
			}
		}
	}
}

// TestFewPackets have no percentiles that less than one of them lies above, and no PDV, which is
// said; a thousand have them.
func TestFewPackets(t *testing.T) {
	for n, told := range map[uint64]bool{999: true, 1000: false} {
		o := outcome{}
		o.Progress.Start, o.Progress.Stop, o.Progress.Sent = 1, 1e9+1, n
		o.Count.Packets, o.Count.Low, o.Count.High, o.Order.Arrivals = n, 10_001, 10_000, n
		o.Count.Latency[trial.Bucket(10_000)] = n
		s, err := sample([]outcome{o})
		_, pdv := s.Metrics["pdv_ns"]
		_, p999 := s.Metrics["one_way_latency_p999_ns"]
		if said := strings.Contains(strings.Join(s.Warnings, "\n"), "are too few for all percentiles"); err != nil || said != told || pdv == told || p999 == told {
			t.Errorf("%d packets: %v, %q, %v", n, s.Metrics, s.Warnings, err)
		}
	}
}

// TestNeighboursOfReordered tells how many pairs the differences of neighbours are of.
func TestNeighboursOfReordered(t *testing.T) {
	for reordered, told := range map[uint64]bool{0: false, 3: true} {
		o := outcome{}
		o.Progress.Start, o.Progress.Stop, o.Progress.Sent = 1, 1e9+1, 2000
		o.Count.Packets, o.Count.Low, o.Count.High, o.Order.Arrivals, o.Order.Reordered = 2000, 10_001, 10_000, 2000, reordered
		o.Count.Latency[trial.Bucket(10_000)], o.Count.Up[0] = 2000, 1990
		s, err := sample([]outcome{o})
		if said := strings.Contains(strings.Join(s.Warnings, "\n"), "(IPDV) are of the 1990 pairs"); err != nil || said != told {
			t.Errorf("%d reordered: %q, %v", reordered, s.Warnings, err)
		}
	}
}

// TestVariation is told where the buckets of latencies are narrow beside it.
func TestVariation(t *testing.T) {
	for low, told := range map[uint64]bool{10_000: true, 3_000_000_000: false} {
		o := outcome{}
		high := low + 100_000
		o.Progress.Start, o.Progress.Stop, o.Progress.Sent = 1, 1e9+1, 10_000
		o.Count.Packets, o.Count.Low, o.Count.High, o.Order.Arrivals = 10_000, low+1, high, 10_000
		o.Count.Latency[trial.Bucket(low)] += 9_900
		o.Count.Latency[trial.Bucket(high)] += 100
		s, err := sample([]outcome{o})
		pdv, is := s.Metrics["pdv_ns"]
		if err != nil || is != told || len(s.Warnings) == 0 != told || told && (pdv < 98_000 || pdv > 102_000) {
			t.Errorf("from %d ns: %v %v, %q, %v", low, pdv, is, s.Warnings, err)
		}
	}
}

func TestOffset(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "monotonic           0         0\n": 0,
		"monotonic      -86400         5\nboottime   1    1\n": -86_399_999_999_995} {
		if got := offsetIn(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestCoreTakenAway binds the generator to another core amid a load.
func TestCoreTakenAway(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	if len(traffic.Allowed()) < 2 {
		return // nowhere to go on
	}
	job := traffictest.Job(t, trial.Condition{OfferedPps: 1000, Affinity: "spread"})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s, err := Tool{}.Run(context.Background(), job)
		if err != nil || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "taken away") }) {
			t.Errorf("%q, %v", s.Warnings, err)
			return
		}
		if o := raw(t, s); o.Received != o.Sent {
			t.Errorf("%d of %d came", o.Received, o.Sent)
		}
	}()
	takeAway(t, traffic.Allowed(), ended)
}

// takeAway binds what is bound to the first core to the second instead, until the end.
func takeAway(t *testing.T, cores []int, ended <-chan struct{}) {
	t.Helper()
	var first, second unix.CPUSet
	first.Set(cores[0])
	second.Set(cores[1])
	for {
		select {
		case <-ended:
			return
		default:
		}
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Error(err)
			return
		}
		for _, task := range tasks {
			var now unix.CPUSet
			tid, _ := strconv.Atoi(task.Name())
			if unix.SchedGetaffinity(tid, &now) == nil && now == first {
				_ = unix.SchedSetaffinity(tid, &second)
			}
		}
	}
}
