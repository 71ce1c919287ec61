package experiment

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func TestFitBringsBackTheLaw(t *testing.T) {
	fits := Fits(fig7(), powerLaw(0.11).measure(0.01, 10, 4))
	if len(fits) != 1 || len(fits[0].Params) != 2 || len(fits[0].Points) != 5 {
		t.Fatalf("%+v", fits)
	}
	t2, l := fits[0].Params[0], fits[0].Params[1]
	if l.Name != "l" || math.Abs(l.Value-0.11) > 0.01 || l.CI95[0] > 0.11 || l.CI95[1] < 0.11 {
		t.Errorf("%+v %v", l, l.CI95)
	}
	if t2.Name != "t2" || math.Abs(t2.Value/155e9-1) > 0.02 {
		t.Errorf("%+v", t2)
	}
	if p := fits[0].Points[4]; p.Length != 20 || p.X != 20 || p.Fitted || !p.Stretched {
		t.Errorf("%+v", p)
	}
}

func TestFitNotes(t *testing.T) {
	run := powerLaw(0.11).measure(0, 2, 4)
	run.Trials = run.Trials[:8] // none of length 20
	notes := strings.Join(Fits(fig7(), run)[0].Notes, "\n")
	for _, want := range []string{
		"6 trials at length 2, 3, 5", "Student's t", "4 degrees of freedom",
		"At n = 5: k = n−2 predicts 109.3 Gb/s, k = n−1 predicts 97.25 Gb/s", "measured 109.3 Gb/s",
		"largest relative error", "no trials yet of length 20",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

func TestNoFitSaysWhy(t *testing.T) {
	spec := fig7()
	several := spec.Models[0]
	several.Where = nil
	unknown := spec.Models[0]
	unknown.Kind = "magic"
	averaged := spec.Models[0]
	averaged.Metric = "latency_p50_ns"
	spec.Models = append(spec.Models, several, unknown, averaged)
	run := powerLaw(0.11).measure(0.01, 1, 4)
	other := run.Conditions[0]
	other.Factors = map[string]any{"length": 2, "flows": 1, "zerocopy": true}
	run.Conditions = append(run.Conditions, other)
	run.Trials = run.Trials[:1]
	fits := Fits(spec, run)
	for i, want := range []string{"it takes trials at 2 values of what is varied, and there are 1", "several conditions of length 2", `"magic"`, "not to be averaged"} {
		if notes := strings.Join(fits[i].Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	text, err := json.Marshal(fits)
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%v %s", err, text)
	}
	if Fits(spec, trial.Run{}) == nil || len(fits) != 4 {
		t.Error("models are missing")
	}
}

// A model's error means nothing over two lengths, nor while one is missing.
func TestModelErrorNeedsItsLengths(t *testing.T) {
	whole := powerLaw(0.11).measure(0.01, 2, 4)
	missing := whole
	missing.Trials = append(whole.Trials[:2:2], whole.Trials[4:]...) // none of length 3
	short := fig7()
	short.Models[0].MaxLength = 3
	if v := verdicts(fig7(), missing)["power"]; v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "no trial of length 3") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if v := verdicts(short, whole)["power"]; v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "it takes 3") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}
