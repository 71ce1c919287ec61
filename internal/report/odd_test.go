package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// everyReport is every kind of run that a reader may have.
func everyReport() map[string]Report {
	return map[string]Report{
		"bench": sampleBench(), "experiment": sampleExperiment(), "big": sampleBig(), "detailed": sampleDetailed(), "search": sampleSearch(),
		"no conditions": New(trial.Run{ID: "20261121-035352-0000", Chain: "none", State: trial.Failed, Environment: sampleEnvironment}),
		"no trials":     sampleWithout(func(trial.Trial) bool { return false }),
		"one trial":     sampleWithout(func(t trial.Trial) bool { return t.Repeat == 1 }),
		"zeros":         sampleZeros(), "instances": sampleInstances(),
	}
}

// sampleWithout is the bench with only the trials that keep tells.
func sampleWithout(keep func(trial.Trial) bool) Report {
	run := sampleBench().Run
	var kept []trial.Trial
	for _, t := range run.Trials {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	run.Trials = kept
	return New(run)
}

// sampleZeros is a chain that carries nothing.
func sampleZeros() Report {
	run := sampleBench().Run
	for i := range run.Trials {
		for m := range run.Trials[i].Metrics {
			run.Trials[i].Metrics[m] = 0
		}
	}
	return New(run)
}

// sampleBig has many conditions with long names on many cores.
func sampleBig() Report {
	run := trial.Run{ID: "20261121-041500-0001", Chain: strings.Repeat("long-name-", 6) + "x", State: trial.Done, CreatedAt: sampleStart,
		Repeats: 4, Environment: sampleEnvironment, SchemaVersion: trial.SchemaVersion}
	run.Environment.CPUs = 64
	r := rand.New(rand.NewSource(3))
	for _, flows := range []int{1, 4, 16} {
		for _, rules := range []string{"stateless", "stateful with connbytes", "spread over the chain"} {
			for _, protocol := range []string{trial.UDP, trial.Latency} {
				c := trial.Condition{Path: trial.PathChain, Protocol: protocol, Flows: flows, Length: 5, DurationS: 30,
					PayloadSize: 1 << uint(flows), Affinity: "0-3", Factors: map[string]any{"rules": rules, "flows": flows}}
				addCondition(&run, c, func() map[string]float64 {
					if protocol == trial.Latency {
						return latencies(r, 5e5*float64(flows))
					}
					return map[string]float64{"goodput_bps": around(r, 3e8*float64(flows), .2), "loss_ratio": .2}
				})
			}
		}
	}
	observe(&run, r)
	return New(run)
}

func TestEveryWriterTakesEveryReport(t *testing.T) {
	for name, r := range everyReport() {
		for kind, write := range map[string]func(io.Writer, Report) error{"text": Text, "markdown": Markdown, "json": JSON, "csv": CSV,
			"parquet": Parquet, "hdr": HDRLog, "junit": JUnit, "openmetrics": OpenMetrics} {
			var b bytes.Buffer
			if err := write(&b, r); err != nil || b.Len() == 0 {
				t.Errorf("%s as %s: %d bytes, %v", name, kind, b.Len(), err)
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf ") {
				t.Errorf("%s as %s: NaN or Inf: %s", name, kind, b.String())
			}
		}
	}
}

func TestJSONHasNoNullAndNamesWhatItMust(t *testing.T) {
	for name, r := range everyReport() {
		var b bytes.Buffer
		if err := JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "null") {
			t.Errorf("%s: null in %s", name, b.String())
		}
		var object map[string]any
		if err := json.Unmarshal(b.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"schema_version", "run", "chain", "environment", "trials", "conditions", "summary", "claims", "models", "warnings"} {
			if _, has := object[key]; !has {
				t.Errorf("%s: no %q", name, key)
			}
		}
	}
}

func TestFailingWriterIsTold(t *testing.T) {
	for kind, write := range map[string]func(io.Writer, Report) error{"text": Text, "markdown": Markdown, "json": JSON, "csv": CSV, "html": HTML} {
		if err := write(closed{}, sampleBench()); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestSourceOfNothing: a source that lost nothing has no value to divide ours by.
func TestSourceOfNothing(t *testing.T) {
	r := sampleBench()
	r.References = []api.Reference{{At: map[string]any{"protocol": "udp"}, Metric: "loss_ratio"}, {At: map[string]any{"protocol": "tcp"}, Metric: "goodput_bps"}}
	for _, row := range r.referenceTable().Rows {
		if row.Cells[2] == "not measured" || row.Cells[4] != "–" {
			t.Errorf("%q", row.Cells)
		}
	}
}

func TestShapeOfAChainThatCarriesNothing(t *testing.T) {
	r := sampleExperiment()
	r.Run.Infeasible = nil // the word has what is looked for
	for i := range r.Run.Trials {
		if r.Run.Conditions[r.Run.Trials[i].Condition].Length == 2 {
			r.Run.Trials[i].Metrics["goodput_bps"] = 0
		}
	}
	r.Conditions = trial.Summarize(r.Run)
	if text := renderHTML(t, r); strings.Contains(text, "Inf") || strings.Contains(text, "NaN") {
		t.Error("a share of nothing was drawn")
	}
}
