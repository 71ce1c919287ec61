package trial

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// SetupMetric is how long a chain took to come up: see [Making.Ns]. No tool measures it, nor the others of [Making.metrics]: they
// follow from what was stored of the making.
const SetupMetric = "setup_ns"

// The other metrics of a making.
const (
	// ReachableMetric is how long it took until packets had gone to the far end and back: the whole, and the proof of path.
	ReachableMetric = "reachable_ns"
	// StartMeanMetric, StartMinMetric and StartMaxMetric are of how long each of a chain's programs took until it was ready, from
	// when the chain began to come up.
	StartMeanMetric = "start_mean_ns"
	StartMinMetric  = "start_min_ns"
	StartMaxMetric  = "start_max_ns"
	// StartAloneMetric is the mean of what containers took by themselves: see [Start.Alone].
	StartAloneMetric = "start_alone_ns"
	// StartFactorMetric is how many times as long they took with the chain.
	StartFactorMetric = "start_factor"
	// MakingCPUsMetric are the CPUs that nfchain itself had meanwhile.
	MakingCPUsMetric = "making_cpus"
	// MakingMemoryMetric is the most memory that it had meanwhile, resident.
	MakingMemoryMetric = "making_memory_bytes"
)

// ofMakings are the metrics of makings.
var ofMakings = []string{SetupMetric, ReachableMetric, StartMeanMetric, StartMinMetric, StartMaxMetric, StartAloneMetric, StartFactorMetric, MakingCPUsMetric, MakingMemoryMetric}

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
	// CPUS is the CPU time of nfchain itself until its programs were ready.
	CPUS float64 `json:"cpu_s,omitempty"`
	// MemoryBytes is the most that it had resident meanwhile; absent where the kernel does not tell.
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	// Starts are those of its programs, by name of the node.
	Starts []Start `json:"starts,omitempty"`
}

// Start of one node's program, in seconds from when its chain began to come up.
type Start struct {
	Node string `json:"node"`
	// AskedS is when the first of the chain's containers was asked of its engine, and EngineS how long after that the engine had
	// this one running, which waits for its network then; absent where there is no container.
	AskedS  float64 `json:"asked_s,omitempty"`
	EngineS float64 `json:"engine_s,omitempty"`
	// AloneS is how long it was until the engine had one like this running, of as many that it started by themselves before the chain was
	// made; absent where it was not asked to.
	AloneS float64 `json:"alone_s,omitempty"`
	// BeganS is when the program began, its network being there, and ReadyS when it was ready.
	BeganS float64 `json:"began_s"`
	ReadyS float64 `json:"ready_s"`
}

// Alone is what a container takes without a chain, s: its engine until it runs, by itself where that was measured, and its program from
// when it begins until it is ready. What is between these is the chain's.
func (s Start) Alone() float64 { return cmp.Or(s.AloneS, s.EngineS) + s.ReadyS - s.BeganS }

// Ns is the whole without the proof of path: what `nfchain up --wait` takes besides starting.
func (m Making) Ns() float64 { return 1e9 * (m.PlanS + m.MakeS + m.ReadyS) }

// metrics that follow from a making.
func (m Making) metrics() map[string]float64 {
	of := map[string]float64{SetupMetric: m.Ns()}
	if m.ProofS > 0 {
		of[ReachableMetric] = m.Ns() + 1e9*m.ProofS
	}
	if ns := m.Ns(); m.CPUS > 0 && ns > 0 {
		of[MakingCPUsMetric] = 1e9 * m.CPUS / ns
	}
	if m.MemoryBytes > 0 {
		of[MakingMemoryMetric] = float64(m.MemoryBytes)
	}
	if len(m.Starts) == 0 {
		return of
	}
	var ready, alone []float64
	for _, s := range m.Starts {
		ready = append(ready, 1e9*s.ReadyS)
		if s.EngineS > 0 {
			alone = append(alone, 1e9*s.Alone())
		}
	}
	of[StartMeanMetric], of[StartMinMetric], of[StartMaxMetric] = mean(ready), slices.Min(ready), slices.Max(ready)
	if len(alone) == len(ready) {
		of[StartAloneMetric] = mean(alone)
		of[StartFactorMetric] = mean(ready) / mean(alone)
	}
	return of
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// WithSetup is a run with the metrics of makings, [SetupMetric] and those beside it, among the metrics of the first trial that each
// condition has on an instance of its chain, where that came up in this run from nothing.
// So there is one value for each making, however many trials went through it. The direct
// path has none, for it is up before the chain is. What is given does not change.
func WithSetup(run Run) Run {
	made := makings(run)
	if len(made) == 0 {
		return run
	}
	run.Trials = slices.Clone(run.Trials)
	told := map[[2]int]bool{}
	for i := range run.Trials {
		t := &run.Trials[i]
		m, is := made[t.Instance]
		if at := [2]int{t.Condition, t.Instance}; is && !told[at] && run.tellsSetup(*t) {
			told[at], t.Metrics = true, maps.Clone(t.Metrics)
			maps.Copy(t.Metrics, m.metrics())
		}
	}
	return run
}

// makings of the measured chain, by instance.
func makings(run Run) map[int]Making {
	made := map[int]Making{}
	for _, t := range run.Trials {
		for _, m := range t.Made {
			if !m.Beside {
				made[t.Instance] = m
			}
		}
	}
	return made
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
	if t.has(metric) || !slices.Contains(ofMakings, metric) {
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
