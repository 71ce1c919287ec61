package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Placed is a load on the CPUs that a chain's placement gives it: a list is an affinity
// like any other, and which CPUs are its own is known once the chain is planned.
func Placed(chain api.Chain, load api.Load) (api.Load, error) {
	p := chain.Spec.Placement
	given := load.Affinity != "" && load.Affinity != api.AffinityNone
	alone := p.Functions.Exclusive || p.Softirqs.Exclusive
	switch {
	case given && (!p.Load.Any() || alone):
		return load, fmt.Errorf("affinity: the chain has a placement, which says the CPUs of the load too; write placement: {load: {shared: ...}} in place of affinity %s: %w", load.Affinity, ErrInput)
	case p.Load.Exclusive:
		load.Affinity = plan.AffinityExclusive
	case !p.Load.Any():
		load.Affinity = p.Load.Shared
	}
	return load, nil
}

// programsPlaced reads back where every thread of the chain's programs may run. A program
// can bind itself to other CPUs than it was given; then it is not where the plan says.
func programsPlaced(p *plan.Plan) error {
	for _, r := range p.Resources {
		s, is := r.Spec.(process.Spec)
		if !is || s.CPUs == "" {
			continue // memory is placed with CPUs
		}
		given, err := api.ParseCPUList(s.CPUs)
		if err != nil {
			return err
		}
		found, err := process.FindIn(p.Chain, s.Netns)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.Node != s.Node {
				continue
			}
			if err := (netns.Seat{Memory: s.MemoryNodes}).Check(f.PID); err != nil {
				return fmt.Errorf("function %s: %w", s.Node, err)
			}
			if thread, where := astray(f.PID, given); where != "" {
				return fmt.Errorf("function %s: thread %s of its program may run on CPUs %s, and was given %s: the program binds itself; tell it which CPUs it has", s.Node, thread, where, s.CPUs)
			}
		}
	}
	return nil
}

// astray is a thread that may run on a CPU beyond those given, and on which it may.
func astray(pid int, given []int) (thread, where string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		list := procfs.Field(string(text), "Cpus_allowed_list")
		have, err := api.ParseCPUList(list)
		if err == nil && slices.ContainsFunc(have, func(cpu int) bool { return !slices.Contains(given, cpu) }) {
			return filepath.Base(filepath.Dir(name)), list
		}
	}
	return "", ""
}
