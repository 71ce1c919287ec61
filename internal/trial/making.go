package trial

import (
	"maps"
	"math"
	"slices"
)

// SetupMetric is how long a chain took to come up: see [Making.Ns]. No tool measures it: it
// follows from what was stored of the making.
const SetupMetric = "setup_ns"

// Making is how long one chain took to come up of which nothing had been there, by phases,
// s.
type Making struct {
	Chain string `json:"chain"`
	// Beside tells a chain that came up beside the one that is measured.
	Beside bool `json:"beside,omitempty"`
	// PlanS is looking at the machine and planning, once no other chain was choosing its
	// addresses; MakeS making every object; and ReadyS waiting until its programs were ready
	// and its links carried packets.
	PlanS  float64 `json:"plan_s"`
	MakeS  float64 `json:"make_s"`
	ReadyS float64 `json:"ready_s"`
	// ProofS is the proof of its path, whose sockets cost time of their own; absent where
	// the trial was over another path.
	ProofS float64 `json:"proof_s,omitempty"`
}

// Ns is the whole without the proof of path: what `nfchain up --wait` takes besides starting.
func (m Making) Ns() float64 { return 1e9 * (m.PlanS + m.MakeS + m.ReadyS) }

// WithSetup is a run with [SetupMetric] among the metrics of the first trial that each
// condition has on an instance of its chain, where that came up in this run from nothing.
// So there is one value for each making, however many trials went through it. The direct
// path has none, for it is up before the chain is. What is given does not change.
func WithSetup(run Run) Run {
	took := setups(run)
	if len(took) == 0 {
		return run
	}
	run.Trials = slices.Clone(run.Trials)
	told := map[[2]int]bool{}
	for i := range run.Trials {
		t := &run.Trials[i]
		ns, made := took[t.Instance]
		if at := [2]int{t.Condition, t.Instance}; made && !told[at] && run.tellsSetup(*t) {
			told[at], t.Metrics = true, maps.Clone(t.Metrics)
			t.Metrics[SetupMetric] = ns
		}
	}
	return run
}

// setups are what the makings of the measured chain took, by instance, ns.
func setups(run Run) map[int]float64 {
	took := map[int]float64{}
	for _, t := range run.Trials {
		for _, m := range t.Made {
			if !m.Beside {
				took[t.Instance] = m.Ns()
			}
		}
	}
	return took
}

// tellsSetup tells the trials that measured something of a chain: neither a step of a search
// nor one that failed.
func (r Run) tellsSetup(t Trial) bool {
	known := t.Condition >= 0 && t.Condition < len(r.Conditions)
	return known && r.Conditions[t.Condition].Path != PathDirect && t.Step == 0 && len(t.Metrics) > 0
}

// Lacks tells whether a trial should have measured a metric and has no finite value. How long
// a chain took to come up is told by one trial on each instance of it.
func (r Run) Lacks(t Trial, metric string) bool {
	if t.has(metric) || metric != SetupMetric {
		return !t.has(metric)
	}
	return !slices.ContainsFunc(r.Trials, func(o Trial) bool {
		return o.Instance == t.Instance && o.Condition == t.Condition && o.has(metric)
	})
}

// has a finite value of a metric.
func (t Trial) has(metric string) bool {
	x, measured := t.Metrics[metric]
	return measured && !math.IsNaN(x) && !math.IsInf(x, 0)
}
