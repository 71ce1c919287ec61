package steer

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Unsteady are the owner's ports that may lead flows on older versions or paths elsewhere than others.
func Unsteady(p resource.Place) (ports map[string]bool, err error) {
	ports = map[string]bool{}
	err = p.Do(func() error {
		all, err := portsThat(p, func(a *attached) bool { return a.keeps() || a.leadsByPath() })
		defer held.CloseAll(all)
		if err != nil {
			return err
		}
		for _, a := range all {
			if older, err := a.mayLeadOlder(); err != nil {
				return failed(p, a.port, err)
			} else if older {
				ports[a.port] = true
			}
		}
		kept, err := portsBy(p, findKeeping, func(*attached) bool { return true })
		defer held.CloseAll(kept)
		for _, a := range kept {
			ports[a.port] = true
		}
		return err
	})
	return ports, err
}

// mayLeadOlder tells whether a port that knows versions or paths has one that no new flow is given.
func (a *attached) mayLeadOlder() (bool, error) {
	if a.keeps() {
		return true, nil
	}
	if all, err := a.leadsAll(); all != 0 || err != nil {
		return true, err // it knows paths for older ones alone
	}
	ways, err := a.allWays()
	for _, w := range ways {
		if w.Port != 0 && w.Older != 0 {
			return true, err
		}
	}
	return false, err
}
