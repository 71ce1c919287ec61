package experiment

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// readPublished decodes an experiment without the rules of package api, which
// has its own tests for every published file.
func readPublished(t *testing.T, path string) api.Experiment {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err = yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var e api.Experiment
	if err := decoder.Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e
}

// Fig. 7 measured on a simulated machine that behaves as the paper says must
// confirm the paper, as far as nfchain can tell.
func TestFig7OnTheMachineOfThePaper(t *testing.T) {
	spec := readPublished(t, "../../published/livi2016/fig7.yaml").Spec
	points, err := Points(spec, api.Catalogue{})
	if err != nil || len(points) != 20 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	var run trial.Run
	for i, p := range points {
		run.Conditions = append(run.Conditions, trial.Condition{Length: len(p.Chain.Functions) + 2, Factors: p.Factors})
		for k := range spec.Load.Repeats {
			value := fading(len(p.Chain.Functions)+2) * float64(p.Load.Flows) / 8 * (1 + 0.002*float64(k%3-1))
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{metric: value}})
		}
	}
	want := map[string]string{
		"livi2016/fig7-first": Holds, "livi2016/fig7-power": Holds, "livi2016/fig7-fade": Holds,
		"livi2016/fig7-veth-ovs": CannotBeTold, "livi2016/fig7-two-factor": CannotBeTold,
	}
	for _, v := range Judge(spec, run, nil) {
		if v.Verdict != want[v.ID] {
			t.Errorf("%s: %s, want %s: %s", v.ID, v.Verdict, want[v.ID], v.Reason)
		}
		t.Logf("%s: %s: %s", v.ID, v.Verdict, v.Reason)
		delete(want, v.ID)
	}
	if len(want) > 0 {
		t.Errorf("no verdict on %v", want)
	}
	for _, r := range spec.Reference {
		if found := matching(run, r.At); len(found) != 1 {
			t.Errorf("the reference at %v belongs to %d conditions", r.At, len(found))
		}
	}
	for _, note := range Fits(spec, run)[0].Notes {
		t.Log(note)
	}
}
