package plan

import (
	"errors"
	"fmt"
	"io"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/words"
)

// machine contributes what the chain changes of the whole machine.
func (b *builder) machine() error {
	t := b.chain.Spec.Tuning.MachineTuning
	var all settings
	all.number(machine.RmemMax, uint64(t.RmemMax))
	all.number(machine.WmemMax, uint64(t.WmemMax))
	all.number(machine.Backlog, uint64(t.NetdevMaxBacklog))
	all.number(machine.Hugepages, uint64(t.Hugepages))
	all.text(machine.Governor, t.Governor)
	if t.RCUExpedited != nil {
		all.text(machine.Expedited, map[bool]string{true: "1", false: "0"}[*t.RCUExpedited])
	}
	for _, s := range all {
		b.ofMachine(machine.Spec{Setting: s.Knob, Value: s.Value})
	}
	if t.Interrupts == "" {
		return nil
	}
	cpus, err := api.ParseCPUList(t.Interrupts)
	if err != nil {
		return fmt.Errorf("tuning.interrupts: %w", err)
	}
	cards := 0
	for _, n := range b.nodes {
		if n.endpoint.Interface != "" {
			cards++
			b.ofMachine(machine.Spec{Setting: machine.Interrupts, Device: n.endpoint.Interface, Value: words.Ranges(cpus)})
		}
	}
	if cards == 0 {
		return errors.New("tuning.interrupts: no endpoint takes an interface of the host in, so there is no network card whose interrupts it could be; leave it out")
	}
	return nil
}

func (b *builder) ofMachine(s machine.Spec) {
	s.Owner = b.chain.Metadata.Name
	b.requires["privilege.root"] = true
	b.add(resource.New("", s))
}

// listMachine lists what is changed of the whole machine.
func (p *Plan) listMachine(w io.Writer) {
	heading := "\nthe whole machine, until the chain is down:\n"
	for _, r := range p.Resources {
		if r.Kind == machine.KindName {
			_, _ = fmt.Fprintf(w, "%s  %-10s %s  [%s]\n", heading, r.Kind, r.Spec.Key(), r.Spec.Fingerprint())
			heading = ""
		}
	}
}
