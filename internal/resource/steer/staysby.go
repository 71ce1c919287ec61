package steer

import (
	"errors"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/bpf/stay"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Course is how packets of a flow go that stays on an older path.
type Course struct {
	// Ways are the ports that they go on to, of several replicas or ways all, by the port where they come in.
	Ways map[string][]string
	// Idle is how long the flow has to have no packet to go the newest path then.
	Idle time.Duration
}

// StaysBy tells how a flow goes that stays on an older path, or an older version of the only one; nil where it goes the newest. While flows
// are found out that there were before, those that nobody knows yet are taken for such.
func StaysBy(p resource.Place, f First) (c *Course, err error) {
	err = p.Do(func() error {
		o, v, err := olderOf(p)
		switch {
		case err != nil:
		case o != nil:
			defer held.CloseAll(o.at)
			c, err = o.staysBy(p, f)
		case v != nil:
			defer held.CloseAll(v.at)
			c, err = v.staysBy(p, f)
		}
		return err
	})
	return c, err
}

// staysBy an older path.
func (o *onPaths) staysBy(p resource.Place, f First) (*Course, error) {
	var m classify.ProgramMember
	if is, err := lookedUp(o.at[0].Maps[membersMap], f, &m); err != nil || !is {
		return nil, err
	}
	s, err := o.staying()
	if err != nil {
		return nil, err
	}
	now, err := monotonic()
	if w, is := o.older[int(m.Path)]; err != nil || !is || w.Check != m.Check || o.lost[int(m.Path)] || time.Duration(now-int64(m.Seen)) > s.Idle {
		return nil, err
	}
	return courseOf(p, s.Idle, func(port string) ([]uint32, error) {
		for i, a := range o.at {
			if w := o.ways[i][m.Path]; a.port == port && w.Port != 0 && w.Check == m.Check {
				return a.inPlace(w.Port)
			}
		}
		return nil, nil
	})
}

// staysBy an older version.
func (v *versions) staysBy(p resource.Place, f First) (*Course, error) {
	n, err := v.of(f)
	if err != nil || n == v.newest() {
		return nil, err
	}
	lost, err := v.lost(p)
	if err != nil || lost[n] {
		return nil, err
	}
	if leads, err := v.leads(n); err != nil || !leads {
		return nil, err
	}
	return courseOf(p, time.Duration(v.now.Idle), func(port string) (ports []uint32, err error) {
		for _, a := range v.at {
			if a.port != port {
				continue
			}
			ways, _, err := a.leadsOn(n)
			if some := slices.Concat(ways...); err != nil || len(some) > 0 {
				return some, err
			}
		}
		return nil, nil
	})
}

// of a flow the version, as programs take it (bpf/include/versions.h).
func (v *versions) of(f First) (uint32, error) {
	left, err := v.open()
	if err != nil {
		return 0, err
	}
	var s stay.ProgramStaying
	known, err := lookedUp(v.flows, f, &s)
	if err != nil {
		return 0, err
	}
	now, err := monotonic()
	switch before := uint32(v.now.Newest >> 32); {
	case known && now-int64(s.Seen) <= int64(v.now.Idle):
		return s.Version, err
	case left > 0 && before != 0:
		return before, err
	}
	return v.newest(), err
}

// lookedUp is a flow in a table of such; false where it has none.
func lookedUp(m *ebpf.Map, f First, value any) (bool, error) {
	err := m.Lookup(f.key(), value)
	if errors.Is(err, ebpf.ErrKeyNotExist) {
		return false, nil
	}
	return err == nil, err
}

// courseOf flows by what leads those that stay on from some ports, and by what leads others on from the rest.
func courseOf(p resource.Place, idle time.Duration, led func(port string) ([]uint32, error)) (*Course, error) {
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	c := &Course{Ways: map[string][]string{}, Idle: idle}
	for index, port := range mine {
		to, err := led(port)
		if err == nil && to == nil {
			to, err = goesOn(p, index)
		}
		if err != nil {
			return nil, failed(p, port, err)
		}
		for _, number := range to {
			addWay(c.Ways, port, called(p, int(number)))
		}
	}
	return c, nil
}

// goesOn from a port where nothing has flows stay.
func goesOn(p resource.Place, index int) (ports []uint32, err error) {
	behind, err := find(p, index)
	defer held.CloseAll(behind)
	if err != nil {
		return nil, err
	}
	for _, a := range behind {
		some, err := a.leadsNow()
		if err != nil {
			return nil, err
		}
		ports = append(ports, some...)
	}
	return ports, nil
}
