package steer

import (
	"errors"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// OlderWays tells to which ports flows go that stay on older paths, where that is another than new flows go to: by the owner's
// port that they come in at.
func OlderWays(p resource.Place) (ways map[string][]string, err error) {
	ways = map[string][]string{}
	err = p.Do(func() error {
		o, v, err := olderOf(p)
		switch {
		case err != nil:
		case o != nil:
			defer held.CloseAll(o.at)
			err = o.olderWays(p, ways)
		case v != nil:
			defer held.CloseAll(v.at)
			err = v.olderWays(p, ways)
		}
		return err
	})
	return ways, err
}

func (v *versions) olderWays(p resource.Place, ways map[string][]string) error {
	busy, err := v.busy()
	if err != nil {
		return err
	}
	for _, at := range v.at {
		newest, err := at.newestPorts(p, v.newest())
		if err != nil {
			return err
		}
		for n := range busy {
			led, _, err := at.leadsOn(n)
			if err != nil {
				return err
			}
			for _, to := range slices.Concat(led...) {
				if !slices.Contains(newest, to) {
					addWay(ways, at.port, called(p, int(to)))
				}
			}
		}
	}
	return nil
}

// newestPorts are those to which new flows go from a port where others stay.
func (a *attached) newestPorts(p resource.Place, newest uint32) (ports []uint32, err error) {
	led, _, err := a.leadsOn(newest)
	if err != nil || !a.front || led != nil {
		return slices.Concat(led...), err
	}
	dev, err := p.Device(a.port)
	if err != nil {
		return nil, nil // it has gone
	}
	behind, err := find(p, dev.Attrs().Index)
	defer held.CloseAll(behind)
	for _, rest := range behind {
		some, wrong := rest.leadsNow()
		ports, err = append(ports, some...), errors.Join(err, wrong)
	}
	return ports, err
}

// leadsNow are the ports to which a program leads that knows one version of the path alone, or the newest of some.
func (a *attached) leadsNow() (ports []uint32, err error) {
	c := course{}
	if a.keeps() {
		c.to, err = a.newestWay()
	} else {
		c, err = a.course()
	}
	to := []uint32{c.to}
	if c.parts != nil {
		to = nil
		for _, w := range c.parts.ways {
			to = append(to, w.Port)
		}
	}
	for _, number := range to {
		some, wrong := a.inPlace(number)
		ports, err = append(ports, some...), errors.Join(err, wrong)
	}
	return ports, err
}

func (o *onPaths) olderWays(p resource.Place, ways map[string][]string) error {
	for i, at := range o.at {
		goes := map[uint32]bool{}
		for _, w := range o.ways[i] {
			goes[w.Port] = goes[w.Port] || w.Older == 0
		}
		for _, w := range o.ways[i] {
			if w.Older == 0 || goes[w.Port] {
				continue
			}
			ports, err := at.inPlace(w.Port)
			if err != nil {
				return err
			}
			for _, to := range ports {
				addWay(ways, at.port, called(p, int(to)))
			}
		}
	}
	return nil
}

// addWay from a port to another, once.
func addWay(ways map[string][]string, from, to string) {
	if !slices.Contains(ways[from], to) {
		ways[from] = append(ways[from], to)
		slices.Sort(ways[from])
	}
}
