package experiment

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Metrics of what keeps a chain as it is, which claims and models may ask for. No tool measures them: they follow from what was
// observed.
const (
	// controlCPUs and controlMemory are of the supervisor and the engines together, as CPUs and as the most memory that they
	// had; the next two of the supervisor alone, and those after of the engines.
	controlCPUs, controlMemory       = "control_cpus", "control_memory_bytes"
	supervisorCPUs, supervisorMemory = "supervisor_cpus", "supervisor_memory_bytes"
	engineCPUs, engineMemory         = "engine_cpus", "engine_memory_bytes"
	// controlRest is the CPUs of the supervisor while the chain was up over those of nfchain while it made it; as those, a value
	// for each making.
	controlRest = "control_rest"
)

// withControl is the run with those metrics in every trial in which something that keeps the chain was seen.
func withControl(run trial.Run) trial.Run {
	run.Trials = slices.Clone(run.Trials)
	for i := range run.Trials {
		t := &run.Trials[i]
		if !slices.ContainsFunc(t.Observed.Processes, trial.ProcessUse.OfControl) || t.DurationS <= 0 || len(t.Metrics) == 0 {
			continue
		}
		t.Metrics = maps.Clone(t.Metrics)
		maps.Copy(t.Metrics, controlOf(*t))
	}
	return run
}

// controlOf a trial, by metric.
func controlOf(t trial.Trial) map[string]float64 {
	m := map[string]float64{controlCPUs: 0, controlMemory: 0, supervisorCPUs: 0, supervisorMemory: 0}
	add := func(cpus, memory string, p trial.ProcessUse) {
		m[cpus] += p.Took() / t.DurationS
		if p.MemoryPeak != nil {
			m[memory] += float64(*p.MemoryPeak)
		}
	}
	for _, p := range t.Observed.Processes {
		if p.OfControl() {
			add(controlCPUs, controlMemory, p)
		}
		switch {
		case p.OfSupervisor():
			add(supervisorCPUs, supervisorMemory, p)
		case p.OfControl():
			add(engineCPUs, engineMemory, p)
		}
	}
	if made := t.Metrics[trial.MakingCPUsMetric]; made > 0 {
		m[controlRest] = m[supervisorCPUs] / made
	}
	return m
}
