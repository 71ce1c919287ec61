package steer

import (
	"fmt"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Counts is packets, and their bytes.
type Counts struct {
	Packets uint64
	Bytes   uint64
}

// Came is what came in at a port, since the port is there.
type Came struct {
	Counts
	// Ended is what of it was not sent on, because the node that it would have gone to failed and may not be led past.
	Ended Counts
}

// Count reads what the programs of the owner's ports counted, by port. Packets are counted
// as interfaces count them: what the kernel cuts up or joins later is one.
func Count(p resource.Place) (map[string]Came, error) { return countBy(p, findAll) }

// CountAhead reads of these what programs that stand before others sent on, by port.
func CountAhead(p resource.Place) (map[string]Came, error) { return countBy(p, findFronts) }

// finding programs at an interface.
type finding func(p resource.Place, index int) ([]*attached, error)

func countBy(p resource.Place, find finding) (map[string]Came, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	counted := map[string]Came{}
	err = p.Do(func() error {
		for index, port := range mine {
			if err := count(p, find, index, port, counted); err != nil {
				return fmt.Errorf("read what port %s of namespace %q counted: %w", port, p.Ref, err)
			}
		}
		return nil
	})
	return counted, err
}

func count(p resource.Place, find finding, index int, port string, counted map[string]Came) error {
	all, err := find(p, index)
	defer held.CloseAll(all)
	for _, a := range all {
		if a.Maps[passedMap] == nil {
			continue // another version's, which counts nothing
		}
		came, err := a.came()
		if err != nil {
			return err
		}
		c := counted[port]
		counted[port] = Came{c.and(came.Counts), c.Ended.and(came.Ended)}
	}
	return err
}

// countSize in bytes of what one core counted, of which packets are first.
const countSize = 16

// and others.
func (c Counts) and(others Counts) Counts {
	return Counts{Packets: c.Packets + others.Packets, Bytes: c.Bytes + others.Bytes}
}

// came is what came in. What ended is read first, so that it is never more; a program of another version may not tell it apart.
func (a *attached) came() (c Came, err error) {
	if a.Maps[endedMap] != nil {
		if c.Ended, err = onAllCores(a.Maps[endedMap]); err != nil {
			return c, err
		}
	}
	c.Counts, err = onAllCores(a.Maps[passedMap])
	return c, err
}

// onAllCores is what the only entry of a table counted.
func onAllCores(m *ebpf.Map) (c Counts, err error) {
	var each []bpf.ProgramCount
	if err := m.Lookup(uint32(0), &each); err != nil {
		return c, err
	}
	for _, cpu := range each {
		c.Packets += cpu.Packets
		c.Bytes += cpu.Bytes
	}
	return c, nil
}
