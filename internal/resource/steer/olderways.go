package steer

import (
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
		newest, err := at.newestWay()
		if err != nil {
			return err
		}
		for n := range busy {
			var to uint32
			if err := at.Maps[waysMap].Lookup(n, &to); err != nil {
				return err
			}
			if to != 0 && to != newest {
				addWay(ways, at.port, called(p, int(to)))
			}
		}
	}
	return nil
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
