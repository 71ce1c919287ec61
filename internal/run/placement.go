package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
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
func programsPlaced(ctx context.Context, p *plan.Plan) error {
	for _, r := range p.Resources {
		var err error
		switch s := r.Spec.(type) {
		case process.Spec:
			err = programPlaced(p.Chain, s)
		case container.Spec:
			err = containerPlaced(ctx, p.Chain, s)
		}
		if err != nil {
			return fmt.Errorf("function %w", err)
		}
	}
	return nil
}

func programPlaced(chain string, s process.Spec) error {
	if s.CPUs == "" {
		return nil // memory is placed with CPUs
	}
	found, err := process.FindIn(chain, s.Netns)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Node != s.Node || f.Asks {
			continue
		}
		if err := placed(f.PID, s.Node, s.CPUs, s.MemoryNodes); err != nil {
			return err
		}
	}
	return nil
}

func containerPlaced(ctx context.Context, chain string, s container.Spec) error {
	if s.CPUs == "" {
		return nil
	}
	pids, err := s.Processes(ctx, chain)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := placed(pid, s.Node, s.CPUs, s.MemoryNodes); err != nil {
			return err
		}
	}
	return nil
}

// placed tells whether a process of a node is where it was given to be.
func placed(pid int, node, cpus string, memory []int) error {
	given, err := api.ParseCPUList(cpus)
	if err != nil {
		return fmt.Errorf("%s: %w", node, err)
	}
	if err := (netns.Seat{Memory: memory}).Check(pid); err != nil {
		return fmt.Errorf("%s: %w", node, err)
	}
	if thread, where := astray(pid, given); where != "" {
		return fmt.Errorf("%s: thread %s of its program may run on CPUs %s, and was given %s: the program binds itself; tell it which CPUs it has", node, thread, where, cpus)
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
