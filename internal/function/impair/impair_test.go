package impair_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/impair"
	program "nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

func options(change func(*impair.Options)) *impair.Options {
	o := (impair.Kind{}).Options().(*impair.Options)
	change(o)
	return o
}

func TestRefuses(t *testing.T) {
	every, ratio := impair.Pick{Every: 5}, impair.Pick{Ratio: 0.5}
	for path, changes := range map[string][]func(*impair.Options){
		"": {func(*impair.Options) {}, func(o *impair.Options) {
			o.Loss, o.Duplicate, o.Reorder.Pick, o.Reorder.By, o.Delay, o.Jitter = every, ratio, every, 3, 5e6, 5e6
		}, func(o *impair.Options) { o.Backend, o.Loss, o.Duplicate, o.Delay = "netem", ratio, ratio, 1 }},
		"backend":         {func(o *impair.Options) { o.Backend = "xdp" }},
		"loss":            {func(o *impair.Options) { o.Loss = impair.Pick{Every: 1, Ratio: 0.1} }, func(o *impair.Options) { o.Loss.Ratio = 1.1 }},
		"duplicate":       {func(o *impair.Options) { o.Duplicate.Ratio = -1 }},
		"reorder":         {func(o *impair.Options) { o.Reorder.By = 2 }, func(o *impair.Options) { o.Backend, o.Reorder.Pick = "netem", ratio }},
		"reorder.by":      {func(o *impair.Options) { o.Reorder.By = 0 }, func(o *impair.Options) { o.Reorder.By = 10_001 }},
		"delay":           {func(o *impair.Options) { o.Delay = api.Duration(time.Hour) }},
		"jitter":          {func(o *impair.Options) { o.Jitter = 1 }},
		"limit":           {func(o *impair.Options) { o.Limit = 0 }, func(o *impair.Options) { o.Limit = 10_000_001 }},
		"loss.every":      {func(o *impair.Options) { o.Backend, o.Loss = "netem", every }},
		"duplicate.every": {func(o *impair.Options) { o.Backend, o.Duplicate = "netem", every }},
	} {
		for i, change := range changes {
			wrong := options(change).Validate()
			if path == "" && len(wrong) > 0 || path != "" && (len(wrong) != 1 || wrong[0].Path != path) {
				t.Errorf("%q %d: %v", path, i, wrong)
			}
		}
	}
}

// TestSettle: the program where the machine can have it, else netem if that can do what
// is asked, else what is missing is named for the program.
func TestSettle(t *testing.T) {
	exact := func(o *impair.Options) { o.Loss.Every = 10 }
	random := func(o *impair.Options) { o.Loss.Ratio = 0.1 }
	for _, c := range []struct {
		has    string
		change func(*impair.Options)
		want   string
	}{
		{"tun tc.redirect qdisc.netem", random, "tun"}, {"tun tc.redirect", random, "tun"},
		{"tun qdisc.netem", random, "netem"}, {"qdisc.netem", exact, "tun"}, {"", random, "tun"},
		{"tun tc.redirect", func(o *impair.Options) { o.Backend = "netem" }, "netem"},
	} {
		given := options(c.change)
		before := *given
		o := (impair.Kind{}).Settle(given, func(f string) bool { return slices.Contains(strings.Fields(c.has), f) }).(*impair.Options)
		if o.Backend != c.want || *given != before {
			t.Errorf("with %q: %s, and what was given became %+v", c.has, o.Backend, given)
		}
		want := map[string][]string{"tun": {"tun", "tc.redirect"}, "netem": {"qdisc.netem"}}[c.want]
		if got := (impair.Kind{}).Requires(o); !slices.Equal(got, want) {
			t.Errorf("%s requires %v", c.want, got)
		}
	}
}

func contribute(t *testing.T, site function.Site, o *impair.Options) map[string][]resource.Spec {
	t.Helper()
	site.Owner, site.Node, site.Namespace = "edge", "bad", "nfchain.edge.bad"
	made, err := (impair.Kind{}).Contribute(site, o)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]resource.Spec{}
	for _, r := range made {
		kinds[r.Kind] = append(kinds[r.Kind], r.Spec)
	}
	return kinds
}

// TestDirections: each has a device of its own, and what comes in from there goes to
// it.
func TestDirections(t *testing.T) {
	o := options(func(o *impair.Options) { o.Backend = "tun" })
	for direction, want := range map[api.Direction][]redirect.Spec{
		api.Both:    {{Device: "eth0", To: "impair0"}, {Device: "eth1", To: "impair1"}},
		api.Forward: {{Device: "eth0", To: "impair0"}},
		api.Reverse: {{Device: "eth1", To: "impair1"}},
	} {
		kinds := contribute(t, function.Site{West: "eth0", East: "eth1", Direction: direction}, o)
		var got []redirect.Spec
		for _, s := range kinds["redirect"] {
			got = append(got, s.(redirect.Spec))
		}
		if !slices.Equal(got, want) || len(kinds["tun"]) != len(want) || len(kinds["process"]) != 1 {
			t.Errorf("%s: %+v", direction, kinds)
		}
	}
	// One that stands alone gets its interfaces with its chain.
	if kinds := contribute(t, function.Site{}, o); len(kinds["redirect"]) != 0 || len(kinds["tun"]) != 2 || len(kinds["process"]) != 1 {
		t.Errorf("alone: %+v", kinds)
	}
}

// TestProgram is told all that was asked for, and asked whether it is ready.
func TestProgram(t *testing.T) {
	o := options(func(o *impair.Options) {
		o.Backend, o.Loss.Every, o.Duplicate.Ratio, o.Reorder.Every, o.Reorder.By = "tun", 7, 0.5, 9, 3
		o.Delay, o.Jitter, o.Limit, o.Seed = 5e6, 1e6, 42, 43
	})
	site := function.Site{West: "eth0", East: "eth1", Resources: &api.Resources{CPUs: "1", Memory: 1 << 30}}
	s := contribute(t, site, o)["process"][0].(process.Spec)
	if !s.Own || s.CPUs != "1" || s.MemoryBytes != 1<<30 || s.Args[1] != program.Command || s.Args[2] != "edge" || s.Args[3] != "bad" {
		t.Fatalf("%+v", s)
	}
	c, err := program.Decode(s.Args[4])
	want := program.Config{Ways: []program.Way{program.Forward, program.Reverse}, Loss: program.Pick{Every: 7}, Duplicate: program.Pick{Ratio: 0.5},
		Reorder: program.Pick{Every: 9}, By: 3, DelayNS: 5e6, JitterNS: 1e6, Limit: 42, Seed: 43}
	if err != nil || c.Encode() != want.Encode() {
		t.Errorf("%+v, %v", c, err)
	}
	if ready := s.Ready.Command; !slices.Equal(ready[:5], s.Args) || ready[5] != "--ready" {
		t.Errorf("%v", ready)
	}
}

// TestNetem impairs what leaves.
func TestNetem(t *testing.T) {
	o := options(func(o *impair.Options) { o.Backend, o.Loss.Ratio, o.Delay, o.Limit = "netem", 0.1, 5e6, 10 })
	for direction, devices := range map[api.Direction][]string{api.Both: {"eth0", "eth1"}, api.Forward: {"eth1"}, api.Reverse: {"eth0"}} {
		kinds := contribute(t, function.Site{West: "eth0", East: "eth1", Direction: direction}, o)
		if len(kinds) != 1 || len(kinds["qdisc"]) != len(devices) {
			t.Fatalf("%s: %+v", direction, kinds)
		}
		for i, device := range devices {
			s := kinds["qdisc"][i].(qdisc.Spec)
			if s.Device != device || s.Discipline != qdisc.Netem || *s.Impair != (qdisc.Impair{DelayNS: 5e6, Loss: 0.1, LimitPackets: 10}) {
				t.Errorf("%s: %+v", direction, s)
			}
		}
	}
}

func TestDelays(t *testing.T) {
	if d := options(func(o *impair.Options) { o.Delay, o.Jitter = 5e6, 1e6 }).Delays(); d != 12e6 {
		t.Error(d)
	}
}
