package held

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
)

// Side of an interface, at which there is to be one program of a rank at most.
type Side struct {
	find func(p resource.Place, index int, r Rank) ([]*Program, error)
	put  func(p resource.Place, index int, r Rank, program *ebpf.Program) error
}

// The sides: what an interface takes in, and what it sends.
var (
	Coming  = Side{Find, Put}
	Leaving = Side{FindLeaving, PutLeaving}
)

// Keep has a program be the one of its rank: the first that is there is replaced at once, so that no packet meets none, and others go.
func (s Side) Keep(p resource.Place, device string, r Rank, program *ebpf.Program) error {
	dev, err := p.Device(device)
	if err != nil {
		return err
	}
	index := dev.Attrs().Index
	all, err := s.find(p, index, r)
	defer CloseAll(all)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return s.put(p, index, r, program)
	}
	if err := all[0].Replace(p, index, program); err != nil {
		return err
	}
	return take(p, index, all[1:])
}

// Clear takes all of a rank away, unless the interface has gone.
func (s Side) Clear(p resource.Place, device string, r Rank) error {
	dev, err := p.Device(device)
	if err != nil {
		return nil
	}
	all, err := s.find(p, dev.Attrs().Index, r)
	defer CloseAll(all)
	if err != nil {
		return err
	}
	return take(p, dev.Attrs().Index, all)
}

func take(p resource.Place, index int, all []*Program) error {
	for _, a := range all {
		if err := a.Take(p, index); err != nil {
			return err
		}
	}
	return nil
}

// constants of a program, by the name that the kernel knows them by.
const constants = ".rodata"

// Constant reads what a program has at a place among its constants.
func (p *Program) Constant(at uint64, into any) error {
	all := p.Maps[constants]
	if all == nil {
		return fmt.Errorf("program %s has no constants", p.Name)
	}
	text, err := all.LookupBytes(uint32(0))
	if err == nil {
		_, err = binary.Decode(text[min(at, uint64(len(text))):], binary.NativeEndian, into)
	}
	if err != nil {
		return fmt.Errorf("read the constants of program %s: %w", p.Name, err)
	}
	return nil
}
