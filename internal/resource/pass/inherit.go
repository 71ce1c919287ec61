package pass

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource/held"
)

// inherit what other passes know of the connections of these firewalls, where these have tables of
// their own: those of another size, or of firewalls that were in a pass each and now are in one.
// A connection that begins meanwhile is met later as one that began before it was seen.
func (f *furnishing) inherit(into *ebpf.Map) error {
	seen, whose := map[ebpf.MapID]bool{}, map[uint32]bool{}
	own, err := held.NumberOf(into)
	if err != nil {
		return err
	}
	seen[own] = true
	for _, s := range f.steps {
		if s.Act == Rules {
			whose[s.whose()] = true
		}
	}
	for _, k := range f.others {
		id, err := held.NumberOf(k.maps[rulesFlowsMap])
		if err != nil {
			return err
		}
		if seen[id] || !k.follows(f.steps) {
			continue
		}
		seen[id] = true
		if err := copyConnections(k.maps[rulesFlowsMap], into, whose); err != nil {
			return err
		}
	}
	return nil
}

// copyConnections of some firewalls that are not in the other table yet.
func copyConnections(from, to *ebpf.Map, whose map[uint32]bool) error {
	return eachConnection(from, func(c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
		if !whose[c.Whose] {
			return nil
		}
		if err := to.Update(c, f, ebpf.UpdateNoExist); err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
			return fmt.Errorf("take a connection over: %w", err)
		}
		return nil
	})
}

// eachConnection of a table. Those that come or go meanwhile may be missed.
func eachConnection(table *ebpf.Map, do func(*passrules.ProgramRulesConnection, *passrules.ProgramRulesFlow) error) error {
	var cursor ebpf.MapBatchCursor
	keys, values := make([]passrules.ProgramRulesConnection, 4096), make([]passrules.ProgramRulesFlow, 4096)
	for {
		n, ended := table.BatchLookup(&cursor, keys, values, nil)
		if ended != nil && !errors.Is(ended, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("read the table of connections: %w", ended)
		}
		for i := range n {
			if err := do(&keys[i], &values[i]); err != nil {
				return err
			}
		}
		if ended != nil {
			return nil
		}
	}
}
