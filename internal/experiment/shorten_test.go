package experiment

import (
	"math/rand/v2"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// TestShortening takes durations before repeats, never below the quick load, and nothing
// where there is none.
func TestShortening(t *testing.T) {
	spec := api.ExperimentSpec{Load: api.Load{Duration: api.Duration(30 * time.Second), Repeats: 10}, Quick: &api.Load{Duration: api.Duration(2 * time.Second), Repeats: 3}}
	fewer := api.ExperimentSpec{Load: api.Load{Duration: api.Duration(5 * time.Second), Repeats: 3}, Quick: &api.Load{Repeats: 2}}
	for _, c := range []struct {
		spec     api.ExperimentSpec
		short    Shortening
		duration time.Duration
		repeats  int
		told     string
	}{
		{spec, Shortening{}, 30 * time.Second, 10, ""},
		{spec, Shortening{DurationS: 60}, 30 * time.Second, 10, ""},
		{spec, Shortening{DurationS: 5}, 5 * time.Second, 10, "shortened for want of time: trials of 5s, where the experiment has 30s"},
		{spec, Shortening{DurationS: 1}, 2 * time.Second, 10, "shortened for want of time: trials of 2s, where the experiment has 30s"},
		{spec, Shortening{DurationS: 1, Repeats: 6}, 2 * time.Second, 6, "shortened for want of time: trials of 2s, where the experiment has 30s; 6 repeats, where it has 10"},
		{spec, Shortening{DurationS: 1, Repeats: 1}, 2 * time.Second, 3, "shortened for want of time: trials of 2s, where the experiment has 30s; 3 repeats, where it has 10"},
		{fewer, Shortening{DurationS: 1, Repeats: 1}, 5 * time.Second, 2, "shortened for want of time: 2 repeats, where it has 3"},
		{api.ExperimentSpec{Load: api.Load{Repeats: 3}, Quick: spec.Quick}, Shortening{DurationS: 60}, 0, 3, ""},
		{api.ExperimentSpec{Load: spec.Load}, Shortening{DurationS: 1, Repeats: 1}, 30 * time.Second, 10, ""},
	} {
		got := c.short.Load(c.spec)
		if time.Duration(got.Duration) != c.duration || got.Repeats != c.repeats || c.short.Told(c.spec) != c.told || c.short.Whole(c.spec) {
			t.Errorf("%+v: %v, %d, %q", c.short, got.Duration, got.Repeats, c.short.Told(c.spec))
		}
	}
	all := Shortenings()
	for i := 1; i < len(all); i++ {
		if before, now := all[i-1].Load(spec), all[i].Load(spec); now.Duration > before.Duration || now.Repeats > before.Repeats || now.Repeats < before.Repeats && now.Duration > spec.Quick.Duration {
			t.Errorf("%v comes after %v", all[i], all[i-1])
		}
	}
	if last := all[len(all)-1].Load(spec); last.Duration != spec.Quick.Duration || last.Repeats != spec.Quick.Repeats {
		t.Errorf("the last leaves %+v", last)
	}
}

// TestShorteningTakesSomeQuickLoadsWhole: half of a quick search is neither.
func TestShorteningTakesSomeQuickLoadsWhole(t *testing.T) {
	quick := api.Load{Duration: api.Duration(time.Second), Repeats: 3}
	other := quick
	other.Flows = 2
	for name, spec := range map[string]api.ExperimentSpec{
		"search":   {Load: api.Load{Search: &api.Search{}, Repeats: 10}, Quick: &quick},
		"flows":    {Load: api.Load{Repeats: 10, Flows: 8}, Quick: &other},
		"redeploy": {Load: api.Load{Repeats: 40, Repetition: api.Repetition{Redeploy: 20}}, Quick: &quick},
	} {
		short := Shortening{DurationS: 20}
		if got := short.Load(spec); !short.Whole(spec) || got.Repeats != 3 || got.Duration != quick.Duration || short.Told(spec) != "for want of time this is the experiment's quick load" {
			t.Errorf("%s: %+v, %q", name, got, short.Told(spec))
		}
		if (Shortening{}).Load(spec).Repeats == 3 {
			t.Errorf("%s is shortened by nothing", name)
		}
	}
}

// TestShortenedCosts: what shorter trials cost is what such a file costs, and what is varied stays.
func TestShortenedCosts(t *testing.T) {
	spec := api.ExperimentSpec{Load: api.Load{Duration: api.Duration(30 * time.Second), Repeats: 10}, Quick: &api.Load{Duration: api.Duration(time.Second), Repeats: 3}}
	run := simulated(rand.New(rand.NewPCG(1, 10)), api.ExperimentSpec{Sweep: []api.Factor{{Field: "length", Values: []any{2, 3, 5}}}})
	for i := range run.Conditions {
		run.Conditions[i].DurationS = 30
	}
	run.Conditions[2].DurationS = 60
	long := trimming(spec, run)
	long.Repeats = 10
	short := long.Shortened(Shortening{DurationS: 1, Repeats: 5})
	if short.Repeats != 5 || short.Conditions[0].DurationS != 1 || short.Conditions[2].DurationS != 60 || long.Conditions[0].DurationS != 30 {
		t.Errorf("%d: %+v", short.Repeats, short.Conditions)
	}
	if saved := long.To(0).Span.Most - 2*short.To(0).Span.Most; saved < 2*10*29-3 || saved > 2*10*29+3 {
		t.Errorf("%.1f s are saved", saved)
	}
	if same := long.Shortened(Shortening{}); same.To(0).Span != long.To(0).Span {
		t.Error("shortened by nothing it costs less")
	}
}
