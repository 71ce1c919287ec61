package shaper_test

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/shaper"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func options(change func(*shaper.Options)) *shaper.Options {
	o := (shaper.Kind{}).Options().(*shaper.Options)
	o.Rate = 10e9
	change(o)
	return o
}

func TestRefuses(t *testing.T) {
	class := func(c shaper.Class) func(*shaper.Options) {
		if c.Name == "" {
			c.Name = "a"
		}
		if c.Rate == 0 {
			c.Rate = 1e6
		}
		return func(o *shaper.Options) { o.Classes = []shaper.Class{c} }
	}
	for path, changes := range map[string][]func(*shaper.Options){
		"":                        {func(*shaper.Options) {}, class(shaper.Class{}), func(o *shaper.Options) { o.Rate = 1e12 }, func(o *shaper.Options) { o.Rate = 8000 }, func(o *shaper.Options) { o.Burst = "max" }, func(o *shaper.Options) { o.Burst = "300GB" }},
		"discipline":              {func(o *shaper.Options) { o.Discipline = "sfq" }},
		"rate":                    {func(o *shaper.Options) { o.Rate = 7999 }, func(o *shaper.Options) { o.Rate = 1e12 + 1 }, func(o *shaper.Options) { o.Rate = 0 }},
		"burst":                   {func(o *shaper.Options) { o.Burst = "much" }, func(o *shaper.Options) { o.Burst = "400GB" }, func(o *shaper.Options) { o.Rate, o.Burst, o.Discipline = 8000, "5000", qdisc.TBF }},
		"classes":                 {func(o *shaper.Options) { o.Discipline = qdisc.TBF; class(shaper.Class{})(o) }},
		"classes[0].name":         {class(shaper.Class{Name: `a" drop`})},
		"classes[0].rate":         {class(shaper.Class{Rate: 11e9})},
		"classes[0].ceil":         {class(shaper.Class{Rate: 2e6, Ceil: 1e6}), class(shaper.Class{Ceil: 11e9})},
		"classes[0].burst":        {class(shaper.Class{Rate: 8000, Burst: "1MiB"})},
		"classes[0].priority":     {class(shaper.Class{Priority: 8}), class(shaper.Class{Priority: -1})},
		"classes[0].match.source": {class(shaper.Class{Match: function.Match{Source: "x"}})},
		"classes[1].name": {func(o *shaper.Options) {
			o.Classes = []shaper.Class{{Name: "a", Rate: 1e6}, {Name: "a", Rate: 1e6}}
		}},
	} {
		for i, change := range changes {
			wrong := options(change).Validate()
			if path == "" && len(wrong) > 0 || path != "" && (len(wrong) != 1 || wrong[0].Path != path) {
				t.Errorf("%q %d: %v", path, i, wrong)
			}
		}
	}
}

// TestContributes a discipline for each way out, and one classifier.
func TestContributes(t *testing.T) {
	o := options(func(o *shaper.Options) {
		o.Classes = []shaper.Class{{Name: "web", Rate: 1e9, Match: function.Match{Protocol: "tcp"}}, {Name: "rest", Rate: 1e6, Ceil: 2e6}}
	})
	for direction, devices := range map[api.Direction][]string{api.Both: {"eth0", "eth1"}, api.Forward: {"eth1"}, api.Reverse: {"eth0"}} {
		made, err := (shaper.Kind{}).Contribute(function.Site{Namespace: "ns", West: "eth0", East: "eth1", Direction: direction}, o)
		if err != nil || len(made) != len(devices)+1 {
			t.Fatal(direction, made, err)
		}
		for i, device := range devices {
			s := made[i].Spec.(qdisc.Spec)
			if s.Device != device || len(s.Classes) != 4 || s.Default != 2 || s.Classes[2].CeilBps != 10e9 || s.Classes[3].CeilBps != 2e6 {
				t.Errorf("%s: %+v", direction, s)
			}
		}
		rules := made[len(devices)].Spec.(ruleset.Spec).Rules
		if len(rules) != 2 || rules[0].Class != 1<<16|16 || rules[1].Class != 1<<16|17 {
			t.Errorf("%+v", rules)
		}
	}
}

// TestDefaultBurst lets the rate be reached: a millisecond of it and two segments.
func TestDefaultBurst(t *testing.T) {
	for rate, least := range map[api.Rate]uint64{8000: 128 << 10, 1e6: 128 << 10, 10e9: 1.25e6, 1e12: 125e6} {
		o := options(func(o *shaper.Options) { o.Rate = rate })
		made, err := (shaper.Kind{}).Contribute(function.Site{Namespace: "ns", West: "eth0", East: "eth1", Direction: api.Forward}, o)
		if err != nil {
			t.Fatal(err)
		}
		if c := made[0].Spec.(qdisc.Spec).Classes[0]; c.BurstBytes < least || c.BurstBytes > least*5/4+500_000 {
			t.Errorf("at %d: %+v, want at least %d", rate, c, least)
		}
	}
}

// TestAtAnEnd has one interface, and none in the direction that ends there.
func TestAtAnEnd(t *testing.T) {
	o := options(func(o *shaper.Options) { o.Classes = []shaper.Class{{Name: "web", Rate: 1e9}} })
	for direction, want := range map[api.Direction]int{api.Both: 2, api.Forward: 0, api.Reverse: 2} {
		made, err := (shaper.Kind{}).Contribute(function.Site{Namespace: "ns", West: "eth0", End: true, Beside: "everywhere0", Direction: direction}, o)
		if err != nil || len(made) != want {
			t.Errorf("%s: %v, error %v", direction, made, err)
		}
	}
}

// TestLargestBurst is a time at the rate, at the ceiling too.
func TestLargestBurst(t *testing.T) {
	for discipline, want := range map[string]float64{qdisc.HTB: 274, qdisc.TBF: 4.29} {
		o := options(func(o *shaper.Options) { o.Rate, o.Burst, o.Discipline = 1e12, "max", discipline })
		made, err := (shaper.Kind{}).Contribute(function.Site{Namespace: "ns", East: "eth1"}, o)
		if err != nil {
			t.Fatal(err)
		}
		c := made[0].Spec.(qdisc.Spec).Classes[0]
		if seconds := float64(c.BurstBytes) / 1e12 * 8; seconds < want || seconds > want*1.0001 || discipline == qdisc.HTB && c.CeilBurstBytes != c.BurstBytes {
			t.Errorf("%s: %+v is %g s, want %g", discipline, c, seconds, want)
		}
	}
}
