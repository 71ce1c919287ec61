package steer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/stay"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Stay has flows stay on the version of the path that they began on when ports are turned. A port has
// a program for that only from then on, and until no flow goes by an older version any more: at
// rest it is the plain one.
type Stay struct {
	// Flows that are kept at once.
	Flows uint32 `json:"flows"`
	// Idle is a flow that had no packet for so long: it goes the newest path.
	Idle api.Duration `json:"idle"`
	// Census is how long after a change flows that come are taken for those from before.
	Census api.Duration `json:"census"`
	// Asked tells that the file says so: what it cannot be beside is refused then.
	Asked bool `json:"asked,omitempty"`
}

// StayName of this version's program that knows versions of the path.
var StayName = held.Name(Mark, stay.Object())

// mostVersions of a path that there can be at once.
const mostVersions = 64

// versions of a chain's path.
type versions struct {
	shared, flows, entered *ebpf.Map
	at                     []*attached
	now                    stay.ProgramVersions
}

func (v *versions) newest() uint32 { return uint32(v.now.Newest) }

// open is what is left of the census.
func (v *versions) open() (time.Duration, error) {
	now, err := monotonic()
	if left := int64(v.now.Until) - now; left > 0 {
		return time.Duration(left) + step, err
	}
	return 0, err
}

// step is the longest one of the clock that programs read.
const step = 10 * time.Millisecond

// keeps tells whether a program is this version's that has flows stay.
func (a *attached) keeps() bool {
	return a.Name == StayName && a.sharesVersions() && a.Maps[waysMap] != nil
}

// olderOf the owner's ports: the paths that flows may be on, or else the versions that they may have; neither where none
// stays. The caller closes what is at the ports.
func olderOf(p resource.Place) (o *onPaths, v *versions, err error) {
	all, err := portsNamed(p, func(name string) bool { return name == PathsName || name == StayName },
		func(a *attached) bool { return a.leadsByPath() || a.keeps() })
	if err != nil {
		held.CloseAll(all)
		return nil, nil, err
	}
	var byPath, keeping []*attached
	for _, a := range all {
		if a.keeps() {
			keeping = append(keeping, a)
		} else {
			byPath = append(byPath, a)
		}
	}
	if o, err = onPathsOf(p, byPath); err != nil || o != nil {
		held.CloseAll(keeping)
		return o, nil, err
	}
	before, err := ahead(p)
	if keeping = append(keeping, before...); err != nil {
		held.CloseAll(keeping)
		return nil, nil, err
	}
	v, err = versionsOf(keeping)
	return nil, v, err
}

// MayStay tells whether flows may be on older paths, or have older versions, at one of the owner's ports. It is quick, as to
// read those is not.
func MayStay(p resource.Place) (may bool, err error) {
	err = p.Do(func() error {
		all, err := portsNamed(p, func(name string) bool { return name == PathsName || name == StayName }, func(*attached) bool { return true })
		held.CloseAll(all)
		if may = len(all) > 0; may || err != nil {
			return err
		}
		all, err = portsBy(p, findKeeping, func(*attached) bool { return true })
		held.CloseAll(all)
		may = len(all) > 0
		return err
	})
	return may, err
}

// versionsOf ports at which flows stay; nil where there are none. The caller closes what is at the ports.
func versionsOf(at []*attached) (*versions, error) {
	if len(at) == 0 {
		return nil, nil
	}
	v := &versions{at: at}
	v.know(at[0])
	if err := v.shared.Lookup(uint32(0), &v.now); err != nil {
		held.CloseAll(at)
		return nil, err
	}
	return v, nil
}

// newestWay from a port whose flows stay.
func (a *attached) newestWay() (to uint32, err error) {
	var now stay.ProgramVersions
	if err := a.Maps[versionsMap].Lookup(uint32(0), &now); err != nil {
		return 0, err
	}
	err = a.Maps[waysMap].Lookup(uint32(now.Newest), &to)
	return to, err
}

// forgetIdle versions, by which no flow goes any more.
func (v *versions) forgetIdle() error {
	busy, err := v.busy()
	if err != nil {
		return err
	}
	for n := uint32(1); n <= mostVersions; n++ {
		if n == v.newest() || busy[n] > 0 {
			continue
		}
		if err := v.forget(n); err != nil {
			return err
		}
	}
	return nil
}

// lost are versions that lead, at some port, to one that has gone: a flow would stay on such a one for nothing.
func (v *versions) lost(p resource.Place) (map[uint32]bool, error) {
	there, err := numbers(p)
	if err != nil {
		return nil, err
	}
	all := map[uint32]bool{}
	for _, at := range v.at {
		for n := uint32(1); n <= mostVersions; n++ {
			ways, _, err := at.leadsOn(n)
			if err != nil {
				return nil, err
			}
			gone := func(ports []uint32) bool {
				return !slices.ContainsFunc(ports, func(to uint32) bool { return there[to] })
			}
			all[n] = all[n] || slices.ContainsFunc(ways, gone)
		}
	}
	return all, nil
}

// forgetLost versions but the newest, so that their flows go that.
func (v *versions) forgetLost(p resource.Place) error {
	lost, err := v.lost(p)
	if err != nil {
		return err
	}
	for n, is := range lost {
		if is && n != v.newest() {
			if err := v.forget(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget where a version leads.
func (v *versions) forget(n uint32) error {
	for _, at := range v.at {
		if err := at.Maps[waysMap].Put(n, uint32(0)); err != nil {
			return err
		}
	}
	return nil
}

// ForgetLost versions of the path that lead to ports which have gone: their flows go the newest from then on. It tells
// whether any flow may go by an older version at all.
func ForgetLost(p resource.Place) (older bool, err error) {
	err = p.Do(func() error {
		older, err = forgetLost(p)
		return err
	})
	return older, err
}

func forgetLost(p resource.Place) (older bool, err error) {
	o, v, err := olderOf(p)
	switch {
	case err != nil:
		return false, err
	case o != nil:
		defer held.CloseAll(o.at)
		return true, o.forget(func(n int) bool { return o.lost[n] })
	case v != nil:
		defer held.CloseAll(v.at)
		if err := v.whole(); err != nil {
			return true, err
		}
		return true, v.forgetLost(p)
	}
	return false, nil
}

// ForgetOlder versions of the path: all flows go the newest from then on. It tells how many others stayed.
func ForgetOlder(p resource.Place) (flows int, err error) {
	return forgetting(p, func([]uint32) bool { return true })
}

// ForgetBy forgets older versions that lead to one of these ports, by their numbers, or to one that has gone. It
// tells how many flows stayed on them.
func ForgetBy(p resource.Place, ports ...uint32) (flows int, err error) {
	return forgetting(p, func(leads []uint32) bool {
		return slices.ContainsFunc(leads, func(to uint32) bool { return slices.Contains(ports, to) })
	})
}

// forgetting older versions that are chosen by the ports which they lead to, and those that lead to one that has gone.
func forgetting(p resource.Place, which func(leads []uint32) bool) (flows int, err error) {
	err = p.Do(func() error {
		o, v, err := olderOf(p)
		switch {
		case err != nil:
		case o != nil:
			defer held.CloseAll(o.at)
			flows, err = o.forgetOlder(which)
		case v != nil:
			defer held.CloseAll(v.at)
			// Who turns ports holds who watches. Where it was stopped amid that, the newest version is still that from before, by
			// which no packet is led past what fails.
			if err = v.whole(); err == nil {
				flows, err = v.forgetOlder(p, which)
			}
		}
		return err
	})
	return flows, err
}

// forgetOlder versions, which are those of flows, and that of flows from before.
func (v *versions) forgetOlder(p resource.Place, which func(leads []uint32) bool) (flows int, err error) {
	older, err := v.busy()
	if err != nil {
		return 0, err
	}
	lost, err := v.lost(p)
	if err != nil {
		return 0, err
	}
	if err := v.shared.Lookup(uint32(0), &v.now); err != nil {
		return 0, err
	}
	older[uint32(v.now.Newest>>32)] += 0
	for n, those := range older {
		if n == v.newest() || n == 0 {
			continue
		}
		leads, at, err := v.leadsTo(n)
		if err != nil {
			return flows, err
		}
		if at == 0 || !lost[n] && !which(leads) {
			continue
		}
		if err := v.forget(n); err != nil {
			return flows, err
		}
		flows += those
	}
	return flows, nil
}

// leadsTo are the ports that a version leads to, and from how many it leads on.
func (v *versions) leadsTo(n uint32) (ports []uint32, from int, err error) {
	for _, at := range v.at {
		ways, leads, err := at.leadsOn(n)
		if err != nil {
			return nil, 0, err
		}
		if leads {
			ports, from = slices.Concat(ports, slices.Concat(ways...)), from+1
		}
	}
	return ports, from, nil
}

// leads tells whether a version that has begun leads on from all ports. Who was killed while it was forgotten left
// ports that do not know where.
func (v *versions) leads(n uint32) (bool, error) {
	_, from, err := v.leadsTo(n)
	return from == len(v.at), err
}

// busy flows of each version, which are not idle. Others are taken out of the table.
func (v *versions) busy() (map[uint32]int, error) {
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	all, idle := map[uint32]int{}, []stay.ProgramFlow{}
	err = eachOf(v.flows, func(f stay.ProgramFlow, s stay.ProgramStaying) {
		if now-int64(s.Seen) <= int64(v.now.Idle) {
			all[s.Version]++
		} else {
			idle = append(idle, f)
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range idle {
		if err := v.flows.Delete(idle[i]); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil, err
		}
	}
	return all, nil
}

// Staying tells of flows that go by older versions of a chain's path.
type Staying struct {
	// Flows that are not idle and whose version still leads anywhere, and the time without a packet after
	// which one is idle.
	Flows int
	Idle  time.Duration
	// Census is what is left of the time in which flows are found out that there were before.
	Census time.Duration
	// Since is when the newest version began.
	Since time.Time
	// Ports by which they go.
	Ports int
	// Kept flows were found, Moved ones had their version taken away, and Displaced ones gave others their place, as they were not
	// seen for longest, though they were not idle; packets that are Unkept were of flows for which there was no room.
	Kept, Moved, Displaced, Unkept uint64
}

// StayingOn reads what the owner's ports know of flows on older versions; nil where all packets go
// the newest.
func StayingOn(p resource.Place) (s *Staying, err error) {
	err = p.Do(func() error {
		s, err = stayingOn(p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which flows stay on their path, in namespace %q: %w", p.Ref, err)
	}
	return s, nil
}

func stayingOn(p resource.Place) (*Staying, error) {
	o, v, err := olderOf(p)
	switch {
	case err != nil:
		return nil, err
	case o != nil:
		defer held.CloseAll(o.at)
		return o.staying()
	case v != nil:
		defer held.CloseAll(v.at)
		return v.staying(p)
	}
	return nil, nil
}

func (v *versions) staying(p resource.Place) (*Staying, error) {
	left, err := v.open()
	if err != nil {
		return nil, err
	}
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	s := &Staying{Idle: time.Duration(v.now.Idle), Census: max(left, 0), Since: time.Now().Add(time.Duration(int64(v.now.Since) - now)), Ports: len(v.at)}
	busy, err := v.busy()
	if err != nil {
		return nil, err
	}
	lost, err := v.lost(p)
	if err != nil {
		return nil, err
	}
	for n, flows := range busy {
		leads, err := v.leads(n)
		if err != nil {
			return nil, err
		}
		if n != v.newest() && leads && !lost[n] {
			s.Flows += flows
		}
	}
	for _, at := range v.at {
		if err := s.count(at.Maps[becameMap]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// count what became of flows at one port.
func (s *Staying) count(m *ebpf.Map) error {
	var each []stay.ProgramBecame
	if err := m.Lookup(uint32(0), &each); err != nil {
		return err
	}
	for _, cpu := range each {
		s.Kept, s.Moved, s.Displaced, s.Unkept = s.Kept+cpu.Kept, s.Moved+cpu.Moved, s.Displaced+cpu.Displaced, s.Unkept+cpu.Unkept
	}
	return nil
}

// Unite has all packets go the newest version of the path, by plain programs.
func Unite(p resource.Place) error {
	return p.Do(func() error { return unite(p) })
}

// unite first moves all flows, which is seen at all ports at once: while some have a plain program and others do not,
// none may go one version here and another there.
func unite(p resource.Place) error {
	o, v, err := olderOf(p)
	switch {
	case err != nil:
		return err
	case o != nil:
		defer held.CloseAll(o.at)
		return o.unite(p)
	case v == nil:
		return nil
	}
	defer held.CloseAll(v.at)
	if err := v.whole(); err != nil {
		return err
	}
	if _, err := v.forgetOlder(p, func([]uint32) bool { return true }); err != nil {
		return err
	}
	for _, a := range v.at {
		if err := a.unite(p); err != nil {
			return failed(p, a.port, err)
		}
	}
	return nil
}

func (a *attached) unite(p resource.Place) error {
	if a.front {
		dev, err := p.Device(a.port)
		if err != nil {
			return nil // it has gone
		}
		return a.at().take(p, dev.Attrs().Index, a.Program.Program)
	}
	to, err := a.newestWay()
	if err != nil {
		return err
	}
	return a.plainly(p, to)
}
