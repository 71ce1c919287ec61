package builtin

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// ask a job for a step of a search.
func (r *routed) ask(s trial.Step) {
	r.Condition.OfferedPps, r.Condition.DurationS = s.LoadPps, s.DurationS
	r.Asked = &s
}

// dropping loads a rule into the router that drops what it matches.
func (r routed) dropping(t *testing.T, rule string) {
	t.Helper()
	r.rules(t, "table ip lossy { chain forward { type filter hook forward priority 0; udp dport 5201 "+rule+" drop\n}\n}")
}

// punctual runs a step until all of it was sent in time, which another program on the
// machine can prevent; the chain is made anew each time.
func punctual(t *testing.T, s trial.Step, rule string) (traffic.Sample, counters) {
	t.Helper()
	for range 20 {
		r := newRouted(t, trial.Condition{})
		r.ask(s)
		if rule != "" {
			r.dropping(t, rule)
		}
		got := r.run(t)
		if o := raw(t, got); o.Unsent == 0 {
			return got, o
		}
	}
	t.Fatal("this machine never sent a slow load in time")
	return traffic.Sample{}, counters{}
}

func warned(s traffic.Sample, text string) bool {
	return strings.Contains(strings.Join(s.Warnings, "\n"), text)
}

// tagged matches the frame that is tagged, by its bit, and that with number 500, both
// where bpf/include/stamp.h has them, in the host's byte order.
const (
	taggedRule    = "@th,184,8 & 0x80 == 0x80"
	number500Rule = "@th,96,32 == 0xf4010000"
)

// TestTaggedFrame has the router drop nothing, every tagged frame, and that with a number.
func TestTaggedFrame(t *testing.T) {
	step := trial.Step{Kind: trial.StepLatency, LoadPps: 1000, DurationS: 1, TagAfterS: 0.5, Waits: trial.Waits{DrainS: 1}}
	for rule, lost := range map[string]uint64{"": 0, taggedRule: 1, taggedRule + " " + number500Rule: 1} {
		s, o := punctual(t, step, rule)
		if o.Sent != 1000 || o.Received != 1000-lost {
			t.Errorf("%q: %d of %d came, want %d of 1000", rule, o.Received, o.Sent, 1000-lost)
		}
		m := s.Metrics
		tag, measured := m["tag_latency_ns"]
		if measured != (lost == 0) || measured == warned(s, "the tagged frame did not come") {
			t.Errorf("%q: a tag was measured: %v; warnings %q", rule, measured, s.Warnings)
		}
		if measured && (tag < m["one_way_latency_min_ns"] || tag > m["one_way_latency_max_ns"]) {
			t.Errorf("the tagged frame took %v ns, out of what all took: %v", tag, m)
		}
		if mean := m["one_way_latency_mean_ns"]; mean < m["one_way_latency_min_ns"] || mean > m["one_way_latency_max_ns"] {
			t.Errorf("a mean of %v ns is out of what all took: %v", mean, m)
		}
	}
}

// TestRecovery loses the first packets of a load that turns from 1,000 a second to 500.
func TestRecovery(t *testing.T) {
	step := trial.Step{Kind: trial.StepRecovery, LoadPps: 1000, DurationS: 1, ThenPps: 500, ThenS: 1, Waits: trial.Waits{DrainS: 0.5}}
	for rule, want := range map[string]float64{
		"": 0, "numgen inc mod 100000 < 700": 0, "numgen inc mod 100000 < 1100": 0.198, "numgen inc mod 10 == 0": -1,
	} {
		s, o := punctual(t, step, rule)
		if o.Sent != 1500 {
			t.Fatalf("%q: %d were sent, want 1500", rule, o.Sent)
		}
		took, measured := s.Metrics["recovery_s"]
		if measured != (want >= 0) || measured == warned(s, "did not recover") {
			t.Errorf("%q: a recovery was measured: %v; warnings %q", rule, measured, s.Warnings)
		}
		if measured && math.Abs(took-want) > 1e-6 {
			t.Errorf("%q: recovered after %v s, want %v", rule, took, want)
		}
	}
}

// TestBursts are as long as was asked, to the frame.
func TestBursts(t *testing.T) {
	for _, c := range []struct {
		frames uint64
		pps    float64
		rule   string
		lost   uint64
	}{
		{1, 2000, "", 0}, {16, 2000, "", 0}, {1000, 2000, "", 0}, {1000, 2000, "numgen inc mod 4 == 0", 250},
		{1, 1e12, "", 0}, {1000, 1e12, "ip ttl 254", 1000},
	} {
		r := newRouted(t, trial.Condition{})
		r.ask(trial.Step{Kind: trial.StepBurst, LoadPps: c.pps, DurationS: float64(c.frames) / c.pps, BurstFrames: c.frames, Waits: trial.Waits{DrainS: 1}})
		if c.rule != "" {
			r.dropping(t, c.rule)
		}
		s := r.run(t)
		o := raw(t, s)
		if o.Sent != c.frames || o.Unsent != 0 || o.Received != c.frames-c.lost {
			t.Errorf("%+v: %d of %d came", c, o.Received, o.Sent)
		}
		if want := float64(c.lost) / float64(c.frames); s.Metrics["loss_ratio"] != want {
			t.Errorf("%+v: loss %v, want %v", c, s.Metrics["loss_ratio"], want)
		}
		rate := s.Metrics["sent_pps"]
		if rate <= 0 || math.IsInf(rate, 0) || len(s.Series) != 0 {
			t.Errorf("%+v: a rate of %v, and %d courses over time", c, rate, len(s.Series))
		}
		if _, there := s.Metrics["forwarding_rate_pps"]; there != (o.Received > 1) {
			t.Errorf("%+v: a forwarding rate is there: %v", c, there)
		}
	}
}

// held is a router that holds back all that comes; what it gives sends it on.
func held(t *testing.T, r routed) (release func()) {
	t.Helper()
	r.rules(t, "table ip holding { chain forward { type filter hook forward priority 0; policy drop;\n}\n}")
	heard, server := listen(t, r), look(t, r.ServerNetns, "eth0").HardwareAddr
	return func() {
		device := look(t, r.router, "eth1").Index
		must(t, netns.Do(r.router, func() error {
			fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer func() { _ = unix.Close(fd) }()
			for _, frame := range heard() {
				copy(frame, server)
				if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: device}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// TestDelayedBySeconds has a chain that gives back the first packet long after the last
// was sent.
func TestDelayedBySeconds(t *testing.T) {
	const packets, delay = 200, 2500 * time.Millisecond
	r := newRouted(t, trial.Condition{OfferedPps: packets, Frames: trial.Frames{FrameSize: 128}})
	release := held(t, r)
	l, e, err := loadOf(r.Job)
	must(t, err)
	l.held = delay // which a plan knows
	lanes, err := openLanes(e, l, r.Condition)
	t.Cleanup(func() { closeLanes(lanes) })
	must(t, err)
	a := lanes[0]
	must(t, a.begin())
	must(t, a.sender.run(context.Background()))
	time.AfterFunc(delay, release) // that is what the chain does
	must(t, a.wait(context.Background()))
	o, err := a.outcome()
	must(t, err)
	s, err := sample([]outcome{o})
	must(t, err)
	if o := raw(t, s); o.Received != o.Sent || s.Metrics["one_way_latency_min_ns"] < float64(delay) || warned(s, "lost") {
		t.Errorf("%d of %d came: %v, %q", o.Received, o.Sent, s.Metrics, s.Warnings)
	}
}

// TestDelayedForEver waits as long as was asked, and says what that means.
func TestDelayedForEver(t *testing.T) {
	r := newRouted(t, trial.Condition{})
	release := held(t, r)
	r.ask(trial.Step{Kind: trial.StepLoad, LoadPps: 1000, DurationS: 1, Waits: trial.Waits{DrainS: 0.2}})
	s := r.run(t)
	if s.Metrics["loss_ratio"] != 1 || !warned(s, "nothing came within 200ms") {
		t.Errorf("%v, %q", s.Metrics, s.Warnings)
	}
	release()
}

// TestSeries loses the first half of a load.
func TestSeries(t *testing.T) {
	s, o := punctual(t, trial.Step{Kind: trial.StepLoad, LoadPps: 1000, DurationS: 1, Waits: trial.Waits{DrainS: 1}}, "numgen inc mod 100000 < 500")
	loss, rate, latency := s.Series["loss_ratio"], s.Series["forwarding_rate_pps"], s.Series["one_way_latency_mean_ns"]
	if loss.StepS != 0.02 || len(loss.Values) < 50 || len(rate.Values) != len(loss.Values) {
		t.Fatalf("%d steps of %v s", len(loss.Values), loss.StepS)
	}
	mixed, came, first, last := 0, 0.0, -1.0, -1.0
	for i, v := range loss.Values {
		if v == nil {
			continue // the load began late, and did not reach into it
		}
		if last = *v; first < 0 {
			first = last
		}
		if *v != 0 && *v != 1 {
			mixed++
		}
		if (*v == 1) != (latency.Values[i] == nil) {
			t.Errorf("step %d: loss %v, and there is a latency: %v", i, *v, latency.Values[i] != nil)
		}
		came += *rate.Values[i] * rate.StepS
	}
	if first != 1 || last != 0 || mixed > 1 {
		t.Errorf("loss begins with %v and ends with %v; %d steps lie between", first, last, mixed)
	}
	// A step at the ends lies within the load by half at least, and on a machine that
	// stalled, all of what was held up may come in it, or after the load.
	if o.Received != 500 || came > 2*500 || came <= 0 {
		t.Errorf("%d came, %v by the steps", o.Received, came)
	}
}

// TestInterruptedSteps ends trials of every kind before their time; nothing stays attached.
func TestInterruptedSteps(t *testing.T) {
	for _, s := range []trial.Step{
		{Kind: trial.StepLatency, TagAfterS: 300}, {Kind: trial.StepRecovery, ThenPps: 500, ThenS: 600}, {Kind: trial.StepBurst, BurstFrames: 600_000},
	} {
		r := newRouted(t, trial.Condition{})
		s.LoadPps, s.DurationS, s.DrainS = 1000, 600, 600
		r.ask(s)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			_, err := Tool{}.Run(ctx, r.Job)
			ended <- err
		}()
		within(t, "nothing is sent", func() bool { return received(t, r.ServerNetns) > 100 })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a trial that was interrupted: %v", s.Kind, err)
		}
		if attached(t, r.ServerNetns, "eth0") || attached(t, r.router, "eth0") {
			t.Errorf("%s: a program is attached after the trial", s.Kind)
		}
	}
}

// TestStepsWithoutBPF has packet sockets answer a search.
func TestStepsWithoutBPF(t *testing.T) {
	for range 20 {
		r := newRouted(t, trial.Condition{})
		r.ask(trial.Step{Kind: trial.StepRecovery, LoadPps: 1000, DurationS: 1, ThenPps: 500, ThenS: 1, Waits: trial.Waits{DrainS: 0.5}})
		r.dropping(t, "numgen inc mod 100000 < 1100")
		l, e, err := loadOf(r.Job)
		must(t, err)
		must(t, l.ask(context.Background(), r.Asked))
		l.way, l.tag, l.steps = wayPacket, 1500*time.Millisecond, stepsOf(l.duration)
		o := withoutBPF(t, e, l)
		sent, came := uint64(0), uint64(0)
		for i, n := range o.SentIn {
			sent, came = sent+n, came+o.Count.Parts[i].Came
		}
		if sent != o.Progress.Sent || came != o.Order.Arrivals || o.Count.Tag == 0 {
			t.Errorf("by the steps %d of %d came, else %d of %d; the tagged frame took %d ns and one", came, sent, o.Order.Arrivals, o.Progress.Sent, o.Count.Tag)
		}
		if o.Unsent > 0 || o.Unread > 0 {
			continue // another program on the machine was in the way
		}
		if after, ended := o.recovery(); !ended || math.Abs(after-0.198) > 1e-6 {
			t.Errorf("recovered after %v s, ended %v; want 0.198", after, ended)
		}
		return
	}
	t.Fatal("this machine never sent a slow load in time")
}

// TestBurstThroughAPacketSocket has frames that are too long for the kernel's own source.
func TestBurstThroughAPacketSocket(t *testing.T) {
	r := newRouted(t, trial.Condition{})
	r.ask(trial.Step{Kind: trial.StepBurst, LoadPps: 5000, DurationS: 0.1, BurstFrames: 500, Waits: trial.Waits{DrainS: 1}})
	l, e, err := loadOf(r.Job)
	must(t, err)
	must(t, l.ask(context.Background(), r.Asked))
	l.way = wayPacket
	if o := withoutBPF(t, e, l); o.Progress.Sent != 500 || o.Unsent != 0 || o.Order.Arrivals+o.Unread != 500 || o.seconds() <= 0 {
		t.Errorf("%d of %d came, in %v s", o.Order.Arrivals, o.Progress.Sent, o.seconds())
	}
}

// TestRecoveryOfPoisson is refused.
func TestRecoveryOfPoisson(t *testing.T) {
	l := load{pace: pace{pps: 1, pattern: poisson}}
	if err := l.ask(context.Background(), &trial.Step{Kind: trial.StepRecovery, ThenS: 1, ThenPps: 1}); err == nil {
		t.Error("nobody minds")
	}
}
