package watch

import (
	"errors"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// port of the forwarder, held open.
type port struct {
	name string
	// watched functions have it: probes are taken out there, and noted in these rows of the table.
	watched bool
	rows    []int
	// steer is nil while the port is not there, or not yet known to be.
	steer *steer.Port
	// again tells that it is to be opened again, as its program may have been given what it lacked.
	again bool
	// gone tells that it is not there.
	gone bool
	// down tells that it, or the interface behind it, was when it was last looked at.
	down  bool
	taker *health.Taker
	// passed is how many packets had come in when it was last looked at.
	passed uint64
	// told are the functions of which shares are as they were last given: another program there may have begun without them.
	told map[string]bool
}

// open what is at the port now, and have probes taken out there. That it is not there is no error;
// where that cannot be told, what is held open stays.
func (p *port) open(at resource.Place, table *health.Table) error {
	now, err := steer.OpenPort(at, p.name)
	if errors.Is(err, resource.ErrNoInterface) || errors.Is(err, steer.ErrNoProgram) {
		p.lose()
		return nil
	}
	if err != nil {
		return err
	}
	p.gone = false
	if !p.again && p.steer != nil && p.steer.Index == now.Index && p.steer.Program == now.Program {
		now.Close()
	} else if err := p.replace(now); err != nil {
		return err
	}
	if !p.watched {
		return nil
	}
	taker, err := table.Take(at, p.name, p.rows, p.taker)
	if err != nil {
		return err
	}
	if p.taker != nil && p.taker != taker {
		p.taker.Close()
	}
	p.taker = taker
	return nil
}

// isAsOpened tells whether all is there yet that was when the port was opened. It is called in the forwarder's
// namespace.
func (p *port) isAsOpened(at resource.Place) bool {
	dev, err := at.Device(p.name)
	p.down = err == nil && dev.Attrs().RawFlags&unix.IFF_LOWER_UP == 0 // its operational state follows a while later
	if p.steer == nil || p.again || p.watched && p.taker == nil {
		return false
	}
	still, err := p.steer.Still(at, p.name)
	if still && err == nil && p.watched {
		still, err = p.taker.IsFirst(at, p.steer.Index)
	}
	return still && err == nil
}

// replace what was held open.
func (p *port) replace(by *steer.Port) (err error) {
	if p.steer != nil && p.steer.Index != by.Index {
		p.close()
	} else if p.steer != nil {
		p.steer.Close()
	}
	p.steer, p.told, p.again = by, map[string]bool{}, false
	p.passed, err = by.Passed()
	return err
}

// lose what is held open: it is not there any more.
func (p *port) lose() {
	p.close()
	p.gone = true
}

func (p *port) close() {
	if p.steer != nil {
		p.steer.Close()
	}
	if p.taker != nil {
		p.taker.Close()
	}
	p.steer, p.taker = nil, nil
}

// came tells whether packets came in since it was last asked.
func (p *port) came() bool {
	if p.steer == nil {
		return false
	}
	n, err := p.steer.Passed()
	if err != nil || n == p.passed {
		return false
	}
	p.passed = n
	return true
}

// turn packets that come in to another port, or back to the planned one, and away from replicas of a function that
// fail, unless they go there. In between they go where others go.
func (p *port) turn(index uint32, of string, failing steer.Numbers, others func() *steer.Shares) error {
	if failing == 0 {
		return errors.Join(p.lead(index), p.keepFrom(of, failing, others))
	}
	return errors.Join(p.keepFrom(of, failing, others), p.lead(index))
}

// turnOn turns the packets of a path, if the port tells them from others, which go the same way else.
func (p *port) turnOn(path process.ServicePath, index uint32) error {
	was, err := p.insteadOn(path)
	if err != nil || was == index {
		return err
	}
	if p.steer.ByPaths() {
		return p.steer.SetInsteadOn(path.Name, path.Number, index)
	}
	return p.steer.SetInstead(index)
}

// insteadOn is where the packets of a path go in place of the planned port.
func (p *port) insteadOn(path process.ServicePath) (uint32, error) {
	if p.steer.ByPaths() {
		return p.steer.InsteadOn(path.Name, path.Number)
	}
	return p.steer.Instead()
}

// lead packets to a port, unless they go there.
func (p *port) lead(index uint32) error {
	was, err := p.steer.Instead()
	if err != nil || was == index {
		return err
	}
	return p.steer.SetInstead(index)
}

// keepFrom replicas of a function that fail, if the port knows of any.
func (p *port) keepFrom(of string, failing steer.Numbers, others func() *steer.Shares) error {
	if _, faces := p.steer.Shared(of); !faces {
		return nil
	}
	was, err := p.steer.Failing(of)
	if err != nil || was == failing && (p.told[of] || failing == 0) {
		return err
	}
	if failing == 0 {
		return p.steer.SetFailing(of, 0, &steer.Shares{})
	}
	err = p.steer.SetFailing(of, failing, others())
	p.told[of] = err == nil
	return err
}
