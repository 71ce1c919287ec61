package pass

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource/held"
)

// inherit what other passes know of the connections of these firewalls, where these have tables of
// their own: those of another size, or of firewalls that were in a pass each and now are in one.
// What begins meanwhile is handed over when the others are there no more.
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
		from := k.maps[rulesFlowsMap]
		if !k.follows(f.steps) || from.KeySize() != into.KeySize() || from.ValueSize() != into.ValueSize() {
			continue
		}
		id, err := held.NumberOf(from)
		if err != nil {
			return err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := copyConnections(from, into, whose); err != nil {
			return err
		}
	}
	return nil
}

// copyConnections of some firewalls that are not in the other table yet, or not as they were seen last: the pass of another
// port may have that table since a while, and what came by there has not met it.
func copyConnections(from, to *ebpf.Map, whose map[uint32]bool) error {
	return eachConnection(from, func(c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
		if !whose[c.Whose] {
			return nil
		}
		err := to.Update(c, f, ebpf.UpdateNoExist)
		if errors.Is(err, ebpf.ErrKeyExist) {
			err = keepLatest(to, c, f)
		}
		if err != nil {
			return fmt.Errorf("take a connection over: %w", err)
		}
		return nil
	})
}

// keepLatest of what a table and another know of a connection.
func keepLatest(table *ebpf.Map, c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
	var known passrules.ProgramRulesFlow
	if err := table.Lookup(c, &known); err == nil && known.Last >= f.Last {
		return nil
	}
	return table.Put(c, f)
}

// handOver what firewalls of a pass that is there no more came to know of connections since others took these over, into
// tables of their own: those that are there, and those that come.
func (n *neighbours) handOver(old attached, come ...*Loaded) error {
	from, has := old.knows()
	if !has || !asksRules(from.steps) {
		return nil
	}
	all, err := n.all()
	if err != nil {
		return err
	}
	for _, l := range come {
		k, _ := l.knows()
		all = append([]knowing{k}, all...)
	}
	id, err := held.NumberOf(from.maps[rulesFlowsMap])
	if err != nil {
		return err
	}
	done := map[ebpf.MapID]bool{id: true}
	for _, to := range all {
		if !to.follows(from.steps) {
			continue
		}
		if id, err = held.NumberOf(to.maps[rulesFlowsMap]); err != nil {
			return err
		}
		if done[id] {
			continue
		}
		if len(done) == 1 {
			held.ReadersEnded() // the other runs on no core any more
		}
		done[id] = true
		if err := to.catchUp(from); err != nil {
			return err
		}
	}
	return nil
}

// catchUp with what another pass came to know of connections since this one is loaded, which took over what that knew then.
func (k knowing) catchUp(with knowing) error {
	since, err := k.loaded()
	if err != nil {
		return err
	}
	whose := map[uint32]bool{}
	for _, s := range k.steps {
		if s.Act == Rules {
			whose[s.whose()] = true
		}
	}
	table := k.maps[rulesFlowsMap]
	return eachConnection(with.maps[rulesFlowsMap], func(c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
		if !whose[c.Whose] || f.Last < since {
			return nil
		}
		if err := keepLatest(table, c, f); err != nil {
			return fmt.Errorf("take a connection over that began meanwhile: %w", err)
		}
		return nil
	})
}

// loaded tells when the program of a pass was, by the clock that it reads.
func (k knowing) loaded() (uint64, error) {
	info, err := k.program.Info()
	if err != nil {
		return 0, fmt.Errorf("ask for a program: %w", err)
	}
	since, _ := info.LoadTime()
	var now, boot unix.Timespec // in this order: what goes by in between makes it earlier, so that nothing is missed
	if err := errors.Join(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now), unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot)); err != nil {
		return 0, err
	}
	slept := boot.Nano() - now.Nano() // the kernel tells of programs by a clock that goes on while the machine sleeps
	return uint64(max(0, since.Nanoseconds()-slept)), nil
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
