package steer

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// older are paths that flows are on and are no longer given, by their numbers: what tells each from others of its number, and
// since when. Ports go on leading them where they did, until no flow is on them any more.
type older map[int]classify.ProgramWay

// allWays of a program, by the numbers of paths.
func (a *attached) allWays() ([]classify.ProgramWay, error) {
	return waysIn(a.Maps[waysMap])
}

// waysIn a table, by the numbers of paths.
func waysIn(m *ebpf.Map) ([]classify.ProgramWay, error) {
	ways := make([]classify.ProgramWay, MostPaths+1)
	if m.Flags()&unix.BPF_F_MMAPABLE == 0 { // another version's
		return ways, eachOf(m, func(n uint32, w classify.ProgramWay) { ways[n] = w })
	}
	err := held.InPlace(m, 0, len(ways)*waySize, func(memory []byte) error {
		for i := range ways {
			word := func(n int) uint32 { return binary.NativeEndian.Uint32(memory[i*waySize+4*n:]) }
			ways[i] = classify.ProgramWay{Port: word(0), Check: word(1), Older: word(2)}
		}
		return nil
	})
	return ways, err
}

// waySize is how far ways are apart in memory.
const waySize = 16

// leadsByPath tells whether a program is this version's and sends packets on by paths.
func (a *attached) leadsByPath() bool {
	return a.Name == PathsName && a.Maps[waysMap] != nil && a.Maps[membersMap] != nil
}

// leadsAll tells where a port sends all flows but those on older paths, to another or to what stands for replicas; 0 where it does not.
func (a *attached) leadsAll() (port uint32, err error) {
	if !a.leadsByPath() {
		return 0, nil
	}
	if number, to, err := a.unclassified(); number != 0 || err != nil {
		return to, err
	}
	if a.Maps[habitMap] == nil {
		return 0, nil
	}
	var h classify.ProgramHabit
	var w classify.ProgramWay
	if err := a.Maps[habitMap].Lookup(uint32(0), &h); err != nil || h.Usual != 0 {
		return 0, err
	}
	err = a.Maps[waysMap].Lookup(uint32(0), &w)
	return w.Port, err
}

// alike tells whether a port leads all flows one way but those on older paths, and in which entry they are led elsewhere meanwhile.
func (a *attached) alike() (at, check uint32, is bool, err error) {
	number, _, err := a.unclassified()
	if number != 0 || err != nil {
		return uint32(number), checkOf(unclassified), err == nil, err
	}
	to, err := a.leadsAll()
	return 0, 0, to != 0, err
}

// detourOfAll is where a port leads all flows meanwhile but those on older paths; 0 where that is no other than planned.
func (a *attached) detourOfAll() (uint32, error) {
	if a.Maps[detoursMap] == nil {
		return 0, nil
	}
	at, check, is, err := a.alike()
	if err != nil || !is {
		return 0, err
	}
	var to classify.ProgramWay
	if err := a.Maps[detoursMap].Lookup(at, &to); err != nil || to.Check != check {
		return 0, err
	}
	return to.Port, nil
}

// dealsAll is the table of the replicas to which a port that leads all flows one way deals them out, or may when it leads them past what fails;
// "" where there are none.
func (a *attached) dealsAll() (table string, err error) {
	if number, _, err := a.unclassified(); number == 0 || err != nil {
		return "", err
	}
	for name, seat := range a.taken {
		older, err := a.seats().at(seat).noted()
		if err != nil {
			return "", err
		}
		if !older {
			return name, nil
		}
	}
	return "", nil
}

// aging are the paths of a chain by which no flow goes any more that begins when ports are changed so. None, where all packets are
// to go the new ways at once, or ports cannot know of both.
func (k Kind) aging(p resource.Place, changes []resource.Change) (older, error) {
	if k.Turn == nil || k.Turn.AtOnce || len(changes) == 0 {
		return nil, nil
	}
	wanted, flows := map[int]bool{}, uint32(0)
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil || c.Op != resource.Update {
			return nil, nil
		}
		if front, _ := s.apart(); front != nil {
			return nil, nil // what is behind it has versions
		}
		if s.Paths == nil {
			continue
		}
		for _, w := range s.Paths.Ways {
			wanted[w.Number] = true
		}
		if s.Paths.Choice != nil {
			flows = s.Paths.Flows
		}
	}
	ports, err := portsThat(p, func(*attached) bool { return true })
	defer held.CloseAll(ports)
	if err != nil {
		return nil, err
	}
	var all []*attached
	for _, a := range ports {
		if led, err := a.diverts(); led || err != nil {
			return nil, err
		}
		if a.leadsByPath() && a.begins() {
			all = append(all, a)
		}
	}
	if len(all) == 0 || flows != 0 && !all[0].enters(flows) {
		return nil, nil
	}
	ends, err := taken(all, changes)
	if err != nil || ends && !mayTake(ports, changes) {
		return nil, err
	}
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	ways, err := all[0].allWays() // all paths lead on from where flows begin
	paths := older{}
	for n, w := range ways {
		if w.Port != 0 && (w.Older != 0 || flows != 0 || ends) && !wanted[n] {
			paths[n] = classify.ProgramWay{Check: w.Check, Older: cmp.Or(w.Older, uint32(time.Duration(now)/time.Second)+1)}
		}
	}
	return paths, err
}

// carry on where a port has led older paths, in the ways of a program that is to be there.
func (o older) carry(old *attached, ways *ebpf.Map) error {
	if len(o) == 0 || old == nil {
		return nil
	}
	var was []classify.ProgramWay
	var next uint32
	var err error
	switch {
	case old.leadsByPath():
		if was, err = old.allWays(); err == nil {
			next, err = old.leadsAll()
		}
	case old.leadsPlainly():
		next, err = old.next()
	}
	if err != nil {
		return err
	}
	for n, w := range o {
		w.Port = next // where all went
		if was != nil && was[n].Check == w.Check {
			w.Port = was[n].Port
		}
		if w.Port == 0 {
			continue // it does not come by here
		}
		if err := ways.Put(uint32(n), w); err != nil {
			return err
		}
	}
	return nil
}

// keepOlder leads all flows from a port to another but those on older paths.
func (k Kind) keepOlder(p resource.Place, s Spec, index int, to uint32, old *attached) error {
	all := classify.ProgramWay{Port: to}
	if old != nil && old.leadsByPath() && old.Maps[habitMap] != nil {
		ways := old.Maps[waysMap]
		return errors.Join(k.older.carry(old, ways), old.Maps[detoursMap].Put(uint32(0), classify.ProgramWay{}), ways.Put(uint32(0), all), old.Maps[habitMap].Put(uint32(0), classify.ProgramHabit{}))
	}
	var o struct {
		Program *ebpf.Program `ebpf:"between"`
		Ways    *ebpf.Map     `ebpf:"ways"`
		Seats   seatMaps
	}
	flows, err := flowsOnPaths(p)
	if err != nil {
		return err
	}
	if err := loadPaths(p, hooks[s.Hook], "between", flows, nil, before{old: old}, nil, &o); err != nil {
		return err
	}
	defer o.Seats.close()
	defer closeAll(o.Program, o.Ways)
	if err := errors.Join(o.Seats.seats().follow(old), k.older.carry(old, o.Ways), o.Ways.Put(uint32(0), all)); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, o.Program, old.program())
}

// flowsOnPaths is how many the ports of a chain know at once.
func flowsOnPaths(p resource.Place) (flows uint32, err error) {
	all, err := portsNamed(p, func(name string) bool { return name == PathsName }, (*attached).leadsByPath)
	defer held.CloseAll(all)
	for _, a := range all {
		flows = a.Maps[membersMap].MaxEntries()
	}
	return flows, err
}

// onPaths are a chain's ports by which flows go on older paths.
type onPaths struct {
	at []*attached
	// ways of each, and the older paths.
	ways  [][]classify.ProgramWay
	older older
	// lost are those that lead to ports which have gone.
	lost map[int]bool
}

// onPathsOf ports that lead by paths; nil where no flow can be on an older one. The caller closes what is at the ports.
func onPathsOf(p resource.Place, all []*attached) (o *onPaths, err error) {
	defer func() {
		if o == nil {
			held.CloseAll(all)
		}
	}()
	if len(all) == 0 {
		return nil, nil
	}
	links, err := p.Links()
	if err != nil {
		return nil, err
	}
	there := map[uint32]bool{}
	for _, l := range links {
		there[number(l)] = true
	}
	found, any := &onPaths{older: older{}, lost: map[int]bool{}}, false
	for _, a := range all {
		to, err := a.leadsAll()
		if err != nil {
			return nil, err
		}
		ways, err := a.allWays()
		if err != nil {
			return nil, err
		}
		is := to != 0
		for n, w := range ways {
			if w.Older != 0 {
				is, found.older[n] = true, w
				ports, err := a.inPlace(w.Port)
				if err != nil {
					return nil, err
				}
				found.lost[n] = found.lost[n] || !slices.ContainsFunc(ports, func(to uint32) bool { return there[to] })
			}
		}
		any = any || is
		found.at, found.ways = append(found.at, a), append(found.ways, ways)
	}
	if !any {
		return nil, nil
	}
	return found, nil
}

// begins tells whether flows are given paths by a program.
func (a *attached) begins() bool { return a.Maps[currentMap] != nil }

// staying are the flows on older paths.
func (o *onPaths) staying() (*Staying, error) {
	s := &Staying{Ports: len(o.at), Since: time.Now()}
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	latest := uint32(0)
	for _, w := range o.older {
		latest = max(latest, w.Older)
	}
	if latest > 0 {
		s.Since = s.Since.Add(time.Duration(latest-1)*time.Second - time.Duration(now))
	}
	for _, a := range o.at {
		if !a.begins() {
			continue
		}
		_, h, err := a.counting()
		if err != nil {
			return nil, err
		}
		s.Idle = time.Duration(h.Idle)
	}
	err = eachMember(o.at[0].Maps[membersMap], func(_ classify.ProgramFlow, m classify.ProgramMember, since time.Duration) {
		w, is := o.older[int(m.Path)]
		if !is || w.Check != m.Check {
			return
		}
		if s.Kept++; !o.lost[int(m.Path)] && since <= s.Idle {
			s.Flows++
		}
	})
	return s, err
}

// forget older paths: all, or those that are lost. Their flows are given others at their next packet. Where flows begin forgets first: others
// would end what is led on by such a path from there meanwhile.
func (o *onPaths) forget(which func(n int) bool) error {
	some, err := o.forgetAt(true, which)
	if err != nil {
		return err
	}
	if some {
		held.ReadersEnded() // nothing is led on by such a path from there any more
	}
	_, err = o.forgetAt(false, which)
	return err
}

// forgetAt ports where flows begin, or at the others.
func (o *onPaths) forgetAt(begin bool, which func(n int) bool) (some bool, err error) {
	for i, a := range o.at {
		for n, w := range o.ways[i] {
			if w.Older != 0 && which(n) && a.begins() == begin {
				some = true
				err = errors.Join(err, a.Maps[waysMap].Put(uint32(n), classify.ProgramWay{}))
			}
		}
	}
	return some, err
}

// forgetOlder paths that are chosen by the ports which they lead to, and those that are lost. It tells how many flows were on them.
func (o *onPaths) forgetOlder(which func(leads []uint32) bool) (flows int, err error) {
	chosen := map[int]bool{}
	for n := range o.older {
		var leads []uint32
		for i, ways := range o.ways {
			if ways[n].Older == 0 {
				continue
			}
			ports, err := o.at[i].inPlace(ways[n].Port)
			if err != nil {
				return 0, err
			}
			leads = append(leads, ports...)
		}
		chosen[n] = o.lost[n] || which(leads)
	}
	before, err := o.staying()
	if err != nil {
		return 0, err
	}
	if err := o.forget(func(n int) bool { return chosen[n] }); err != nil {
		return 0, err
	}
	for n := range chosen {
		if chosen[n] {
			delete(o.older, n)
		}
	}
	after, err := o.staying()
	if err != nil {
		return 0, err
	}
	return before.Flows - after.Flows, nil
}

// unite all flows on the paths that they are given now.
func (o *onPaths) unite(p resource.Place) error {
	if err := o.forget(func(int) bool { return true }); err != nil {
		return err
	}
	for _, a := range o.at {
		to, err := a.leadsAll()
		switch {
		case err != nil:
		case to != 0:
			err = a.plainly(p, to)
		default:
			err = a.leaveOlder()
		}
		if err != nil {
			return failed(p, a.port, err)
		}
	}
	return nil
}

// plainly sends all packets from a port to another from then on, or to replicas.
func (a *attached) plainly(p resource.Place, to uint32) error {
	dev, err := p.Device(a.port)
	if err != nil {
		return nil // it has gone
	}
	instead, err := a.detourOfAll()
	if err != nil {
		return err
	}
	table, err := a.dealsAll()
	if err != nil {
		return err
	}
	if table != "" {
		return a.dealPlainly(p, dev.Attrs().Index, table, to, instead)
	}
	loaded, err := load(to, a, instead)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	return hooks[a.hook].put(p, dev.Attrs().Index, loaded.Steer, a.program())
}

// dealPlainly is it where there are replicas.
func (a *attached) dealPlainly(p resource.Place, index int, table string, to, instead uint32) error {
	loaded, err := loadSpread(p, table, a.Maps[table].MaxEntries(), a)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	alone := func(number uint32) uint32 {
		if _, shared := seatOf(number); shared {
			return Replicas
		}
		return number
	}
	d := dealing{loaded.Next, loaded.Replicas, loaded.Shares, loaded.Failing, loaded.Dealt, 0}
	if err := errors.Join(d.followPath(a, table), d.next.Put(uint32(0), alone(to)), loaded.Instead.Put(uint32(0), alone(instead))); err != nil {
		return err
	}
	return hooks[a.hook].put(p, index, loaded.Spread, a.program())
}
