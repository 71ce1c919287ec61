package pass

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource/held"
)

// inherit what other passes know of the connections of these firewalls, where these have tables of
// their own: those of another size, or of firewalls that were in a pass each and now are in one.
// What begins meanwhile is handed over when the others are there no more.
//
// A connection that was known before stays known, with its state, and no rule is asked about it that would not be else. Two kinds of packets may
// have another state than they would have had, and rules say whether they are dropped for it; whoever sends such again is known by then:
//   - Those of a connection that began, or was answered, when this table had been filled already and the pass that is replaced was still there,
//     until that is handed over: that takes the kernel to say that no packet is in the replaced one, 8 ms, and reading its table once.
//   - Where two passes had a table in common, from when one is replaced until the other is and what both tables know is in one, for which
//     both are loaded by then: each sees the packets of its way alone. The answer to a connection that begins then is not known at the
//     other pass: TCP's SYN with ACK is invalid there, and most else is new. Where only the SYN was seen before, the connection is still to be
//     answered at the pass by which its opener sends: all but another SYN, and a reset, is invalid there.
//
// Then the table has what either saw ([united]): what one of them saw is not undone by what the other did not. A packet that comes to a connection
// in the microsecond between reading its entry and writing another in its place, which is done where its state differs, changes nothing.
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

// copyConnections of some firewalls that are not in the other table yet, or not as they are known here: the pass of another
// port may have that table since a while, and what came by there has not met it.
func copyConnections(from, to *ebpf.Map, whose map[uint32]bool) error {
	return eachConnection(from, func(c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
		if !whose[c.Whose] {
			return nil
		}
		err := to.Update(c, f, ebpf.UpdateNoExist)
		if errors.Is(err, ebpf.ErrKeyExist) {
			err = keepBoth(to, c, f)
		}
		if err != nil {
			return fmt.Errorf("take a connection over: %w", err)
		}
		return nil
	})
}

// keepBoth has a table know of a connection what it knows and what another does. What it knows is left alone where it would be the same: a
// packet that comes meanwhile is not forgotten then.
func keepBoth(table *ebpf.Map, c *passrules.ProgramRulesConnection, f *passrules.ProgramRulesFlow) error {
	var known passrules.ProgramRulesFlow
	if err := table.Lookup(c, &known); err != nil {
		return table.Put(c, f)
	}
	all := united(known, *f)
	if is := known; all.Last-is.Last < uint64(time.Second) {
		is.Last, is.Answers = all.Last, all.Answers // rules are asked once more
		if is == all {
			return nil
		}
	}
	return table.Put(c, &all)
}

// What is seen of TCP, as bpf/include/flows.h has it.
const (
	seenFinished = 3
	seenReset    = 4
	seenRefused  = 8
)

// united is what two tables know of one connection, of which each saw packets of one way for a while.
func united(one, other passrules.ProgramRulesFlow) passrules.ProgramRulesFlow {
	late, early := one, other
	if late.Last < early.Last {
		late, early = early, late
	}
	if late.Open == 0 || early.Open == 0 || late.Opener != early.Opener {
		return late // it began anew
	}
	for _, f := range [][2]*passrules.ProgramRulesFlow{{&late, &early}, {&early, &late}} {
		if fresh, over := f[0], f[1]; fresh.Replied == 0 && fresh.Seen&(seenFinished|seenReset) == 0 && (over.Seen&seenReset != 0 || over.Seen&seenFinished == seenFinished) {
			if over.Last > fresh.Last { // by an answer
				fresh.Last, fresh.Replied = over.Last, 1
			}
			return *fresh // its opener began it anew
		}
	}
	if late.Replied == 0 && early.Seen&seenRefused != 0 { // it may have begun anew since, and what refused it was no answer to that
		early.Seen, early.Replied = early.Seen&^seenRefused, 0
	}
	late.Replied |= early.Replied
	late.Seen |= early.Seen
	for i, answer := range early.Answers {
		if late.Answers[i] == 0 {
			late.Answers[i] = answer
		}
	}
	return late
}

// catchUp with what is known of connections by the pass in whose place another comes, which began since this was loaded: others were
// then. It is done once for two tables, before any pass has the new one: from then on handOver does it, and who comes next need not wait longer.
func (n *neighbours) catchUp(l *Loaded, old attached) error {
	from, has := old.knows()
	to, _ := l.knows()
	if !has || !asksRules(from.steps) || !to.follows(from.steps) {
		return nil
	}
	one, err := held.NumberOf(from.maps[rulesFlowsMap])
	if err != nil {
		return err
	}
	other, err := held.NumberOf(to.maps[rulesFlowsMap])
	tables := [2]ebpf.MapID{one, other}
	if err != nil || one == other || n.caught[tables] {
		return err
	}
	if n.caught == nil {
		n.caught = map[[2]ebpf.MapID]bool{}
	}
	n.caught[tables] = true
	return to.catchUp(from)
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
		if err := keepBoth(table, c, f); err != nil {
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
