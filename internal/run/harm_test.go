package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/trial"
)

const harmed = "functions: [{name: f, kind: forward}, {name: web, kind: command, command: {args: [sleep, infinity], ready: {command: [\"true\"]}}}]\n"

// harming is a load of pings, in which a chain loses something.
func harming(text string, repeats int) api.Load {
	l := load(repeats, trial.Latency)
	l.Harm, *l.Direct, l.Duration = text, false, 3e9
	return l
}

// TestInterfacesAreHealed by bringing the chain up again: pings go on, and each trial has a chain of its own.
func TestInterfacesAreHealed(t *testing.T) {
	nstest.Require(t, feature.ToolPing)
	b := newBed(t, harmed)
	l := harming("interface f, interface client, supervisor", 2)
	l.Duration = 6e9
	r := inTime(b, l)
	for i, s := range r.Trials {
		// On a busy machine a trial may be over before the chain is whole: then nobody knows how long it would have been.
		over := s.Metrics[run.HealMetric] > 3e9 && strings.Contains(strings.Join(s.Warnings, "\n"), "requests have no reply")
		// What ping cannot send while its interface is away is not lost, but late.
		lost := s.Metrics["loss_ratio"] > 0 || s.Metrics[traffic.OutageMetric] > 10e6
		if s.Metrics[traffic.OutageMetric] <= 0 && !over || s.Metrics[run.HealMetric] <= 0 || !lost || s.Instance != i+1 || len(s.Made) != 1 {
			t.Errorf("trial %d on instance %d, made %d: %v %q", i, s.Instance, len(s.Made), s.Metrics, s.Warnings)
		}
	}
}

// inTime is a run of pings whose trials all met the harm: on a busy machine one may be over before the kernel lets
// anybody take an interface away, which the trial says; or the chain be whole again so late that ping, which sends
// slowly while it has no route, is ended before it has sent all.
func inTime(b *bed, l api.Load) trial.Run {
	b.Helper()
	for range 10 {
		m, r := b.measurement(l, ping.Tool{})
		err := m.Run(context.Background(), r)
		b.gone()
		all := b.stored(r.ID)
		late := func(t trial.Trial) bool {
			return len(t.Metrics) == 0 && strings.Contains(strings.Join(t.Warnings, "\n"), "the trial was over before the chain was harmed")
		}
		ended := err != nil && strings.Contains(err.Error(), "ping on client hangs")
		if !ended && !slices.ContainsFunc(all.Trials, late) {
			if err != nil {
				b.Fatal(err)
			}
			return all
		}
	}
	b.Fatal("in ten runs the chain was never harmed, and whole again, before a trial was over")
	return trial.Run{}
}

// TestProgramsAreKilled, which come back by themselves.
func TestProgramsAreKilled(t *testing.T) {
	b := newBed(t, harmed)
	restarts := -1
	watching := tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		for ctx.Err() == nil && restarts < 1 {
			all, err := process.Statuses(b.name())
			if err != nil || len(all) != 1 {
				t.Errorf("%+v, %v", all, err)
				break
			}
			restarts = all[0].Restarts
		}
		return sampled(ctx, job)
	}}
	l := harming("program web", 1)
	l.Duration = 1e9
	m, r := b.measurement(l, watching)
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	if got := b.stored(r.ID).Trials[0]; restarts < 1 || got.Metrics[run.HealMetric] != 0 {
		t.Errorf("%d restarts, %v", restarts, got.Metrics)
	}
}

// slowToBegin is a tool that does something before its load begins.
type slowToBegin struct{ tool }

func (slowToBegin) Prepares() {}

// TestHarmCountsFromTheLoad: the time until it begins is none of a third of it.
func TestHarmCountsFromTheLoad(t *testing.T) {
	b := newBed(t, harmed)
	restarts := func() int {
		all, err := process.Statuses(b.name())
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0].Restarts
	}
	l := harming("program web", 1)
	l.Duration = 1e9
	m, r := b.measurement(l, slowToBegin{tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		time.Sleep(time.Second) // three times as long as from when the load begins
		if n := restarts(); n != 0 {
			t.Errorf("the program was killed before the load began: %d restarts", n)
		}
		for job.Begins(); ctx.Err() == nil && restarts() == 0; time.Sleep(time.Millisecond) {
			continue
		}
		return sampled(ctx, job)
	}}})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
}

// TestTrialsThatEndBeforeTheHarm say so.
func TestTrialsThatEndBeforeTheHarm(t *testing.T) {
	b := newBed(t, harmed)
	m, r := b.measurement(harming("program web", 1), tool{sampled})
	if err := m.Run(context.Background(), r); err == nil || !strings.Contains(err.Error(), "was over before the chain was harmed") {
		t.Errorf("error %v", err)
	}
	b.gone()
}

// TestHarmThatCannotBe is told before anything is made.
func TestHarmThatCannotBe(t *testing.T) {
	b := newBed(t, harmed)
	for harm, want := range map[string]string{
		"program f": "f runs no program that could be killed or stopped", "interface g": "there is no g in the chain; there are [client f web server]",
		"stopped web": "web has no onFailure", "supervisor": "", "interface server, program web": "",
	} {
		m := &run.Measurement{Host: b.host, Tools: []traffic.Tool{tool{sampled}}}
		_, _, err := m.Cells(context.Background(), b.name(), []experiment.Point{{Chain: b.chain.Spec, Load: harming(harm, 1)}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", harm, err)
		}
	}
	// The generator sends and counts at the ends' interfaces, of which "interface f" takes one with it where they are paired.
	for wiring, wants := range map[string]map[string]bool{
		"veth": {"interface client": false, "interface server": false, "interface f": false, "interface web": true, "program web": true},
		"ebpf": {"interface client": false, "interface server": false, "interface f": true},
	} {
		chain := b.chain
		chain.Spec.Wiring = wiring
		for harm, may := range wants {
			l := harming(harm, 1)
			l.Tool, l.Protocols, l.FrameSize = "builtin", []string{trial.UDP}, 64
			m := &run.Measurement{Host: b.host, Tools: registry.Tools}
			_, _, err := m.Cells(context.Background(), b.name(), []experiment.Point{{Chain: chain.Spec, Load: l}})
			if may != (err == nil) || !may && !strings.Contains(err.Error(), "takes that of an end of the chain away, at which builtin sends and counts") {
				t.Errorf("%s, %s: %v", wiring, harm, err)
			}
		}
	}
	searching := harming("program web", 1)
	searching.Search = &api.Search{}
	m := &run.Measurement{Host: b.host, Tools: []traffic.Tool{tool{sampled}}}
	searching.Protocols = []string{trial.UDP}
	if _, _, err := m.Cells(context.Background(), b.name(), []experiment.Point{{Chain: b.chain.Spec, Load: searching}}); err == nil {
		t.Error("harm in a search is not refused")
	}
	if _, err := b.host.Plan(b.chain, nil, plan.Options{}); err != nil {
		t.Error(err)
	}
}

// harmedFor is how long a load lasts, in ns, in which harm is done, if that is enough, and harmedRate how much is sent in a second.
const (
	harmedFor  = 2e9
	harmedRate = 2000
)

// TestOutagesUnderLoad are measured by the generator: how long no frame came when a chain lost something that packets are led past then, are led to another replica
// of, or end before. What was sent meanwhile may be lost, and all else comes, once.
func TestOutagesUnderLoad(t *testing.T) {
	nstest.Require(t, feature.BPFXDP, feature.Tun, feature.Redirect)
	const program, routes = "kind: impair, impair: {backend: tun}", "kind: forward"
	const two = ", replicas: 2, weights: [1, 0]" // all flows are with the first one until it fails
	for _, c := range []struct{ policy, harm, bad string }{
		{"bypass", "program bad", program}, {"bypass", "stopped bad", program}, {"bypass", "interface bad", routes},
		{"bypass", "program bad-1, stopped bad-2", program + ", replicas: 2"},
		{"replica", "program bad-1", program + two}, {"replica", "stopped bad-1", program + two}, {"replica", "interface bad-1", routes + two},
		{"block", "program bad", program}, {"block", "stopped bad", program}, {"block", "interface bad", routes},
	} {
		t.Run(c.policy+", "+c.harm, func(t *testing.T) {
			dropped := nstest.Dropped(t)
			s, sent, lost, failures := harmedUnderLoad(t, c.harm, "wiring: ebpf\nfunctions: [{name: bad, onFailure: "+c.policy+", "+c.bad+"}, {name: last, kind: forward}]\n")
			outage := s.Metrics[traffic.OutageMetric]
			t.Logf("%d of %d are lost, outage %.1f ms, %d failures", lost, sent, outage/1e6, failures)
			// Each harm may cost an outage, none longer than that, and so may each time that a function was thought to have failed on a busy machine. Who was
			// late with frames sent more meanwhile than were due then, the last that came before may have come late, by which what is lost began before nothing came,
			// and others' floods may have cost some at another time.
			late := s.Metrics["schedule_error_max_ns"] + s.Metrics["one_way_latency_max_ns"] - s.Metrics["one_way_latency_min_ns"]
			most := float64(max(failures, strings.Count(c.harm, ",")+1))*(harmedRate*(outage+late)/1e9+2) + float64(nstest.Dropped(t)-dropped)
			if outage <= 0 || outage > float64(sent)/harmedRate*1e9 || float64(lost) > most || s.Metrics["duplicate_ratio"] > 0 {
				t.Errorf("%d of %d are lost, %v in outages at most: %v %q", lost, sent, most, s.Metrics, s.Warnings)
			}
			keeps(t, c.policy, s, sent, lost)
		})
	}
}

// keeps holds where the frames of a load went to what becomes of them while a function fails: unless they are led past it, all that come went through it, or through
// its replicas, of which the other takes over; and where they end before it, most of those that are lost never came to it.
func keeps(t *testing.T, policy string, s trial.Trial, sent, lost uint64) {
	t.Helper()
	in, out := map[string]led{}, led{}
	for _, i := range s.Observed.Interfaces {
		of, bad := strings.CutPrefix(i.Node, "bad")
		switch {
		case bad && i.Interface == "eth0":
			in[of] = ledOf(i.RxPackets, i.RxBytes)
		case bad && i.Interface == "eth1":
			l := ledOf(i.TxPackets, i.TxBytes)
			out.least, out.most = out.least+l.least, out.most+l.most
		}
	}
	t.Logf("of %d that come %+v are led through it, to whom %+v come", sent-lost, out, in)
	if came := float64(sent - lost); policy != "bypass" && out.most < came {
		t.Errorf("%v came, and by the function or its replicas %v at most", came, out.most)
	}
	if policy == "replica" && in["-2"].least < 20 {
		t.Errorf("the other replica had %v to %v", in["-2"].least, in["-2"].most)
	}
	if into := in[""].most - out.most; policy == "block" && into > float64(lost)/2 { // of which probes, that pass it, are no part
		t.Errorf("of %d that are lost some %v came to the function", lost, into)
	}
}

// led is how many frames of a load an interface had.
type led struct{ least, most float64 }

// ledOf is that of what was counted there: frames of the load have 60 bytes, and probes 90 or, of IPv6, 110.
func ledOf(frames, bytes uint64) led {
	n, b := float64(frames), float64(bytes)
	return led{max(0, (90*n-b)/30), (110*n - b) / 50}
}

// counting is the built-in generator, and how often functions had failed when its load was over.
type counting struct {
	builtin.Tool
	owner    string
	failures *int
}

func (c counting) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	s, err := c.Tool.Run(ctx, job)
	if err != nil {
		return s, err
	}
	*c.failures = 0
	_, functions, err := process.OnWatch(c.owner)
	for _, h := range functions {
		*c.failures += int(h.Failures)
	}
	return s, err
}

// harmedUnderLoad is a trial of the built-in generator in which a chain loses something, and packets with it, and how many of them were sent and lost, and functions failed. On a
// busy machine the load of some is over before, or none was under way just then; or it is over before any packet comes again, and the next lasts longer.
func harmedUnderLoad(t *testing.T, harm, spec string) (tr trial.Trial, sent, lost uint64, failures int) {
	t.Helper()
	lasts := api.Duration(harmedFor)
	for range 10 {
		b := newBed(t, spec)
		l := load(1, trial.UDP)
		l.Harm, *l.Direct, l.Duration, l.FrameSize, l.Rate = harm, false, lasts, 64, api.LoadRate{Frames: harmedRate}
		m, r := b.measurement(l, counting{owner: b.name(), failures: &failures})
		err := m.Run(t.Context(), r)
		b.gone()
		if err != nil && !strings.Contains(err.Error(), "was over before the chain was harmed") {
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		tr = b.stored(r.ID).Trials[0]
		var n struct {
			Sent     uint64 `json:"sent_packets"`
			Received uint64 `json:"received_packets"`
		}
		if err := json.Unmarshal(tr.Raw[0].Output, &n); err != nil {
			t.Fatal(err)
		}
		_, told := tr.Metrics[traffic.OutageMetric]
		if told && n.Sent > n.Received {
			return tr, n.Sent, n.Sent - n.Received, failures
		}
		if !told && lasts < 8*harmedFor {
			lasts *= 2
		}
	}
	t.Fatalf("in none of ten runs packets were lost and came again: %v %q", tr.Metrics, tr.Warnings)
	return tr, 0, 0, 0
}
