package nsh

import (
	"nfchain.dev/nfchain/bpf/nsh"
	"nfchain.dev/nfchain/internal/resource"
)

// Counts is what became of frames at an interface, since its program is there.
type Counts struct {
	// Frames went on, and of these Kept came back with the service index as it was.
	Frames, Kept uint64
	// Dropped were frames without the header; with one that is malformed, or before something
	// that is no frame; of another path, or with an index that none was given; those whose index
	// or hop limit had come to an end; and those that there was no room for a header for.
	Plain, Malformed, Unknown, Expired, Full uint64
}

// Dropped for any reason.
func (c Counts) Dropped() uint64 { return c.Plain + c.Malformed + c.Unknown + c.Expired + c.Full }

// CountAt reads what the program of an interface has counted; nothing where there is none.
func CountAt(p resource.Place, device string) (c Counts, found bool, err error) {
	dev, err := p.Device(device)
	if err != nil {
		return c, false, nil
	}
	program, err := at(dev)
	if err != nil || program == nil {
		return c, false, failed(p, device, err)
	}
	defer program.Close()
	m := program.Maps[dealtMap]
	if m == nil {
		return c, false, nil
	}
	var each []nsh.ProgramDealt
	if err := m.Lookup(uint32(0), &each); err != nil {
		return c, false, failed(p, device, err)
	}
	for _, cpu := range each {
		c.Frames, c.Kept = c.Frames+cpu.Frames, c.Kept+cpu.Kept
		c.Plain, c.Malformed = c.Plain+cpu.Plain, c.Malformed+cpu.Wrong
		c.Unknown, c.Expired, c.Full = c.Unknown+cpu.Unknown, c.Expired+cpu.Expired, c.Full+cpu.Full
	}
	return c, true, nil
}
