package steer

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// What stands in the place of a port.
const (
	// Nowhere is where packets end.
	Nowhere = math.MaxUint32
	// Replicas are those that the port knows of: one of them, by flow.
	Replicas = math.MaxUint32 - 1
)

// ErrNoProgram is that of a port where no program of this version steers.
var ErrNoProgram = errors.New("no program of this version is there; `nfchain up` puts it there")

// Port is what steers what comes in at a port, held open, so that it is turned elsewhere in one
// step. What the plan says stays, and is the way again once nothing is to be instead.
type Port struct {
	// Index of the port's interface.
	Index int
	// Number by which others send packets to the node behind it.
	Number uint32
	// Program that is there.
	Program ebpf.ProgramID
	at      *attached
	passed  *held.Cell
}

// OpenPort of the place, by its name. Where it is not there, or no program of this version steers
// there, that is [resource.ErrNoInterface] or [ErrNoProgram]; after other errors it is not known.
func OpenPort(p resource.Place, device string) (*Port, error) {
	dev, err := p.Device(device)
	if err != nil {
		return nil, err
	}
	port := &Port{Index: dev.Attrs().Index, Number: number(dev)}
	err = p.Do(func() error {
		all, err := find(p, port.Index)
		if err == nil {
			err = port.choose(all)
		}
		for _, a := range all {
			if err != nil || a != port.at {
				a.Close()
			}
		}
		return err
	})
	if err != nil {
		return nil, failed(p, device, err)
	}
	return port, nil
}

// Still tells whether the port of the place is the one that was opened, by its name, and has its program. It is
// called in the place's namespace, and is quick, as opening is not.
func (p *Port) Still(at resource.Place, device string) (bool, error) {
	dev, err := at.Device(device)
	if errors.Is(err, resource.ErrNoInterface) || err == nil && dev.Attrs().Index != p.Index {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ids, err := hooks[p.at.hook].programs(at, p.Index)
	return slices.Contains(ids, p.Program), err
}

// Diverted tells whether packets go elsewhere than as planned at one of the owner's ports, because
// somebody who watches over functions, or did, has it so.
func Diverted(p resource.Place) (is bool, err error) {
	err = p.Do(func() error {
		mine, err := p.Mine()
		for index := range mine {
			if err == nil && !is {
				is, err = divertedAt(p, index)
			}
		}
		return err
	})
	return is, err
}

// divertedPort is a port of which is asked whether it diverts packets.
type divertedPort struct{ index int }

// divertedAt tells it of one port.
func divertedAt(p resource.Place, index int) (bool, error) {
	return resource.Once(p, divertedPort{index}, func() (bool, error) {
		all, err := find(p, index)
		defer held.CloseAll(all)
		if err != nil {
			return false, err
		}
		return anyDiverts(all, (*attached).diverts)
	})
}

// diverted tells it of ports of a namespace that one is in already.
func diverted(p resource.Place, diverts func(*attached) (bool, error)) (is bool, err error) {
	mine, err := p.Mine()
	for index := range mine {
		all, err := find(p, index)
		if err == nil {
			is, err = anyDiverts(all, diverts)
		}
		held.CloseAll(all)
		if err != nil || is {
			return is, err
		}
	}
	return false, err
}

func anyDiverts(all []*attached, diverts func(*attached) (bool, error)) (is bool, err error) {
	for _, a := range all {
		if is, err = diverts(a); is || err != nil {
			break
		}
	}
	return is, err
}

func (a *attached) diverts() (bool, error) {
	switch {
	case a.Maps[passedMap] == nil:
		return false, nil // another version's
	case a.Maps[detoursMap] != nil:
		if is, err := a.divertsPaths(); is || err != nil {
			return is, err
		}
		return a.keepsFromAny()
	case a.Maps[insteadMap] == nil:
		return false, nil // another version's
	}
	is, err := a.ledPast()
	if err != nil || is || a.Maps[failingMap] == nil {
		return is, err
	}
	return a.keepsFromAny()
}

// keepsFromAny tells whether packets are kept from replicas that fail.
func (a *attached) keepsFromAny() (is bool, err error) {
	for _, seat := range a.taken {
		failing, err := a.seats().at(seat).fail()
		if is = is || failing != 0; err != nil {
			return is, err
		}
	}
	return is, nil
}

// ledPast tells whether all packets go to another port than the planned one, or end.
func (a *attached) ledPast() (bool, error) {
	var to uint32
	if a.Maps[insteadMap] == nil {
		return false, nil
	}
	err := a.Maps[insteadMap].Lookup(uint32(0), &to)
	return to != 0, err
}

// divertsPaths tells it of a program that sends packets on by paths.
func (a *attached) divertsPaths() (is bool, err error) {
	err = eachOf(a.Maps[detoursMap], func(_ uint32, to classify.ProgramWay) { is = is || to.Port != 0 })
	return is, err
}

// choose the program that packets are turned by.
func (p *Port) choose(all []*attached) error {
	for _, a := range all {
		if a.Maps[passedMap] == nil || a.Maps[insteadMap] == nil && a.Maps[detoursMap] == nil {
			continue
		}
		info, err := a.Info()
		if err != nil {
			return err
		}
		p.Program, _ = info.ID()
		p.at = a
		return nil
	}
	return ErrNoProgram
}

// Passed is how many packets came in, since the port is there.
func (p *Port) Passed() (packets uint64, err error) {
	if p.passed == nil {
		if p.passed, err = held.NewCell(p.at.Maps[passedMap], 0); err != nil {
			return 0, err
		}
	}
	all, err := p.passed.Look()
	if err != nil {
		return 0, err
	}
	for core := 0; core < len(all); core += countSize {
		packets += binary.NativeEndian.Uint64(all[core:])
	}
	return packets, nil
}

// Instead is the number of the port that packets go to in place of the planned one, or Nowhere, or
// Replicas; 0 if they go where the plan says.
func (p *Port) Instead() (number uint32, err error) {
	if !p.ByPaths() {
		err = p.at.Maps[insteadMap].Lookup(uint32(0), &number)
		return number, err
	}
	at, check, is, err := p.at.alike()
	if err == nil && !is {
		err = errApart
	}
	if err != nil {
		return 0, err
	}
	return p.detour(at, check)
}

// errApart is of a port where what is asked of all packets is so of those of each path.
var errApart = errors.New("packets go on from the port by paths, each of which is turned by itself; `nfchain up` has them watched so")

// detour of a path, or of all but older ones, by its entry and what tells it from others.
func (p *Port) detour(at, check uint32) (port uint32, err error) {
	var to classify.ProgramWay
	err = p.at.Maps[detoursMap].Lookup(at, &to)
	if to.Check != check {
		return 0, err
	}
	return to.Port, err
}

// SetInstead has packets go to another port than the planned one from now on.
func (p *Port) SetInstead(number uint32) error {
	if !p.ByPaths() {
		return p.at.Maps[insteadMap].Put(uint32(0), number)
	}
	at, check, is, err := p.at.alike()
	if err == nil && !is {
		err = errApart
	}
	if err != nil {
		return err
	}
	return p.at.Maps[detoursMap].Put(at, classify.ProgramWay{Port: number, Check: check})
}

// Alike tells of a port ByPaths whether all packets go one way from there but those of flows on older paths: they are turned all at once, too.
func (p *Port) Alike() (bool, error) {
	_, _, is, err := p.at.alike()
	return is, err
}

// Stays tells whether flows may stay on older versions of the path at the port.
func (p *Port) Stays() bool { return p.at.keeps() || p.at.leadsByPath() }

// ByPaths tells whether packets go on from the port by paths: those of each are turned by themselves then,
// and else all at once.
func (p *Port) ByPaths() bool { return p.at.Maps[detoursMap] != nil }

// InsteadOn is what Instead is, for the packets of a path, by its name and number.
func (p *Port) InsteadOn(path string, number int) (port uint32, err error) {
	at, check, err := p.detourOf(path, number)
	if err != nil {
		return 0, err
	}
	return p.detour(at, check)
}

// detourOf a path is where its packets are led elsewhere: where all do go one way but those on older paths, it is that of all.
func (p *Port) detourOf(path string, number int) (at, check uint32, err error) {
	at, check, is, err := p.at.alike()
	if is || err != nil {
		return at, check, err
	}
	return uint32(number), checkOf(path), nil
}

// SetInsteadOn has the packets of a path go to another port than the planned one from now on.
func (p *Port) SetInsteadOn(path string, number int, port uint32) error {
	at, check, err := p.detourOf(path, number)
	if err != nil {
		return err
	}
	return p.at.Maps[detoursMap].Put(at, classify.ProgramWay{Port: port, Check: check})
}

// TurnBack has all packets go where the plan says.
func (p *Port) TurnBack() (err error) {
	if p.at.Maps[failingMap] != nil {
		for _, seat := range p.at.taken {
			err = errors.Join(err, p.at.seats().at(seat).setFailing(0, &Shares{}))
		}
	}
	if p.Parts() {
		return p.SetNodes(nil)
	}
	if p.ByPaths() {
		for n := range uint32(MostPaths + 1) {
			err = errors.Join(err, p.at.Maps[detoursMap].Put(n, classify.ProgramWay{}))
		}
		return err
	}
	return errors.Join(err, p.SetInstead(0))
}

// Close what was opened; the port goes on as it is.
func (p *Port) Close() { p.at.Close() }
