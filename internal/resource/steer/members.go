package steer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Classified is what a chain's ports know of flows and their paths.
type Classified struct {
	// Flows that are known, by the rule that gave them their path, and by their path's number. The
	// rule is its place from 0, that of all rules where none matched, or [Earlier].
	ByRule, ByPath map[int]FlowCount
	// Counted packets, both ways, by the same places; since the rules are these.
	Counted map[int]Counts
	// New flows, and those that moved because their path had gone. Packets of flows for which there was
	// no room, and those that no path led on between functions, and went the usual way.
	New, Moved, Unkept, Unknown uint64
	// Most flows that are known at once.
	Most uint32
}

// Earlier is the place of flows that rules before these gave their path, or no rule.
const Earlier = -1

// FlowCount is how many flows are known, and of these had a packet of late.
type FlowCount struct{ Known, Busy int }

// ClassifiedBy reads what the ports of these specs know; nil where none of them chooses paths.
func ClassifiedBy(p resource.Place, specs []Spec) (*Classified, error) {
	c := &Classified{ByRule: map[int]FlowCount{}, ByPath: map[int]FlowCount{}, Counted: map[int]Counts{}}
	err := p.Do(func() error {
		for _, s := range specs {
			dev, err := p.Device(s.Device)
			if s.Paths == nil || err != nil {
				continue // the port is not there yet, or no longer
			}
			if err := addClassified(p, dev.Attrs().Index, *s.Paths, c); err != nil {
				return fmt.Errorf("read the flows of port %s in namespace %q: %w", s.Device, p.Ref, err)
			}
		}
		return nil
	})
	if c.Most == 0 {
		return nil, err
	}
	return c, err
}

func addClassified(p resource.Place, index int, s Paths, c *Classified) error {
	programs, err := findAll(p, index)
	defer held.CloseAll(programs)
	if err != nil {
		return err
	}
	for _, a := range programs {
		if !a.isByPaths() || !a.keepsMembers(s.Flows) || a.Maps[becameMap] == nil {
			continue
		}
		if c.Most == 0 && a.enters(s.Flows) { // all ports have one table, and those where flows begin the same rules
			c.Most = s.Flows
			if err := c.read(a, s); err != nil {
				return err
			}
		}
		if err := c.add(a.Maps[becameMap]); err != nil {
			return err
		}
	}
	return nil
}

// add what became of packets at one port.
func (c *Classified) add(m *ebpf.Map) error {
	var each []classify.ProgramBecame
	if err := m.Lookup(uint32(0), &each); err != nil {
		return err
	}
	for _, core := range each {
		c.New += core.Fresh
		c.Moved += core.Moved
		c.Unkept += core.Unkept
		c.Unknown += core.Unknown
	}
	return nil
}

// read the flows and the counters of the rules of a port where flows begin. Where others count there by now, these have
// counted nothing.
func (c *Classified) read(a *attached, s Paths) error {
	var h choiceHeader
	theirs := false
	err := a.steadily(func(_ int, begin choiceHeader) error {
		h, theirs = begin, s.chosenBy(begin)
		clear(c.Counted)
		if !theirs {
			return nil
		}
		return c.count(a.Maps[talliesMap], h)
	})
	if err != nil {
		return err
	}
	return eachMember(a.Maps[membersMap], func(_ classify.ProgramFlow, m classify.ProgramMember, since time.Duration) {
		rule, one := Earlier, FlowCount{Known: 1}
		if theirs && m.Generation == h.Generation {
			rule = int(m.Rule) - 1
		}
		if since < time.Duration(s.Idle) {
			one.Busy = 1
		}
		c.ByRule[rule] = c.ByRule[rule].plus(one)
		c.ByPath[int(m.Path)] = c.ByPath[int(m.Path)].plus(one)
	})
}

// chosenBy these rules paths are.
func (p *Paths) chosenBy(h choiceHeader) bool {
	return p.Choice != nil && h.Digest == p.Choice.digest(p.numbers())
}

// count what rules counted, by their places.
func (c *Classified) count(tallies *ebpf.Map, h choiceHeader) error {
	for i := range h.Rules + 2 {
		var each []classify.ProgramTally
		if err := tallies.Lookup(h.First+i, &each); err != nil {
			return err
		}
		var sum Counts
		for _, core := range each {
			sum.Packets += core.Packets
			sum.Bytes += core.Bytes
		}
		c.Counted[int(i)-1] = sum
	}
	return nil
}

func (f FlowCount) plus(g FlowCount) FlowCount { return FlowCount{f.Known + g.Known, f.Busy + g.Busy} }

// eachMember of a table of flows, and how long it had no packet.
func eachMember(m *ebpf.Map, do func(classify.ProgramFlow, classify.ProgramMember, time.Duration)) error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	return eachOf(m, func(f classify.ProgramFlow, member classify.ProgramMember) {
		do(f, member, time.Duration(now-int64(member.Seen)))
	})
}

// ErrOlder is that of a flow which is on a path that no new one is given any more.
var ErrOlder = errors.New("the flow stays on a path that the chain no longer has, until it has been idle; `nfchain up FILE --move` moves it, and `nfchain show` tells what it goes by")

// KnownPath is where a flow goes from a port that knows its path, and the rule that gave it the path, or
// [Earlier]; false where the port does not know it.
func KnownPath(p resource.Place, s Spec, f First) (path string, rule int, known bool, err error) {
	err = p.Do(func() error {
		dev, err := p.Device(s.Device)
		if err != nil {
			return nil // it is not there
		}
		all, err := findAll(p, dev.Attrs().Index)
		defer held.CloseAll(all)
		for _, a := range all {
			if err != nil || !a.enters(s.Paths.Flows) {
				continue
			}
			var m classify.ProgramMember
			if path, m, known, err = a.knowsPath(s.Paths, f); known && err == nil {
				rule, err = a.ruleOf(m, s.Paths.chosenBy)
			}
		}
		return err
	})
	return path, rule, known, err
}

// knowsPath of a flow, and what else is known of it.
func (a *attached) knowsPath(s *Paths, f First) (path string, m classify.ProgramMember, known bool, err error) {
	if err := a.Maps[membersMap].Lookup(f.key(), &m); err != nil {
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			err = nil
		}
		return "", m, false, err
	}
	for _, w := range s.Ways {
		if w.Number == int(m.Path) && checkOf(w.Path) == m.Check {
			return w.Path, m, true, nil
		}
	}
	ways, err := a.allWays()
	if w := ways[m.Path%(MostPaths+1)]; err == nil && w.Older != 0 && w.Check == m.Check {
		return "", m, false, ErrOlder
	}
	return "", m, false, nil
}

// ruleOf a flow that is known, by its place, or [Earlier] where rules gave it its path that are not those which are asked about.
func (a *attached) ruleOf(m classify.ProgramMember, asked func(choiceHeader) bool) (int, error) {
	_, h, err := a.counting()
	if err != nil || m.Generation != h.Generation || !asked(h) {
		return Earlier, err
	}
	return int(m.Rule) - 1, nil
}

// key of a flow in the table, which is the same both ways: see bpf/include/conversation.h.
func (f First) key() (k classify.ProgramFlow) {
	k.Version, k.Protocol = 4, f.Protocol
	if f.Source.Is6() {
		k.Version = 6
	}
	network := func(port uint16) uint16 { return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, port)) }
	k.Ports = [2]uint16{network(f.SourcePort), network(f.DestinationPort)}
	for i, b := 0, f.Source.AsSlice(); 4*i < len(b); i++ {
		k.Source[i] = binary.NativeEndian.Uint32(b[4*i:])
	}
	for i, b := 0, f.Destination.AsSlice(); 4*i < len(b); i++ {
		k.Destination[i] = binary.NativeEndian.Uint32(b[4*i:])
	}
	if n := slices.Compare(k.Source[:], k.Destination[:]); n > 0 || n == 0 && k.Ports[0] > k.Ports[1] {
		k.Source, k.Destination, k.Ports = k.Destination, k.Source, [2]uint16{k.Ports[1], k.Ports[0]}
	}
	return k
}
