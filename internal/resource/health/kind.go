package health

import (
	"errors"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Kind has paths watched.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Unwatched is the fingerprint of a path over which nobody watches any more, so that somebody
// is told to, or it is as planned again.
const Unwatched = "nobody watches over it"

// Read implements resource.Kind. Without a supervisor it finds what a killed one left at the
// ports; the host's own namespace has none.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	watched, _, err := process.OnWatch(p.Owner)
	if err != nil {
		return nil, err
	}
	if watched != "" {
		return []resource.Observed{{Key: key, Fingerprint: watched}}, nil
	}
	if p.Ref == netns.Host {
		return nil, nil
	}
	left, err := isLeft(p)
	if err != nil || !left {
		return nil, err
	}
	return []resource.Observed{{Key: key, Fingerprint: Unwatched}}, nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(string) error { return errors.Join(process.Unwatch(p.Owner), restore(p)) },
		func(s Spec) error { return process.Watch(p.Owner, s.Path) })
}

// restore has packets go where the plan says at all ports, and no probe taken out.
func restore(p resource.Place) error {
	return eachPort(p, func(port string) error { return errors.Join(removeAt(p, port), turnBack(p, port)) })
}

// eachPort of the owner's.
func eachPort(p resource.Place, do func(port string) error) error {
	mine, err := p.Mine()
	for _, port := range mine {
		err = errors.Join(err, do(port))
	}
	return err
}

// isLeft tells whether a supervisor was at work at one of the ports.
func isLeft(p resource.Place) (is bool, err error) {
	taken, err := Taken(p)
	if len(taken) > 0 || err != nil {
		return len(taken) > 0, err
	}
	return steer.Diverted(p)
}

// Taken are the owner's ports at which probes are taken out, whoever sends them.
func Taken(p resource.Place) (ports []string, err error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	err = p.Do(func() error {
		for index, port := range mine {
			takers, err := held.Find(p, index, held.Probes)
			held.CloseAll(takers)
			if err != nil {
				return err
			}
			if len(takers) > 0 {
				ports = append(ports, port)
			}
		}
		return nil
	})
	return ports, err
}

func turnBack(p resource.Place, port string) error {
	open, err := steer.OpenPort(p, port)
	if err != nil {
		return nil
	}
	defer open.Close()
	return open.TurnBack()
}

// removeAt a port what takes probes out there.
func removeAt(p resource.Place, port string) error {
	return atPort(p, port, func(index int, takers []*held.Program) error {
		for _, t := range takers {
			if err := t.Take(p, index); err != nil {
				return err
			}
		}
		return nil
	})
}

// atPort does something with the programs that take probes out at a port, in its namespace.
func atPort(p resource.Place, port string, do func(index int, takers []*held.Program) error) error {
	dev, err := p.Device(port)
	if err != nil {
		return nil // gone
	}
	return p.Do(func() error {
		takers, err := held.Find(p, dev.Attrs().Index, held.Probes)
		defer held.CloseAll(takers)
		if err != nil {
			return err
		}
		return do(dev.Attrs().Index, takers)
	})
}
