package nsh

import (
	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/nsh"
	"nfchain.dev/nfchain/internal/resource"
)

// Tagged tells whether an interface looks for tags that say a path, though frames come by one path alone.
func Tagged(p resource.Place, device string) (is bool, err error) {
	err = atHeaders(p, device, func(_ *ebpf.Map, all []bpf.ProgramHeader) error {
		is = alone(all)
		return nil
	})
	return is, err
}

// Untag has an interface look for no such tags any more: what looks like one in a frame is its sender's. It is for
// when all frames have come that ports said a path of.
func Untag(p resource.Place, device string) error {
	return atHeaders(p, device, func(m *ebpf.Map, all []bpf.ProgramHeader) error {
		if !alone(all) {
			return nil
		}
		first := all[0]
		first.Tagged = 0
		err := m.Put(uint32(0), first)
		for number, h := range all {
			if number > 0 && h.Length > 0 && err == nil {
				err = m.Put(uint32(number), bpf.ProgramHeader{})
			}
		}
		return err
	})
}

// alone tells of headers that frames come by one path, and did not always.
func alone(all []bpf.ProgramHeader) bool {
	return len(all) > 0 && all[0].Tagged != 0 && len(current(all)) == 0
}

// atHeaders looks at those that an interface puts on, if this version's program is there.
func atHeaders(p resource.Place, device string, look func(m *ebpf.Map, all []bpf.ProgramHeader) error) error {
	dev, err := p.LinkByName(device)
	if err != nil {
		return nil // it has gone
	}
	there, err := at(dev)
	if err != nil || there == nil {
		return failed(p, device, err)
	}
	defer there.Close()
	m := there.Maps[headerMap]
	if there.Name != name || m == nil {
		return nil
	}
	all, err := headers(m)
	if err == nil {
		err = look(m, all)
	}
	return failed(p, device, err)
}
