package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass/fold"
)

// attached is a pass at an interface.
type attached struct {
	*held.Program
	// also are the steps of others that have the same counters.
	also []Step
}

// The maps of a program, by the names that the kernel knows them by.
const (
	constantsMap   = fold.Section
	countedMap     = "counted"
	memoriesMap    = "memories"
	bucketsMap     = "buckets"
	bucketsMadeMap = "buckets_made"
)

// find the passes at an interface, first to last; what others put there is not among them.
// It is called in the interface's namespace.
func find(p resource.Place, index int) (all []attached, err error) {
	found, err := held.Find(p, index, held.Passes)
	for _, a := range found {
		all = append(all, attached{Program: a})
	}
	return all, err
}

// offsets are where things stand among a program's constants.
type offsets struct{ steps, taps, copies uint64 }

// offsetsIn this version's programs, by their names. Only those that are there are asked for: to read
// an object takes a while.
var offsetsIn = func() map[string]func() (offsets, error) {
	all := map[string]func() (offsets, error){}
	for called, object := range objects {
		all[called] = sync.OnceValues(func() (at offsets, err error) {
			spec, err := object()
			if err == nil {
				at = offsets{spec.Variables["steps"].Offset(), spec.Variables["taps"].Offset(), spec.Variables["copies"].Offset()}
			}
			return at, err
		})
	}
	return all
}()

// read what a pass of this version has.
func (a attached) read() (c contents, err error) {
	offsetsOf, ours := offsetsIn[a.Name]
	if !ours || a.Maps[constantsMap] == nil || a.Maps[bucketsMap] == nil {
		return c, fmt.Errorf("program %s is of another version of nfchain", a.Name)
	}
	at, err := offsetsOf()
	if err != nil {
		return c, err
	}
	constants, err := a.Maps[constantsMap].LookupBytes(uint32(0))
	if err != nil || uint64(len(constants)) < max(at.steps, at.taps, at.copies) {
		return c, fmt.Errorf("read the constants of program %s: %w", a.Name, err)
	}
	var steps [Most]Step
	_, err = binary.Decode(constants[at.steps:], binary.NativeEndian, &steps)
	for from, into := range map[uint64]any{at.taps: &c.taps, at.copies: &c.copied} {
		_, wrong := binary.Decode(constants[from:], binary.NativeEndian, into)
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return c, fmt.Errorf("read the steps of program %s: %w", a.Name, err)
	}
	for _, s := range steps {
		if s.Act == End {
			break
		}
		c.steps = append(c.steps, s)
	}
	if asksRules(c.steps) {
		if err := a.asks(c.steps); err != nil {
			return c, fmt.Errorf("read the rules of program %s: %w", a.Name, err)
		}
	}
	c.flows = a.Maps[bucketsMap].MaxEntries()
	if m := a.Maps[rulesFlowsMap]; m != nil {
		c.connections = m.MaxEntries()
	}
	if m := a.Maps[natFlowsMap]; m != nil {
		c.connections = m.MaxEntries() / 2
	}
	return c, nil
}

// counts of all cores, and those of the passes before.
func (a attached) counts() (Counts, error) {
	m := a.Maps[countedMap]
	if m == nil || a.Maps[memoriesMap] == nil {
		return Counts{}, fmt.Errorf("program %s has no map %q or %q", a.Name, countedMap, memoriesMap)
	}
	c, err := countsIn(m, a.Maps[memoriesMap])
	if err != nil {
		return c, err
	}
	before, err := a.carrying()
	if err != nil {
		return c, err
	}
	before, err = before.summed(0)
	for i, t := range before {
		c.tally(i).add(t.Packets, t.Bytes)
	}
	return c, err
}
