package steer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"

	api "nfchain.dev/nfchain/api/v1alpha1"
	program "nfchain.dev/nfchain/bpf/versions"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Where ports are turned that lead to replicas, or by which ways part or come together, flows stay by a program before the one
// that leads there. It leads those on older versions where that led before, and what is behind it knows the newest version alone, as
// ever. So while ports are turned one by one all flows are on an older version, and then one word has new ones go on by
// what is behind.

// VersionsName of this version's program that does so.
var VersionsName = held.Name(held.KeepMark, program.Object())

// keepsAhead tells whether a program is this version's that has flows stay before another.
func (a *attached) keepsAhead() bool {
	return (a.Name == VersionsName || a.Name == LeadsName) && a.sharesVersions() && a.Maps[waysMap] != nil && a.Maps[coursesMap] != nil && a.seated()
}

// ahead are the ports of a place where flows stay so. The caller closes what is at them.
func ahead(p resource.Place) ([]*attached, error) {
	all, err := portsBy(p, findKeeping, (*attached).keepsAhead)
	for _, a := range all {
		if err == nil && a.leads() {
			err = a.lookBeyond(p)
		}
	}
	return all, err
}

// holders are the programs at a place's ports of which something is so, with those by which flows stay: each may have a table that no other has.
func holders(p resource.Place, is func(*attached) bool) ([]*attached, error) {
	return portsBy(p, func(p resource.Place, index int) ([]*attached, error) {
		all, err := find(p, index)
		if err != nil {
			return all, err
		}
		kept, err := findKeeping(p, index)
		return append(all, kept...), err
	}, is)
}

// KeptAhead tells whether flows stay at ports by what stands before the programs there. Those know of what fails, and this does not.
func KeptAhead(p resource.Place) (is bool, err error) {
	err = p.Do(func() error {
		all, err := ahead(p)
		held.CloseAll(all)
		is = len(all) > 0
		return err
	})
	return is, err
}

// keepAhead has flows stay at the ports that are turned by changes, and those of nodes that come or go, by programs before those there; nil
// where none can, or that is not needed, which is so where none is turned: those that stay go on as they do. Who calls begin, when all have been
// turned, has new ones go the new way.
func (k Kind) keepAhead(p resource.Place, changes []resource.Change) (next *advancing, none bool, err error) {
	turned, may, err := k.mayAdvance(p, changes)
	if err != nil || !may || len(turned) == 0 {
		return nil, may && len(turned) == 0, err
	}
	next, err = k.prepare(p, turned)
	return next, false, err
}

// prepare the next version of the path: flows go by the one that there is, at all ports that are turned and those of nodes that come and go,
// whatever the programs behind are told from then on. Who calls begin has new ones go by those.
func (k Kind) prepare(p resource.Place, turned map[string]Spec) (a *advancing, err error) {
	a = &advancing{turn: k.Turn}
	defer func() {
		if err != nil {
			a.close()
			a = nil
		}
	}()
	for _, s := range turned {
		a.stay = *s.Stay
	}
	if err := a.find(p); err != nil {
		return a, err
	}
	return a, a.stand(p, turned)
}

// find the versions that there are. Where flows stay by the program that leads on from a port, they do so by one before that from then on.
func (a *advancing) find(p resource.Place) error {
	all, err := keepers(p)
	a.opened = append(a.opened, all...)
	if err == nil {
		err = a.among(all)
	}
	if err != nil {
		return err
	}
	for _, at := range all {
		if at.keeps() {
			if err := a.convert(p, at); err != nil {
				return failed(p, at.port, err)
			}
		}
	}
	return nil
}

// keepers are the programs at a place's ports by which flows stay. The caller closes them.
func keepers(p resource.Place) ([]*attached, error) {
	all, err := portsNamed(p, func(name string) bool { return name == StayName }, (*attached).keeps)
	if err != nil {
		return all, err
	}
	before, err := ahead(p)
	return append(all, before...), err
}

// stand before the programs of all ports that are concerned.
func (a *advancing) stand(p resource.Place, turned map[string]Spec) error {
	rest, err := portsThat(p, func(*attached) bool { return true })
	a.opened = append(a.opened, rest...)
	if err != nil {
		return err
	}
	before, err := ahead(p)
	a.opened, a.at = append(a.opened, before...), nil
	if err != nil {
		return err
	}
	for _, at := range rest {
		if strings.HasPrefix(at.port, Bygone) {
			if err := a.tellOut(before, at.port); err != nil {
				return failed(p, at.port, err)
			}
			continue
		}
		here := a.here(at.port)
		var old, led *attached
		for _, b := range before {
			switch {
			case b.port != at.port:
			case b.leads():
				led = b
			default:
				old = b
			}
		}
		aside, err := a.tellAside(led)
		if err != nil {
			return failed(p, at.port, err)
		}
		if _, turns := turned[at.port]; old == nil && (aside || !turns && here == 0) {
			continue
		}
		if err := a.standAt(p, at, old, here); err != nil {
			return failed(p, at.port, err)
		}
	}
	return nil
}

// tellOut where what comes out of a pair is of an older version, that none comes there of the next.
func (a *advancing) tellOut(before []*attached, port string) error {
	for _, b := range before {
		if b.port == port {
			return b.Maps[waysMap].Put(a.number, uint32(behind))
		}
	}
	return nil
}

// here is the version that all flows at a port are of; 0 for any.
func (a *advancing) here(port string) uint32 {
	switch {
	case a.turn.New[port]:
		return a.number
	case !a.turn.Wanted[port]:
		return a.newest()
	}
	return 0
}

// standAt a port, in the place of what stands there if something does.
func (a *advancing) standAt(p resource.Place, rest, old *attached, here uint32) error {
	made, t, err := a.loadAhead(VersionsName, rest, old, nil)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	versionsLaid, err := a.layAll(made, rest, old, t)
	if err != nil {
		return err
	}
	told := func() (err error) {
		for n, to := range versionsLaid {
			err = errors.Join(err, made.Ways.Put(n, to))
		}
		return errors.Join(err, made.Ways.Put(uint32(0), here), made.Ways.Put(a.number, uint32(behind)))
	}
	if old == nil {
		if err := told(); err != nil {
			return err
		}
	} else if was, err := old.wayOf(0); err != nil {
		return err
	} else if was != 0 && here == a.newest() {
		here = was // it went earlier
	}
	dev, err := p.Device(rest.port)
	if err != nil {
		return err
	}
	if err := keeping[rest.hook].put(p, dev.Attrs().Index, made.Stay, old.program()); err != nil || old == nil {
		return err
	}
	return told()
}

// layAll versions by which packets went on by the program behind, as that leads now, and tell what stands for each.
func (a *advancing) layAll(made *program.ProgramObjects, rest, old *attached, t seats) (map[uint32]uint32, error) {
	c, err := rest.course()
	if err != nil {
		return nil, err
	}
	at := func(port uint32) uint32 { return t.number(rest, port) }
	to, labels := at(c.to), a.turn.Labels[rest.port]
	if c.parts != nil {
		to = byCourses
	}
	laid := map[uint32]uint32{}
	for _, n := range a.lives {
		was := uint32(behind)
		if old != nil {
			if was, err = old.wayOf(n); err != nil {
				return nil, err
			}
		}
		switch {
		case was == byCourses:
			err = relabel(made.Courses, n, labels)
		case was == behind && c.parts != nil:
			err = errors.Join(lay(made.Courses, n, *c.parts, at), relabel(made.Courses, n, labels))
		}
		if err != nil {
			return nil, err
		}
		if was == behind {
			laid[n] = to
		}
	}
	return laid, nil
}

// loadAhead loads the program that stands before another, with what is known at the one that stands there if one does, and with the replicas and the
// ways of flows that a third knows. It counts with the one behind.
func (a *advancing) loadAhead(name string, rest, old, third *attached) (*program.ProgramObjects, seats, error) {
	spec, err := aheadObject()
	if err != nil {
		return nil, seats{}, err
	}
	spec.Programs["stay"].Name = name
	taken := counting(spec, rest)
	delete(taken, failingMap) // of each function at its seat
	a.share(spec, taken)
	for _, has := range []*attached{old, third, rest} {
		if has != nil && has.Maps[jointsMap] != nil {
			taken[jointsMap], spec.Maps[jointsMap].MaxEntries = has.Maps[jointsMap], has.Maps[jointsMap].MaxEntries()
		}
	}
	if old != nil {
		taken[waysMap], taken[coursesMap], taken[becameMap] = old.Maps[waysMap], old.Maps[coursesMap], old.Maps[becameMap]
	}
	t, made, err := sitAhead(spec, old, third, rest)
	defer made.close()
	if err != nil {
		return nil, t, err
	}
	maps.Copy(taken, t.maps())
	loaded := &program.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &ebpf.CollectionOptions{MapReplacements: taken}); err != nil {
		return nil, t, fmt.Errorf("load the program before another that has flows stay: %w", err)
	}
	t = seats{loaded.Tables, loaded.Replicas, loaded.Shares, loaded.Failing, loaded.Dealt, t.taken}
	return loaded, t, nil
}

// sitAhead gives functions seats that have some at other programs there, with the replicas of all and the shares and flows of the last of these, beside
// those that older versions lead to.
func sitAhead(spec *ebpf.CollectionSpec, old *attached, others ...*attached) (t seats, made seatMaps, err error) {
	names, many := map[string]bool{}, 0
	for _, a := range append(others, old) {
		if a != nil {
			for name := range a.taken {
				names[name] = true
			}
		}
	}
	if old != nil {
		for _, seat := range old.taken {
			many = max(many, int(seat)+1)
		}
	}
	if many = max(many, len(names)); old != nil && many <= int(old.Maps[tablesMap].MaxEntries()) {
		t = old.seats()
		makeRoom(spec, old.Maps[tablesMap].MaxEntries())
	} else {
		makeRoom(spec, roomFor(many))
		if made, err = makeSeats(spec); err != nil {
			return t, made, err
		}
		t = made.seats()
		if err := t.follow(old); err != nil {
			return t, made, err
		}
	}
	for _, a := range others {
		if a == nil {
			continue
		}
		for name, seat := range a.taken {
			if a.Maps[name] == nil {
				continue
			}
			if err := t.take(name, a.Maps[name], a.seats().at(seat)); err != nil {
				return t, made, err
			}
		}
	}
	return t, made, nil
}

// take a seat for a table of flows, or the one that it has, with what is done at another program's seat.
func (t seats) take(name string, flows *ebpf.Map, as dealing) error {
	at, err := t.sit(name)
	if err != nil {
		return err
	}
	return errors.Join(t.know(at, flows), t.at(at).follow(as))
}

// number of what stands in the place of a port at another program, at these seats.
func (t seats) number(rest *attached, port uint32) uint32 {
	seat, shared := seatOf(port)
	if !shared {
		return port
	}
	for name, at := range rest.taken {
		if at == seat {
			return Replicas - t.taken[name]
		}
	}
	return port
}

// convert a port at which flows stay by the program that leads on from there: they do so by one before a plain one from then on.
func (a *advancing) convert(p resource.Place, at *attached) error {
	if slices.ContainsFunc(a.opened, func(o *attached) bool { return o.between() && o.port == at.port }) {
		return at.unite(p) // who began that was killed amid it
	}
	made, _, err := a.loadAhead(VersionsName, at, nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	for n := range uint32(mostVersions + 1) {
		to, err := at.wayOf(n)
		if err == nil {
			err = made.Ways.Put(n, to)
		}
		if err != nil {
			return err
		}
	}
	dev, err := p.Device(at.port)
	if err != nil {
		return err
	}
	if err := keeping[at.hook].put(p, dev.Attrs().Index, made.Stay, nil); err != nil {
		return err
	}
	return at.unite(p)
}

// dealAhead has older versions lead to those replicas alone that specs want, whose others are to go.
func dealAhead(p resource.Place, changes []resource.Change) error {
	kept, err := ahead(p)
	defer held.CloseAll(kept)
	if err != nil || len(kept) == 0 {
		return err
	}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || c.Op != resource.Update {
			continue
		}
		for _, one := range s.Shared() {
			for _, a := range kept {
				if err := a.dealOnly(p, one); err != nil {
					return failed(p, a.port, err)
				}
			}
		}
	}
	return nil
}

func (a *attached) dealOnly(p resource.Place, one Among) error {
	seat, has := a.taken[table(one.Of)]
	if !has {
		return nil
	}
	d := a.seats().at(seat)
	known, err := d.indexes()
	if err != nil {
		return err
	}
	var replicas []Replica
	var at []uint32
	for _, r := range one.Replicas {
		if known[r.Number] != 0 { // on the side that this port leads to
			replicas, at = append(replicas, r), append(at, known[r.Number])
		}
	}
	if len(replicas) == 0 {
		return nil
	}
	return d.deal(replicas, at)
}

// unfinished tells that ports were prepared for a version by who did not come to begin it.
func (v *versions) unfinished() (bool, error) {
	for _, at := range v.at {
		if !at.front {
			continue
		}
		if to, err := at.wayOf(v.newest()); err != nil || to != behind {
			return true, err
		}
	}
	return false, nil
}

// soon is a census that nobody chose.
var soon = 250 * time.Millisecond

// whole has a version begin for which ports were prepared by who did not come to that.
func (v *versions) whole() error {
	left, err := v.unfinished()
	if err != nil || !left {
		return err
	}
	return v.finish()
}

// finish that.
func (v *versions) finish() error {
	a := &advancing{versions: *v}
	a.stay.Idle = api.Duration(a.now.Idle)
	a.stay.Census = min(a.stay.Idle, api.Duration(soon))
	if err := a.forgetIdle(); err != nil {
		return err
	}
	if err := a.choose(); err != nil {
		return err
	}
	for _, at := range a.at {
		to, err := uint32(behind), error(nil)
		if !at.front {
			to, err = at.newestWay()
		}
		if err == nil {
			err = at.Maps[waysMap].Put(a.number, to)
		}
		if err != nil {
			return err
		}
	}
	if err := a.begin(); err != nil {
		return err
	}
	v.now = a.now
	return nil
}
