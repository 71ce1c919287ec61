package label

import (
	"fmt"

	"github.com/cilium/ebpf"

	api "nfchain.dev/nfchain/api/v1alpha1"
	bpf "nfchain.dev/nfchain/bpf/label"
)

// most rules that a program has, as bpf/label/label.c has it.
const most = api.MostBranches

// Load makes the program of a spec's rules. It decides nothing about packets: what is behind it
// at the interface goes on with them.
func Load(s Spec) (*ebpf.Program, error) {
	spec, err := object()
	if err != nil {
		return nil, err
	}
	if len(s.Rules) > most {
		return nil, fmt.Errorf("%d rules label packets: at most %d do", len(s.Rules), most)
	}
	var all [most]rule
	for i, r := range s.Rules {
		if r.Label == 0 || r.Label > Most {
			return nil, fmt.Errorf("%d is no label: 1 to %d are", r.Label, Most)
		}
		all[i] = r.loaded()
	}
	if err := spec.Variables["rules"].Set(all); err != nil {
		return nil, err
	}
	spec.Programs["label"].Name = name
	var objects bpf.ProgramPrograms
	if err := spec.LoadAndAssign(&objects, nil); err != nil {
		return nil, fmt.Errorf("load the program that labels packets: %w", err)
	}
	return objects.Label, nil
}
