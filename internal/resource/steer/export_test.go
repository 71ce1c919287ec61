package steer

import (
	"errors"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource/held"
)

// SharesOf is for tests of the shares alone.
var SharesOf = sharesOf

// Entered is a program that chooses paths, at no port.
type Entered struct {
	Program *ebpf.Program
	at      *attached
	paths   Paths
}

// Enter loads the program of an end, for tests that run it on frames.
func Enter(s Paths, to []uint32) (*Entered, error) {
	spec, err := classify.LoadProgram()
	if err != nil {
		return nil, err
	}
	compiled, err := s.Choice.compile(s.numbers(), time.Duration(s.Idle))
	if err != nil {
		return nil, err
	}
	spec.Maps[membersMap].MaxEntries = s.Flows
	if err := furnish(spec, nil, nil, compiled); err != nil {
		return nil, err
	}
	delete(spec.Programs, "between")
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, err
	}
	e := &Entered{Program: c.Programs["enter"], at: &attached{Program: &held.Program{Program: c.Programs["enter"], Name: PathsName, Maps: c.Maps}}, paths: s}
	return e, errors.Join(lead(c.Maps[waysMap], s.Ways, to), c.Maps[sideMap].Put(uint32(0), uint32(s.End-FirstEnd)))
}

// Known is the path of a flow, and the rule that gave it the path.
func (e *Entered) Known(f First) (path string, rule int, known bool, err error) {
	return e.at.knowsPath(&e.paths, f)
}

// Forget all flows.
func (e *Entered) Forget() error {
	var keys []classify.ProgramFlow
	err := eachMember(e.at.Maps[membersMap], func(k classify.ProgramFlow, _ classify.ProgramMember, _ time.Duration) { keys = append(keys, k) })
	for _, k := range keys {
		err = errors.Join(err, e.at.Maps[membersMap].Delete(k))
	}
	return err
}

// Close the program.
func (e *Entered) Close() { e.at.Close() }

// IsTurned tells whether any packets go elsewhere than planned.
func (p *Port) IsTurned() (bool, error) { return p.at.diverts() }

// Choose by other rules from now on.
func (e *Entered) Choose(c Choice) error {
	e.paths.Choice = &c
	return e.at.choose(&e.paths, choices{})
}

// Counting tells which generation of rules counts, and in which area these are.
func (e *Entered) Counting() (area int, generation uint32, err error) {
	area, h, err := e.at.counting()
	return area, h.Generation, err
}

// EachMember tells of every flow that is known what rules of which generation gave it: its path, and the rule's place.
func (e *Entered) EachMember(do func(generation uint32, path string, rule int)) error {
	names := map[uint32]string{}
	for _, w := range e.paths.Ways {
		names[uint32(w.Number)] = w.Path
	}
	return eachMember(e.at.Maps[membersMap], func(_ classify.ProgramFlow, m classify.ProgramMember, _ time.Duration) {
		path := names[m.Path]
		if m.Check != checkOf(path) {
			path += " of another check"
		}
		do(m.Generation, path, int(m.Rule)-1)
	})
}
