package deploy_test

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/opens"
	"nfchain.dev/nfchain/internal/resource/held"
)

// opened are the flows that a program knows which notes those that replicas open, and whose they are; none of other programs.
type opened map[bpf.ProgramFlow]uint32

// opened is what a program knows now.
func (c *configured) opened() (opened, error) {
	if c.mark != held.OpensMark {
		return nil, nil
	}
	var m *ebpf.Map // which bears its function's name
	for _, m = range c.Maps {
		if m.Type() == ebpf.LRUHash {
			break
		}
	}
	flows, each := make([]bpf.ProgramFlow, m.MaxEntries()), make([]bpf.ProgramStay, m.MaxEntries())
	n, err := m.BatchLookup(new(ebpf.MapBatchCursor), flows, each, nil)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) { // that was all
		return nil, fmt.Errorf("flows: %w", err)
	}
	all := opened{}
	for i := range n {
		all[flows[i]] = each[i].Replica
	}
	return all, nil
}

// notes tells whether a program that notes flows did as it may since it knew some: the one flow of a well-formed packet, if that is new or was another
// replica's, is its own replica's.
func (c *configured) notes(before opened, well bool) error {
	after, err := c.opened()
	if c.mark != held.OpensMark || err != nil {
		return err
	}
	at, err := replicaAt()
	if err != nil {
		return err
	}
	if err := c.Constant(at, &c.replica); err != nil {
		return err
	}
	changed := 0
	for f, of := range after {
		if was, knew := before[f]; knew && was == of {
			continue
		}
		if changed++; of != c.replica || !well || changed > 1 {
			return fmt.Errorf("flow %+v is replica %d's, of %d that changed", f, of, changed)
		}
	}
	c.noted += changed
	return nil
}

// replicaAt is where such a program has the number of its replica among its constants.
var replicaAt = sync.OnceValues(func() (uint64, error) {
	spec, err := bpf.LoadProgram()
	if err != nil {
		return 0, err
	}
	return spec.Variables["replica"].Offset(), nil
})
