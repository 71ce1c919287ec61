package label

import (
	"fmt"
	"strings"
	"sync"

	bpf "nfchain.dev/nfchain/bpf/label"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Kind makes such programs.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	var found []resource.Observed
	err = p.Do(func() error {
		for index, device := range mine {
			all, err := held.FindLeaving(p, index, held.Labels)
			if err != nil {
				return err
			}
			if len(all) > 0 {
				found = append(found, resource.Observed{Key: device, Fingerprint: describe(all)})
			}
			held.CloseAll(all)
		}
		return nil
	})
	return found, err
}

// describe what is at an interface: more than one is what should not be.
func describe(all []*held.Program) string {
	var texts []string
	for _, a := range all {
		rules, err := read(a)
		if err != nil {
			texts = append(texts, err.Error())
			continue
		}
		texts = append(texts, fingerprint(a.Name, rules))
	}
	return strings.Join(texts, ", and ")
}

// object that this version's program is loaded from.
var object = held.Once(bpf.LoadProgram)

// rulesAt is where the rules are among them.
var rulesAt = sync.OnceValues(func() (uint64, error) {
	spec, err := object()
	if err != nil {
		return 0, err
	}
	return spec.Variables["rules"].Offset(), nil
})

// read the rules of a program of this version; another's are told as such.
func read(a *held.Program) (rules []rule, err error) {
	at, err := rulesAt()
	if err != nil || a.Name != name {
		return nil, err
	}
	var all [most]rule
	if err := a.Constant(at, &all); err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Label == 0 {
			break
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return p.Do(func() error {
		return resource.Make(changes,
			func(device string) error { return remove(p, device) },
			func(s Spec) error { return set(p, s) })
	})
}

// remove what is at an interface, unless that has gone.
func remove(p resource.Place, device string) error {
	return failed(p, device, held.Leaving.Clear(p, device, held.Labels))
}

func failed(p resource.Place, device string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("label what leaves by %s of namespace %q: %w", device, p.Ref, err)
}

// set the program at an interface: no packet leaves without a label that it had before and has after.
func set(p resource.Place, s Spec) error {
	program, err := Load(s)
	if err != nil {
		return failed(p, s.Device, err)
	}
	defer func() { _ = program.Close() }()
	return failed(p, s.Device, held.Leaving.Keep(p, s.Device, held.Labels, program))
}
