package steer

import (
	"fmt"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Parted is what ports did where ways part or come together, since they are there.
type Parted struct {
	// Aside is what went from a port other ways than the planned one, by port and by the number of
	// the node that the way leads to.
	Aside map[string]map[uint32]Counts
	// Ended is what ended at a port before nodes that failed, by the same.
	Ended map[string]map[uint32]Counts
	// Past is what was led past nodes that failed, by port and by the number of the node: of all that went to it, or was
	// led there past others.
	Past map[string]map[uint32]Counts
	// Strange are the packets that went the planned way because their label or their flow was not
	// known, by port.
	Strange map[string]uint64
	// Known are the flows that came to a node from another, by the numbers of both.
	Known map[uint32]map[uint32]int
	// New flows, those that came another way than before, and packets of flows for which there was
	// no room.
	New, Moved, Unkept uint64
}

// PartedAt reads the ports of these specs; nil where ways part at none of them. Where a port has
// another version's program, it tells nothing.
func PartedAt(p resource.Place, specs []Spec) (all *Parted, err error) {
	err = p.Do(func() error {
		for _, s := range specs {
			dev, err := p.Device(s.Device)
			if s.Branch == nil || err != nil {
				continue // the port is not there yet, or no longer
			}
			if all == nil {
				all = &Parted{Aside: map[string]map[uint32]Counts{}, Ended: map[string]map[uint32]Counts{}, Past: map[string]map[uint32]Counts{}, Strange: map[string]uint64{}}
			}
			if err := all.add(p, dev.Attrs().Index, s); err != nil {
				return fmt.Errorf("read the ways of port %s in namespace %q: %w", s.Device, p.Ref, err)
			}
		}
		return nil
	})
	return all, err
}

func (all *Parted) add(p resource.Place, index int, s Spec) error {
	programs, err := find(p, index)
	defer held.CloseAll(programs)
	if err != nil {
		return err
	}
	for _, a := range programs {
		if !a.joins(s.Branch.Flows) {
			continue
		}
		if all.Known == nil { // all ports have one table
			if all.Known, err = known(a.Maps[jointsMap]); err != nil {
				return err
			}
		}
		if all.Past[s.Device], _, err = counts(a.Maps[pastMap]); err != nil {
			return err
		}
		if all.Aside[s.Device], all.Ended[s.Device], err = counts(a.Maps[asideMap]); err != nil {
			return err
		}
		var each []branch.ProgramNoted
		if err := a.Maps[notesMap].Lookup(uint32(0), &each); err != nil {
			return err
		}
		for _, cpu := range each {
			all.New += cpu.Fresh
			all.Moved += cpu.Moved
			all.Unkept += cpu.Unkept
			all.Strange[s.Device] += cpu.Strange
		}
	}
	return nil
}

// counts by nodes, of all cores, and those of what ended before a node.
func counts(m *ebpf.Map) (went, ended map[uint32]Counts, err error) {
	went, ended = map[uint32]Counts{}, map[uint32]Counts{}
	var node uint32
	var each []branch.ProgramCount
	all := m.Iterate()
	for all.Next(&node, &each) {
		var c Counts
		for _, cpu := range each {
			c.Packets += cpu.Packets
			c.Bytes += cpu.Bytes
		}
		switch {
		case node&beforeNode == 0:
			went[node] = c
		case c.Packets > 0:
			ended[node&^beforeNode] = c
		}
	}
	return went, ended, all.Err()
}

// known flows of a table, by the numbers of the node that they came to and of the one that they
// came from. What is there for fragments is no flow of its own.
func known(m *ebpf.Map) (map[uint32]map[uint32]int, error) {
	flows := map[uint32]map[uint32]int{}
	err := eachOf(m, func(f branch.ProgramFlow, from uint32) {
		if flows[f.Slot] == nil {
			flows[f.Slot] = map[uint32]int{}
		}
		flows[f.Slot][from]++
	})
	return flows, err
}
