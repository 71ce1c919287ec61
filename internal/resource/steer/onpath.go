package steer

import (
	"errors"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// OnPath tells of many flows on which paths they are.
type OnPath struct {
	paths    *Paths
	programs []*attached
}

// OpenOnPath holds open what a port, where flows begin, knows of them; a port that is not there knows of none.
func OpenOnPath(p resource.Place, s Spec) (*OnPath, error) {
	o := &OnPath{paths: s.Paths}
	err := p.Do(func() error {
		dev, err := p.Device(s.Device)
		if err != nil {
			return nil // it is not there
		}
		o.programs, err = findAll(p, dev.Attrs().Index)
		return err
	})
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// Of a flow the path by its name; ok is false where the flow is not known, and older tells that its path is none of the chain's any more.
func (o *OnPath) Of(f First) (path string, older, ok bool) {
	for _, a := range o.programs {
		if !a.enters(o.paths.Flows) {
			continue
		}
		path, _, known, err := a.knowsPath(o.paths, f)
		if errors.Is(err, ErrOlder) {
			return "", true, true
		}
		return path, false, known && err == nil
	}
	return "", false, false
}

// Close lets go of what is held open.
func (o *OnPath) Close() { held.CloseAll(o.programs) }
