package steer

import (
	"fmt"

	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Counts is what came in at a port and was sent on, since the port is there.
type Counts struct {
	Packets uint64
	Bytes   uint64
}

// Count reads what the programs of the owner's ports counted, by port. Packets are counted
// as interfaces count them: what the kernel cuts up or joins later is one.
func Count(p resource.Place) (map[string]Counts, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	counted := map[string]Counts{}
	err = p.Do(func() error {
		for index, port := range mine {
			if err := count(p, index, port, counted); err != nil {
				return fmt.Errorf("read what port %s of namespace %q counted: %w", port, p.Ref, err)
			}
		}
		return nil
	})
	return counted, err
}

func count(p resource.Place, index int, port string, counted map[string]Counts) error {
	all, err := find(p, index)
	defer held.CloseAll(all)
	for _, a := range all {
		if a.Maps[passedMap] == nil {
			continue // another version's, which counts nothing
		}
		came, err := a.passed()
		if err != nil {
			return err
		}
		c := counted[port]
		counted[port] = Counts{Packets: c.Packets + came.Packets, Bytes: c.Bytes + came.Bytes}
	}
	return err
}

// countSize in bytes of what one core counted, of which packets are first.
const countSize = 16

// passed is what came in on all cores.
func (a *attached) passed() (c Counts, err error) {
	var each []bpf.ProgramCount
	if err := a.Maps[passedMap].Lookup(uint32(0), &each); err != nil {
		return c, err
	}
	for _, cpu := range each {
		c.Packets += cpu.Packets
		c.Bytes += cpu.Bytes
	}
	return c, nil
}
