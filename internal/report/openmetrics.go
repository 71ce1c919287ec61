package report

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// OpenMetrics writes where a run is and what its latest trials measured, for a
// collector to scrape: nfchain_trials and nfchain_trials_planned, nfchain_trial
// with the latest value of each condition and metric in the metric's own unit, and
// nfchain_trial_started_timestamp_seconds. A run that goes on gives other values
// the next time.
func OpenMetrics(w io.Writer, r Report) error {
	registry := prometheus.NewRegistry()
	run := prometheus.Labels{"run": r.Run.ID, "chain": r.Run.Chain, "experiment": r.Run.Experiment}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "nfchain", Name: name, Help: help, ConstLabels: run}, labels)
		registry.MustRegister(g)
		return g
	}
	gauge("trials", "Trials that are finished.").WithLabelValues().Set(float64(r.Run.Finished()))
	gauge("trials_planned", "Trials that the run is to have.").WithLabelValues().Set(float64(r.planned()))
	gauge("run_state", "One for the state that the run is in.", "state").WithLabelValues(r.Run.State).Set(1)
	infeasible := gauge("infeasible", "One for each combination that cannot be measured here.", "factors", "reason")
	for _, c := range r.Run.Infeasible {
		infeasible.WithLabelValues(experiment.Describe(c.Factors), c.Reason).Set(1)
	}
	about := []string{"condition", "path", "protocol", "tool", "flows"}
	values := gauge("trial", "What the latest trial of a condition measured, in the unit that the metric's name ends with.", append(about, "metric")...)
	started := gauge("trial_started_timestamp_seconds", "When the latest trial of a condition began.", about...)
	for i, t := range latest(r.Run) {
		c := r.Run.Conditions[i]
		of := []string{strconv.Itoa(i), c.Path, c.Protocol, c.Tool, strconv.Itoa(c.Flows)}
		started.WithLabelValues(of...).Set(float64(t.StartedAt.UnixMilli()) / 1000)
		for _, metric := range slices.Sorted(maps.Keys(t.Metrics)) {
			values.WithLabelValues(append(slices.Clip(of), metric)...).Set(t.Metrics[metric])
		}
	}
	return WriteOpenMetrics(w, registry)
}

// latest is the last trial of each condition that has one.
func latest(r trial.Run) map[int]trial.Trial {
	out := map[int]trial.Trial{}
	for _, t := range r.Trials {
		if t.Condition >= 0 && t.Condition < len(r.Conditions) {
			out[t.Condition] = t
		}
	}
	return out
}

// WriteOpenMetrics writes what a registry gathers.
func WriteOpenMetrics(w io.Writer, registry *prometheus.Registry) error {
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	e := expfmt.NewEncoder(w, OpenMetricsFormat)
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	return e.(expfmt.Closer).Close()
}

// OpenMetricsFormat is the content type of [OpenMetrics] and [WriteOpenMetrics].
var OpenMetricsFormat = expfmt.NewFormat(expfmt.TypeOpenMetrics)
