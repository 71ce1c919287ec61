package run

import (
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/function/mirror"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
)

// TapState is what a mirror's tap takes of the cores.
type TapState struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Function whose copies come there.
	Function string `json:"function"`
	// CopyingS is the time that cores spent on making the copies, on both ways, as it is told by those
	// that were timed; absent where the function has a namespace, in which the kernel tells of none.
	CopyingS *float64 `json:"copying_s,omitempty"`
	// Programs that live in the tap.
	Programs []TapProgram `json:"programs"`
}

// TapProgram is what one of them took of the cores since it began, AgeS ago.
type TapProgram struct {
	PID     int     `json:"pid"`
	Command string  `json:"command"`
	CPUS    float64 `json:"cpu_s"`
	AgeS    float64 `json:"age_s"`
}

// tapsOf a chain, by name.
func tapsOf(p *plan.Plan, inline []InlineState) (all []TapState, err error) {
	places := taps(p)
	maps.DeleteFunc(places, func(name, ns string) bool { return !strings.HasSuffix(name, mirror.Tap("")) || !netns.Exists(ns) })
	found, err := netns.Processes(slices.Collect(maps.Values(places)))
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		t := TapState{Name: name, Namespace: places[name], Function: strings.TrimSuffix(name, mirror.Tap("")), Programs: []TapProgram{}}
		for _, f := range inline {
			if f.Name == t.Function {
				t.CopyingS = f.copying()
			}
		}
		for _, one := range observe.Processes(procfs.Root(""), found[t.Namespace]) {
			t.Programs = append(t.Programs, TapProgram{PID: one.PID, Command: one.Command, CPUS: one.CPU.Seconds(), AgeS: one.Age.Seconds()})
		}
		all = append(all, t)
	}
	return all, nil
}

// copying is the time that cores spent on a mirror's copies, both ways together.
func (s InlineState) copying() *float64 {
	sum := 0.0
	for _, way := range []*StepState{s.Forward, s.Reverse} {
		if way != nil {
			sum += way.CopyingS
		}
	}
	return &sum
}
