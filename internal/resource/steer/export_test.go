package steer

import (
	"errors"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// SharesOf is for tests of the shares alone.
var SharesOf = sharesOf

// InTurn is for tests of the order in which nodes are written.
var InTurn = inTurn

// Entered is a program that chooses paths, at no port.
type Entered struct {
	Program *ebpf.Program
	at      *attached
	paths   Paths
	digest  [digestSize]byte
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
	e := &Entered{Program: c.Programs["enter"], at: &attached{Program: &held.Program{Program: c.Programs["enter"], Name: PathsName, Maps: c.Maps}}, paths: s, digest: s.Choice.digest(s.numbers())}
	return e, errors.Join(lead(c.Maps[waysMap], nil, s.Ways, to), c.Maps[sideMap].Put(uint32(0), uint32(s.End-FirstEnd)))
}

// Between loads the program of a port between functions, for tests that run it on frames.
func Between(s Paths, to []uint32) (*Entered, error) {
	spec, err := classify.LoadProgram()
	if err != nil {
		return nil, err
	}
	spec.Maps[membersMap].MaxEntries = s.Flows
	delete(spec.Programs, "enter")
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, err
	}
	e := &Entered{Program: c.Programs["between"], at: &attached{Program: &held.Program{Program: c.Programs["between"], Name: PathsName, Maps: c.Maps}}, paths: s}
	return e, errors.Join(lead(c.Maps[waysMap], nil, s.Ways, to), c.Maps[habitMap].Put(uint32(0), s.habit()))
}

// Part loads the program of a port where ways part or come together, for tests that run it on frames: the first function
// with replicas has the first seat.
func Part(b Branch, to []uint32) (*Entered, error) {
	spec, err := b.parting(to).spec()
	if err != nil {
		return nil, err
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, err
	}
	return &Entered{Program: c.Programs["branch"], at: &attached{Program: &held.Program{Program: c.Programs["branch"], Name: BranchName, Maps: c.Maps}}}, nil
}

// Joined are the flows that are known at joints.
func (e *Entered) Joined() (n int) {
	_ = eachOf(e.at.Maps[jointsMap], func(branch.ProgramFlow, uint32) { n++ })
	return n
}

// Seat replicas behind these ports at the program, and tell of which of them flows are, and how many.
func (e *Entered) Seat(a Among, to []uint32) (replicas func() map[uint32]int, err error) {
	spec, err := spreadObject()
	if err != nil {
		return nil, err
	}
	flows := spec.Maps[flowsMap]
	flows.Name, flows.MaxEntries = table(a.Of), a.Flows
	m, err := ebpf.NewMap(flows)
	if err != nil {
		return nil, err
	}
	e.at.Maps[flows.Name], e.at.taken = m, map[string]uint32{flows.Name: 0}
	t := e.at.seats()
	replicas = func() map[uint32]int {
		all := map[uint32]int{}
		if err := eachOf(m, func(_ spread.ProgramFlow, s spread.ProgramStay) { all[s.Replica]++ }); err != nil {
			return nil
		}
		return all
	}
	return replicas, errors.Join(t.tables.Put(uint32(0), m), t.at(0).deal(a.Replicas, to))
}

// Follow what another program has at its seats, and tell which is a function's, if it has one, and whether a table is there.
func (e *Entered) Follow(old *Entered, of string) (seat uint32, has, knows bool, err error) {
	e.at.taken = map[string]uint32{}
	t := e.at.seats()
	err = t.follow(old.at)
	seat, has = t.taken[table(of)]
	var id uint32
	return seat, has, t.tables.Lookup(seat, &id) == nil, err
}

// Otherwise has a function's table another layout, as that of another version may have.
func (e *Entered) Otherwise(of string) error {
	name := table(of)
	was := e.at.Maps[name]
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: name, Type: was.Type(), KeySize: was.KeySize(), ValueSize: 2 * was.ValueSize(), MaxEntries: was.MaxEntries()})
	if err != nil {
		return err
	}
	e.at.Maps[name] = m
	return was.Close()
}

// Dealt is what has become of packets at the first seat, all cores together.
func (e *Entered) Dealt() (packets uint64, err error) {
	var each []spread.ProgramDealt
	err = e.at.Maps[dealtMap].Lookup(uint32(0), &each)
	for _, d := range each {
		packets += d.Fresh + d.Moved + d.Unkept
	}
	return packets, err
}

// Clear the first seat.
func (e *Entered) Clear() error { return e.at.seats().at(0).clear() }

// Known is the path of a flow, and the rule that gave it the path.
func (e *Entered) Known(f First) (path string, rule int, known bool, err error) {
	path, m, known, err := e.at.knowsPath(&e.paths, f)
	if known && err == nil {
		rule, err = e.at.ruleOf(m, func(h choiceHeader) bool { return h.Digest == e.digest })
	}
	return path, rule, known, err
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
	e.digest = c.digest(e.paths.numbers())
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

// Sizes of a memory for rules that are so many and take so many bytes, where others count until then.
func Sizes(wanted, live uint32, wantedBytes, liveBytes int) (areas, room int, counters uint32, err error) {
	of := func(rules uint32, bytes int) []byte { return choiceHeader{Rules: rules}.over(make([]byte, bytes)) }
	return sizes(of(wanted, wantedBytes), of(live, liveBytes), counterSize)
}

// A counter of a core takes so many bytes, and all areas as many as this at most.
const (
	counterSize = 16
	MostMemory  = mostMemory
)

// Soon has a census that nobody chose take so long, and tells how long it took.
func Soon(census time.Duration) (before time.Duration) {
	before, soon = soon, census
	return before
}

// Killed is who turns ports by these changes and is killed when so many of them were, and flows do not go the new way yet.
func (k Kind) Killed(p resource.Place, turned int, changes []resource.Change) error {
	k.choices, k.common, k.late, k.outgrown = choices{}, &common{}, &late{}, &outgrown{}
	defer k.common.close()
	return p.Do(func() error {
		next, _, err := k.keepAhead(p, changes)
		if err != nil {
			return err
		}
		defer next.close()
		if next == nil {
			return errors.New("no flow stays")
		}
		for _, c := range changes[:turned] {
			if err := k.set(p, c.Spec.(Spec)); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetOlderBut forgets older paths as ForgetOlder does, but that a port cannot be told.
func ForgetOlderBut(p resource.Place, port string) error {
	return p.Do(func() error {
		o, _, err := olderOf(p)
		if err != nil || o == nil {
			return errors.Join(errors.New("there are none"), err)
		}
		defer held.CloseAll(o.at)
		for _, a := range o.at {
			if a.port == port {
				_ = a.Maps[waysMap].Close()
			}
		}
		return o.forget(func(int) bool { return true })
	})
}
