package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// named is a traffic tool that is never run.
type named struct {
	name      string
	requires  []string
	protocols []string
}

func (n named) Name() string        { return n.name }
func (n named) Requires() []string  { return n.requires }
func (n named) Protocols() []string { return n.protocols }
func (n named) Run(context.Context, traffic.Job) (traffic.Sample, error) {
	panic("run")
}

var tools = []traffic.Tool{
	named{"bulk", nil, []string{trial.TCP, trial.UDP}},
	named{"absent", []string{"tool.absent"}, []string{trial.TCP, trial.Latency}},
	named{"echo", nil, []string{trial.Latency}},
}

func TestConditions(t *testing.T) {
	yes := true
	full := api.Load{Tool: "auto", Protocols: []string{trial.TCP, trial.Latency}, Flows: 4, PayloadSize: 1000, Rate: api.LoadRate{Bits: 5e6},
		Zerocopy: true, Affinity: "0", Duration: api.Duration(2 * time.Second), Direct: &yes}
	bulk := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Tool: "bulk", Flows: 4, PayloadSize: 1000, OfferedBps: 5e6,
		Zerocopy: true, Affinity: "0", DurationS: 2, Length: 5}
	latency := trial.Condition{Path: trial.PathChain, Protocol: trial.Latency, Tool: "echo", Flows: 1, Affinity: "0", DurationS: 2, Length: 5}
	direct := func(c trial.Condition) trial.Condition { c.Path, c.Length = trial.PathDirect, 2; return c }
	sized := latency
	sized.PayloadSize = 1000
	change := func(f func(*api.Load)) api.Load { l := full; f(&l); return l }
	for name, c := range map[string]struct {
		load   api.Load
		length int
		want   []trial.Condition
	}{
		"all":         {full, 5, []trial.Condition{bulk, direct(bulk), latency, direct(latency)}},
		"no function": {change(func(l *api.Load) { l.Protocols = l.Protocols[:1] }), 2, []trial.Condition{func() trial.Condition { c := bulk; c.Length = 2; return c }()}},
		"only direct": {change(func(l *api.Load) { l.Path = trial.PathDirect }), 5, []trial.Condition{direct(bulk), direct(latency)}},
		"ends alone":  {change(func(l *api.Load) { l.Path, l.Protocols = trial.PathDirect, l.Protocols[:1] }), 2, []trial.Condition{func() trial.Condition { c := bulk; c.Length = 2; return c }()}},
		"no direct":   {change(func(l *api.Load) { l.Direct = nil }), 5, []trial.Condition{bulk, latency}},
		"latency":     {change(func(l *api.Load) { l.Direct, l.Protocols = nil, l.Protocols[1:] }), 5, []trial.Condition{sized}},
		"other tool":  {change(func(l *api.Load) { l.Direct, l.Tool = nil, "echo" }), 5, []trial.Condition{bulk, latency}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run.Conditions(c.load, c.length, nil, tools, feature.Set{})
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("%+v, error %v", got, err)
			}
			for i := range got {
				if got[i].Factors == nil {
					t.Error("factors are nil")
				}
				got[i].Factors = nil
				if !equal(got[i], c.want[i]) {
					t.Errorf("condition %d: %+v, want %+v", i, got[i], c.want[i])
				}
			}
		})
	}
}

// equal compares conditions without factors, which are a map.
func equal(a, b trial.Condition) bool {
	return a.Path == b.Path && a.Protocol == b.Protocol && a.Tool == b.Tool && a.Flows == b.Flows && a.PayloadSize == b.PayloadSize &&
		a.OfferedBps == b.OfferedBps && a.Zerocopy == b.Zerocopy && a.Affinity == b.Affinity && a.DurationS == b.DurationS && a.Length == b.Length
}

// framer is a traffic tool that makes its own frames.
type framer struct{ named }

func (framer) Ceiling(context.Context, trial.Condition) (float64, error) { return 1e6, nil }

// many is one that takes as many flows as there can be.
type many struct{ framer }

func (many) MaxFlows() int { return 1 << 20 }

func TestFrames(t *testing.T) {
	all := append([]traffic.Tool{framer{named{"frames", nil, []string{trial.UDP}}}}, tools...)
	load := api.Load{Tool: "auto", Protocols: []string{trial.UDP, trial.Latency}, Flows: 1, Rate: api.LoadRate{Frames: 1000},
		Frames: api.Frames{FrameSize: 64, VLAN: 7}, Duration: api.Duration(time.Second)}
	got, err := run.Conditions(load, 3, nil, all, feature.Set{})
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, error %v", got, err)
	}
	if c := got[0]; c.Tool != "frames" || c.FrameSize != 64 || c.VLAN != 7 || c.OfferedPps != 1000 || c.OfferedBps != 0 {
		t.Errorf("over udp: %+v", c)
	}
	if c := got[1]; c.Tool != "echo" || c.Frames != (trial.Frames{}) || c.OfferedPps != 0 {
		t.Errorf("latency beside: %+v", c)
	}
	for want, change := range map[string]func(*api.Load){
		"bulk does not make frames":           func(l *api.Load) { l.Tool = "bulk" },
		"bulk has at most 1024 flows":         func(l *api.Load) { l.Tool, l.Frames, l.Rate, l.Flows = "bulk", api.Frames{}, api.LoadRate{}, 1025 },
		"has at most 1024 flows, not 1048577": func(l *api.Load) { l.Flows = 1<<20 + 1 },
		"searches are for udp, not over tcp":  func(l *api.Load) { l.Protocols = []string{trial.TCP} },
	} {
		l := load
		change(&l)
		if _, err := run.Conditions(l, 3, nil, all, feature.Set{}); !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	load.Flows, load.Frames, load.Rate = 5000, api.Frames{}, api.LoadRate{}
	if got, err := run.Conditions(load, 3, nil, append(tools, many{all[0].(framer)}), feature.Set{}); err != nil || got[0].Tool != "frames" || got[1].Flows != 1 {
		t.Errorf("flows for another tool than the first: %+v, %v", got, err)
	}
	load.Frames.FrameSize = 64
	if _, err := run.Conditions(load, 3, nil, tools, feature.Set{}); !errors.Is(err, run.ErrInput) {
		t.Errorf("no tool makes frames: %v", err)
	}
}

// pacer is a traffic tool that sends as many requests as it is told, if these are even.
type pacer struct{ named }

func (pacer) Paces(n int) error {
	if n%2 != 0 {
		return errors.New("odd")
	}
	return nil
}

// TestRequestRate: of latency alone it is for tools that are told one; beside http it is that one's.
func TestRequestRate(t *testing.T) {
	all := append(slices.Clip(tools), pacer{named{"paced", nil, []string{trial.Latency}}}, named{"web", nil, []string{trial.HTTP}})
	load := api.Load{Tool: "auto", Protocols: []string{trial.TCP, trial.Latency}, Duration: api.Duration(time.Second), Web: api.Web{RequestRate: 20}}
	got, err := run.Conditions(load, 3, nil, all, feature.Set{})
	if err != nil || len(got) != 2 || got[0].RequestRate != 0 || got[1].RequestRate != 20 || got[1].Tool != "paced" {
		t.Errorf("latency: %+v, %v", got, err)
	}
	load.Protocols = []string{trial.HTTP, trial.Latency}
	if got, err = run.Conditions(load, 3, nil, all, feature.Set{}); err != nil || len(got) != 2 || got[0].RequestRate != 20 || got[1].RequestRate != 0 || got[1].Tool != "echo" {
		t.Errorf("http and latency: %+v, %v", got, err)
	}
	load.Protocols = []string{trial.Latency}
	for want, change := range map[string]func(*api.Load){
		"echo sends its messages at a rate of its own": func(l *api.Load) { l.Tool = "echo" },
		"request rate of paced: odd":                   func(l *api.Load) { l.Tool, l.RequestRate = "paced", 3 },
	} {
		l := load
		change(&l)
		if _, err := run.Conditions(l, 3, nil, all, feature.Set{}); !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestConditionsRefused(t *testing.T) {
	l := api.Load{Tool: "absent", Protocols: []string{trial.TCP}, Duration: api.Duration(time.Second)}
	if _, err := run.Conditions(l, 3, nil, tools, feature.Set{}); !errors.Is(err, feature.ErrMissing) || !strings.Contains(err.Error(), "tool.absent") {
		t.Errorf("absent tool: %v", err)
	}
	l = api.Load{Protocols: []string{trial.Latency}, Duration: api.Duration(time.Second)}
	if _, err := run.Conditions(l, 3, nil, tools[:2], feature.Set{}); !errors.Is(err, feature.ErrMissing) {
		t.Errorf("only an absent tool: %v", err)
	}
	if _, err := run.Conditions(l, 3, nil, tools[:1], feature.Set{}); !errors.Is(err, run.ErrInput) {
		t.Errorf("no tool: %v", err)
	}
	l.Duration = api.Duration(time.Second / 2)
	if _, err := run.Conditions(l, 3, nil, tools, feature.Set{}); !errors.Is(err, run.ErrInput) {
		t.Errorf("half a second: %v", err)
	}
}
