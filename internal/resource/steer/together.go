package steer

import (
	"fmt"

	"github.com/cilium/ebpf"
)

// The maps that all ports of a chain have together where flows stay: versions of the path, the flows, and in which order these were
// entered.
const (
	versionsMap = "versions"
	stayingMap  = "staying"
	enteredMap  = "entered"
)

// mostEntered flows that are asked for their place, those that were entered last: of the largest tables, some are not.
const mostEntered = 1 << 18

// sharesVersions tells whether a program has them.
func (a *attached) sharesVersions() bool {
	return a.Maps[versionsMap] != nil && a.Maps[stayingMap] != nil && a.Maps[enteredMap] != nil
}

// know those of a port.
func (v *versions) know(at *attached) {
	v.shared, v.flows, v.entered = at.Maps[versionsMap], at.Maps[stayingMap], at.Maps[enteredMap]
}

// share them with a program.
func (v *versions) share(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map) {
	for name, m := range map[string]*ebpf.Map{versionsMap: v.shared, stayingMap: v.flows, enteredMap: v.entered} {
		spec.Maps[name].MaxEntries, maps[name] = m.MaxEntries(), m
	}
}

// make them for as many flows, at no port yet.
func (v *versions) make(spec *ebpf.CollectionSpec, flows uint32) (err error) {
	spec.Maps[stayingMap].MaxEntries, spec.Maps[enteredMap].MaxEntries = flows, min(flows, mostEntered)
	for name, m := range map[string]**ebpf.Map{versionsMap: &v.shared, stayingMap: &v.flows, enteredMap: &v.entered} {
		if *m, err = ebpf.NewMap(spec.Maps[name]); err != nil {
			v.closeShared()
			return fmt.Errorf("make room for %d flows that stay on their path: %w", flows, err)
		}
	}
	return nil
}

func (v *versions) closeShared() {
	for _, m := range []*ebpf.Map{v.shared, v.flows, v.entered} {
		_ = m.Close()
	}
}
