package published_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/published"
)

// paper is a machine that measures what a source printed.
type paper struct {
	id    string
	cores int
	// truth is what a condition measures, by metric; nothing where it cannot be had.
	truth func(factors map[string]any) map[string]float64
	// scatter is how many times the usual noise a condition has; nil is once everywhere.
	scatter func(factors map[string]any) float64
	// refused is why what measures nothing cannot be had.
	refused string
}

func specOf(t *testing.T, id string) api.ExperimentSpec {
	t.Helper()
	text, err := published.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	file, err := registry.Words().Decode(id, text)
	if err != nil || len(file.Experiments) != 1 {
		t.Fatal(err)
	}
	return file.Experiments[0].Spec
}

// run the experiment there: each condition six times, with noise of 0.2 per mille, so that
// claims are decided whose range ends close to what was printed.
func (p paper) run(t *testing.T) (api.ExperimentSpec, trial.Run) {
	t.Helper()
	spec := experiment.OnCores(specOf(t, p.id), p.cores)
	points, err := experiment.Points(spec, registry.Words())
	if err != nil {
		t.Fatal(err)
	}
	run := trial.Run{Repeats: 6, State: trial.Done, Environment: trial.Environment{CPUs: p.cores}}
	for _, point := range points {
		truth := p.truth(point.Factors)
		if point.Infeasible != "" {
			t.Errorf("%v: %s", point.Factors, point.Infeasible)
		}
		if len(truth) == 0 {
			run.Infeasible = append(run.Infeasible, trial.Infeasible{Factors: point.Factors, Reason: p.refused})
			continue
		}
		noise := 0.0002
		if p.scatter != nil {
			noise *= p.scatter(point.Factors)
		}
		for repeat := 1; repeat <= run.Repeats; repeat++ {
			metrics := trial.Map[float64]{}
			for name, x := range truth {
				metrics[name] = x * (1 + noise*math.Sin(float64(7*len(run.Conditions)+repeat*repeat)))
			}
			run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions), Repeat: repeat, Metrics: metrics})
		}
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Length: point.Chain.Length(), Factors: point.Factors})
	}
	return spec, run
}

// expect that claims come back so there, without their source in front; all else does not
// matter where it says so.
func (p paper) expect(t *testing.T, want map[string]string) {
	t.Helper()
	spec, run := p.run(t)
	source := published.Source(p.id) + "/"
	left := maps.Clone(want)
	for _, v := range experiment.Judge(spec, run, func(string) bool { return true }) {
		id := v.ID[len(source):]
		if v.Verdict != want[id] {
			t.Errorf("%s: %s, want %q: %s", v.ID, v.Verdict, want[id], v.Reason)
		}
		delete(left, id)
	}
	if len(left) > 0 {
		t.Errorf("%s has no claims %v", p.id, slices.Sorted(maps.Keys(left)))
	}
}

// asPrinted measures what the experiment's own reference has, and at other conditions what
// beside says.
func asPrinted(t *testing.T, id string, beside func(map[string]any) map[string]float64) func(map[string]any) map[string]float64 {
	t.Helper()
	spec := specOf(t, id)
	return func(factors map[string]any) map[string]float64 {
		all := map[string]float64{}
		for _, r := range spec.Reference {
			if _, twice := all[r.Metric]; !twice && experiment.Matches(trial.Condition{Factors: factors}, r.At) {
				all[r.Metric] = r.Value
			}
		}
		if len(all) == 0 && beside != nil {
			all = beside(factors)
		}
		return all
	}
}

// level of a factor, as a number.
func level(factors map[string]any, field string) float64 {
	x, is := api.LevelOf(field, factors[field])
	if !is {
		panic(fmt.Sprintf("%v has no level of %s", factors, field))
	}
	return x
}

// wired is the number for the wiring of a condition.
func wired(factors map[string]any, each map[string]float64) float64 {
	x, known := each[factors["wiring"].(string)]
	if !known {
		panic(fmt.Sprintf("%v: nothing is known of its wiring", factors))
	}
	return x
}

const (
	holds     = experiment.Holds
	undecided = experiment.Undecided
	fails     = experiment.DoesNotHold
	untold    = experiment.CannotBeTold
)

// TestReferencesBelongToOneConditionEach, and every experiment has what a run of it needs.
func TestReferencesBelongToOneConditionEach(t *testing.T) {
	for _, id := range published.IDs() {
		p := paper{id: id, cores: 16, truth: func(map[string]any) map[string]float64 { return map[string]float64{"x": 1} }}
		spec, run := p.run(t)
		for _, r := range spec.Reference {
			n := 0
			for _, c := range run.Conditions {
				if experiment.Matches(c, r.At) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: the reference %s at %v belongs to %d conditions", id, r.Metric, r.At, n)
			}
		}
		if spec.Source == nil || spec.Source.ID != published.Source(id) || spec.Quick == nil || len(spec.Claims) == 0 {
			t.Errorf("%s: source %+v, quick %+v, %d claims", id, spec.Source, spec.Quick, len(spec.Claims))
		}
	}
}

// TestStatementsOfOneHostAreJudged: all of these sources that one host can tell are claims of
// some experiment, and no claim is of a statement that the catalogue lacks.
func TestStatementsOfOneHostAreJudged(t *testing.T) {
	judged := map[string]bool{}
	for _, id := range published.IDs() {
		for _, c := range specOf(t, id).Claims {
			judged[published.Whole(c.ID)] = true
		}
	}
	known := map[string]bool{}
	for _, c := range published.Claims() {
		known[c.ID] = true
		ours := published.Source(c.ID) == "zhao2017" || published.Source(c.ID) == "ocansey2017"
		if ours && c.Needs == published.OneHost && !judged[c.ID] {
			t.Errorf("no experiment judges %s", c.ID)
		}
	}
	for id := range judged {
		if !known[id] {
			t.Errorf("%s is no statement of the catalogue", id)
		}
	}
}
