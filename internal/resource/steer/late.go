package steer

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// late are ports between functions before whose programs nothing is to stand any more. What does leads paths until ends give
// others: without it their packets would go on as planned, past functions that they are to come to.
type late struct {
	// ends tells that flows are given paths by other rules than before.
	ends  bool
	ports []string
}

// keeps tells whether a superfluous program at a port is taken later.
func (l *late) keeps(s Spec, a *attached) bool {
	if !l.ends || !a.front || a.hook != s.Hook || a.Maps[habitMap] == nil || s.Paths != nil {
		return false
	}
	l.ports = append(l.ports, s.Device)
	return true
}

// take what stands before others at these ports.
func (l *late) take(p resource.Place) error {
	for _, port := range l.ports {
		if err := takeFronts(p, port); err != nil {
			return failed(p, port, err)
		}
	}
	return nil
}

func takeFronts(p resource.Place, port string) error {
	dev, err := p.Device(port)
	if err != nil {
		return err
	}
	all, err := findFronts(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	for _, a := range all {
		if err == nil {
			err = a.at().take(p, dev.Attrs().Index, a.Program.Program)
		}
	}
	return err
}
