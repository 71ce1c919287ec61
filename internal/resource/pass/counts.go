package pass

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/pass"
)

// Tally is a number of packets and their bytes, from the Ethernet header on, without FCS.
type Tally struct{ Packets, Bytes uint64 }

func (t *Tally) add(packets, bytes uint64) {
	t.Packets += packets
	t.Bytes += bytes
}

// Counts are what a pass has counted since it was loaded, on all cores. A step that drops
// saw what came, less what steps before it dropped.
type Counts struct {
	// Came to the pass, of any kind.
	Came Tally
	// Other is what is no IP: it went on untouched.
	Other Tally
	// Malformed was dropped before the first step.
	Malformed Tally
	// Unwritten was dropped behind the last step: what was to be written was not, because
	// the kernel had no memory.
	Unwritten Tally
	// Slots by number: what was counted, marked, dropped, copied or translated.
	Slots [Most]Tally
	// Lost by slot: copies that no tap took, strays of a NAT, which were dropped.
	Lost [Most]uint64
	// Full by slot: packets that a NAT dropped, because no port was left for their connection.
	Full [Most]uint64
	// Copying by slot: what cores spent on a mirror's copies until its tap had them, told from those
	// that were timed.
	Copying [Most]time.Duration
}

// Counts reads them; packets that are on their way meanwhile may be in some and not in
// others.
func (l *Loaded) Counts() (Counts, error) { return countsIn(l.maps[countedMap], l.maps[memoriesMap]) }

func countsIn(counted, memories *ebpf.Map) (Counts, error) {
	all, err := talliesIn(counted)
	if err != nil {
		return all, err
	}
	return all, all.remembered(memories)
}

// talliesIn are those of all cores.
func talliesIn(counted *ebpf.Map) (Counts, error) {
	var cores []program.ProgramCounts
	if err := counted.Lookup(uint32(0), &cores); err != nil {
		return Counts{}, fmt.Errorf("read the counters of a pass: %w", err)
	}
	var all Counts
	for _, c := range cores {
		all.Came.add(c.Came.Packets, c.Came.Bytes)
		all.Other.add(c.Other.Packets, c.Other.Bytes)
		all.Malformed.add(c.Malformed.Packets, c.Malformed.Bytes)
		all.Unwritten.add(c.Unwritten.Packets, c.Unwritten.Bytes)
		for i, s := range c.Steps {
			all.Slots[i].add(s.Packets, s.Bytes)
		}
	}
	return all, nil
}

// remembered adds what steps count where they remember.
func (c *Counts) remembered(memories *ebpf.Map) error {
	for i := range uint32(Most) {
		var m program.ProgramMemory
		if err := memories.Lookup(i, &m); err != nil {
			return fmt.Errorf("read what step %d of a pass remembers: %w", i, err)
		}
		c.Lost[i], c.Full[i], c.Copying[i] = m.Lost, m.Full, time.Duration(m.Copying)
	}
	return nil
}
