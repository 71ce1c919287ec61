package experiment

import (
	"math"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestControl is of the supervisor and the engines, and of no function that a user calls so.
func TestControl(t *testing.T) {
	mib := func(n uint64) *uint64 { n <<= 20; return &n }
	observed := trial.Observation{Processes: []trial.ProcessUse{
		{Node: trial.SupervisorNode, UserS: 0.5, SystemS: 0.5, MemoryPeak: mib(20)}, {Node: trial.EngineNode("docker"), SystemS: 2, MemoryPeak: mib(80)},
		{Node: trial.EngineNode("gone")}, {Node: "supervisor", UserS: 9, MemoryPeak: mib(9)}, {Node: "_wiring", UserS: 9},
	}}
	exact := 0.125
	alone := trial.Observation{Processes: []trial.ProcessUse{{Node: trial.SupervisorNode, UserS: 0.12, CPUS: &exact}}}
	made := []trial.Making{{Chain: "edge", PlanS: 1, MakeS: 1, CPUS: 1}}
	metrics := trial.Map[float64]{"goodput_bps": 1}
	given := trial.Run{Conditions: []trial.Condition{{Path: trial.PathChain}}, Trials: []trial.Trial{
		{DurationS: 10, Instance: 1, Repeat: 1, Observed: observed, Metrics: metrics, Made: made}, {DurationS: 10, Instance: 1, Repeat: 2, Observed: observed, Metrics: metrics},
		{DurationS: 10, Metrics: metrics}, {DurationS: 10, Observed: observed}, {DurationS: 10, Instance: 2, Observed: alone, Metrics: metrics},
	}}
	run := withControl(trial.WithSetup(given))
	for i, want := range []map[string]float64{
		{controlCPUs: 0.3, controlMemory: 100 << 20, supervisorCPUs: 0.1, supervisorMemory: 20 << 20, engineCPUs: 0.2, engineMemory: 80 << 20, trial.MakingCPUsMetric: 0.5, controlRest: 0.2},
		{controlCPUs: 0.3, controlMemory: 100 << 20, supervisorCPUs: 0.1, supervisorMemory: 20 << 20, engineCPUs: 0.2, engineMemory: 80 << 20}, {}, {},
		{controlCPUs: 0.0125, supervisorCPUs: 0.0125, controlMemory: 0, supervisorMemory: 0},
	} {
		for _, name := range []string{controlCPUs, controlMemory, supervisorCPUs, supervisorMemory, engineCPUs, engineMemory, trial.MakingCPUsMetric, controlRest} {
			got, has := run.Trials[i].Metrics[name]
			if x, wanted := want[name]; has != wanted || math.Abs(got-x) > 1e-9 {
				t.Errorf("trial %d: %s is %v, want %v", i, name, got, want[name])
			}
		}
	}
	if len(metrics) != 1 || len(given.Trials[0].Metrics) != 1 {
		t.Error("what was given has changed")
	}
}
